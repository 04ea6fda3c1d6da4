"""Sets of questions with known answers, as folders: ``corpus/``, ``queries.jsonl`` and ``qrels.tsv``.

Invariant: each query is in one half, ``dev`` (to tune on) or ``test`` (to report); the half depends on its text alone
where the file does not say it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

Half = Literal["dev", "test"]
HALVES: Final[tuple[Half, ...]] = ("dev", "test")


class Question(NamedTuple):
    """``wanted`` maps the paths that answer it, relative to the corpus, to grades of 1 and more."""

    text: str
    half: Half
    wanted: Mapping[str, int]


class QuestionSet(NamedTuple):
    name: str
    corpus: Path
    questions: Sequence[Question]

    def half(self, half: Half) -> list[Question]:
        return [question for question in self.questions if question.half == half]


def half_of(text: str) -> Half:
    return HALVES[hashlib.blake2b(text.encode(), digest_size=1).digest()[0] & 1]


def read(folder: Path) -> QuestionSet:
    """A set from its folder. A query is ``{_id, text, split?}``, a line of the qrels query, path and grade."""
    wanted: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        query, path, grade = line.split("\t")
        if grade.isdigit():  # not the headings that some tools write
            wanted.setdefault(query, {})[path] = int(grade)
    questions = []
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        query = json.loads(line)
        if query["_id"] in wanted:
            half = cast("Half", query.get("split") or half_of(query["text"]))
            questions.append(Question(query["text"], half, wanted[query["_id"]]))
    return QuestionSet(folder.name, folder / "corpus", questions)


def write(folder: Path, questions: Sequence[Question]) -> QuestionSet:
    """Write what `read` reads next to the corpus in ``folder``."""
    with (folder / "queries.jsonl").open("w", encoding="utf-8") as queries, (folder / "qrels.tsv").open("w") as qrels:
        for number, question in enumerate(questions):
            queries.write(json.dumps({"_id": f"q{number}", "text": question.text, "split": question.half}) + "\n")
            qrels.writelines(f"q{number}\t{path}\t{grade}\n" for path, grade in question.wanted.items())
    return read(folder)
