"""A set of questions made of a git repository's history: the subject of a commit finds the files that it changed.

Invariant: the corpus is the state before all commits that are asked for, so no file has what a question asks for.
"""

from __future__ import annotations

import re
import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Final

from bench.quality.sets import Question, QuestionSet, half_of, write
from livedex_indexing.rank.auxiliary import is_auxiliary, is_news

LATER: Final = 700  # commits after the snapshot, at most a third of all
_MOST_FILES: Final = 8  # of a commit: one that changes more is about no file in particular
_LEAST_WORDS: Final = 3
_NUMBER: Final = re.compile(r"\s*\(?#\d+\)?")  # of a pull request
_CHORE: Final = re.compile(
    r"\b(?:bump|release|merge|revert|changelog|version|dependabot|typos?|dependenc(?:y|ies)|plugin)\b", re.IGNORECASE
)
_PROSE: Final = re.compile(r"\.(?:md|rst|txt|adoc)$")
_SOURCE, _OTHER = 2, 1  # grades
_SUBJECT: Final = "\x1e"


def commits(repository: Path, folder: Path) -> QuestionSet:
    """Make the set of a repository's history in ``folder``. Tests and documents of a commit have a lower grade."""
    every = _git(repository, "rev-list", "--first-parent", "HEAD").decode().split()
    snapshot = every[min(LATER, len(every) // 3)]
    with tarfile.open(fileobj=BytesIO(_git(repository, "archive", snapshot))) as archive:
        archive.extractall(folder / "corpus", filter="data")
    files = set(_git(repository, "ls-tree", "-r", "--name-only", snapshot).decode().splitlines())
    questions: dict[str, Question] = {}
    for subject, changed in _changes(repository, snapshot):
        wanted = {path: _grade(path) for path in changed if path in files and not is_news(path.encode())}
        asked = _NUMBER.sub("", subject).strip()
        if wanted and len(changed) <= _MOST_FILES and len(asked.split()) >= _LEAST_WORDS and not _CHORE.search(asked):
            questions[asked] = Question(asked, half_of(asked), wanted)
    return write(folder, list(questions.values()))


def _changes(repository: Path, snapshot: str) -> Iterator[tuple[str, list[str]]]:
    """The subject of each later commit, and the files that it changed."""
    log = _git(repository, "log", "--no-merges", "--name-only", f"--format={_SUBJECT}%s", f"{snapshot}..HEAD")
    for entry in log.decode("utf-8", "replace").split(_SUBJECT)[1:]:
        subject, *changed = [line for line in entry.splitlines() if line]
        yield subject, changed


def _grade(path: str) -> int:
    folder, _, name = path.rpartition("/")
    return _OTHER if _PROSE.search(name) or is_auxiliary(folder.encode(), name.encode()) else _SOURCE


def _git(repository: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(repository), *arguments], check=True, capture_output=True).stdout
