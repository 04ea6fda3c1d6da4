"""`python -m bench.quality`: how well livedex answers questions with known answers, compared with plainer engines.

Without `--set` the sets are made of what this Python brings. Weights are to be tuned on the half `dev`; what is
reported is `test`. At the end follows one Markdown table: a column for each set or kind of navigation, and with
`--parts` a row for each weight, with what its part gives there.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import sub
from pathlib import Path
from typing import cast, get_args

from bench.quality import made, navigation, sets
from bench.quality.measures import DEEP, interval, judge
from bench.quality.mistakes import misspelt
from bench.quality.peers import DEFINITIONS_FIRST, peers
from bench.quality.product import engine
from bench.quality.semantic import semantics
from livedex_indexing.query import spell_repair
from livedex_indexing.rank import score
from livedex_indexing.search.meaning import Fusion

WHOLE = "livedex"
WITHOUT = "… without "

Table = dict[str, dict[str, float]]  # means by set or kind, and by engine or part

SEED = 3  # of the questions that are asked where there are more than enough


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.quality", description=__doc__)
    parser.add_argument("--set", type=Path, nargs="+", help="folders with corpus/, queries.jsonl and qrels.tsv")
    parser.add_argument("--half", choices=sets.HALVES, default="test", help="(default: %(default)s)")
    parser.add_argument("--most", type=int, default=400, help="questions of each half (default: %(default)s)")
    parser.add_argument("--parts", action="store_true", help="also without each part of the score")
    parser.add_argument("--misspelt", action="store_true", help="also with one spelling mistake in each question")
    parser.add_argument("--semantic", action="store_true", help="also with the static embedder (livedex[semantic])")
    parser.add_argument("--no-peers", action="store_true", help="livedex alone")
    parser.add_argument(
        "--navigation",
        type=Path,
        nargs="*",
        metavar="FOLDER",
        help="also, or without --set instead: names, pieces of names, files, messages, pasted lines and titles of "
        "folders (default: the standard library)",
    )
    return parser.parse_args()


def main() -> int:
    options = arguments()
    table: Table = {}
    with tempfile.TemporaryDirectory(prefix="livedex-quality-") as folder:
        if options.set or options.navigation is None:
            print(f"{'':<28} {'nDCG@10':<22} {'MRR@10':<22} {'Recall@100':<22} livedex ahead by (nDCG, paired)")
            for one in chosen(options, Path(folder)):
                table[one.name] = report(one, options, Path(folder) / f"{one.name}.db")
        if options.navigation is not None:
            folders = options.navigation or [Path(sysconfig.get_path("stdlib"))]
            table |= navigate(folders, options, Path(folder))
    show(table)
    return 0


def navigate(folders: Sequence[Path], options: argparse.Namespace, temporary: Path) -> Table:
    """Answer the questions of every kind; return the MRR of each kind, also without each part."""
    table: Table = {}

    def answer(row: str) -> list[navigation.Result]:
        results: list[navigation.Result] = []
        for number, folder in enumerate(folders):
            with engine(folder, temporary / f"navigation-{number}.db") as livedex:
                results += [navigation.answer(one, livedex) for one in questions[folder]]
        for kind in dict.fromkeys(result.kind for result in results):
            those = [result.shares[1] for result in results if result.kind == kind]
            table.setdefault(kind, {})[row] = statistics.fmean(those)
        return results

    questions = {folder: _asked(folder, options) for folder in folders}
    print(f"{'':<22} {'n':>5} {'S@1':<20} {'MRR@10':<20} {'lines':<20} {'shown':<20} {'ms':>6}")
    results = answer(WHOLE)
    for kind in table:
        those = [result for result in results if result.kind == kind]
        shares = " ".join(f"{interval(values)!s:<20}" for values in zip(*(one.shares for one in those), strict=True))
        print(f"{kind:<22} {len(those):>5} {shares} {statistics.median(one.ms for one in those):>6.1f}", flush=True)
    if not options.no_peers:
        of_peers(questions, results)
    for part in score.WEIGHTS if options.parts else ():
        with without(part):
            answer(part)
    return table


def _asked(folder: Path, options: argparse.Namespace) -> list[navigation.Navigation]:
    """The questions of a folder: of each kind as many as are wanted."""
    taken: Counter[str] = Counter()
    asked = []
    for one in navigation.questions(folder):
        if one.half == options.half and taken[one.kind] < options.most:
            taken[one.kind] += 1
            asked.append(one)
    return asked


def of_peers(questions: Mapping[Path, Sequence[navigation.Navigation]], ours: Sequence[navigation.Result]) -> None:
    """Print the MRR@10 of each kind with its interval, of livedex and of each peer: files alone, whatever the lines."""
    found: dict[str, list[navigation.Result]] = {WHOLE: list(ours)}
    for folder, asked in questions.items():
        for name, search in peers(folder).items():
            if name != "ripgrep":  # what it finds by words is part of the other
                found.setdefault(name, []).extend(navigation.answer_with_files(one, search) for one in asked)
    columns = [WHOLE, DEFINITIONS_FIRST, *(name for name in found if name not in (WHOLE, DEFINITIONS_FIRST))]
    columns = [name for name in columns if name in found]
    print(f"\n| MRR@10 | {' | '.join(columns)} |\n|{' --- |' * (1 + len(columns))}")
    for kind in dict.fromkeys(result.kind for result in ours):
        those = ([one.shares[1] for one in found[name] if one.kind == kind] for name in columns)
        print(f"| {kind} |", " | ".join(str(interval(values)) for values in those), "|", flush=True)


def show(table: Table) -> None:
    """Print the mean nDCG@10 of each set and the MRR@10 of each kind of navigation, and what each part gives."""
    rows = dict.fromkeys(row for column in table.values() for row in column)
    print(f"\n| | {' | '.join(table)} |\n|{' --- |' * (1 + len(table))}")
    for row in rows:
        given = row in score.WEIGHTS
        cells = [
            "" if row not in column else f"{column[WHOLE] - column[row]:+.3f}" if given else f"{column[row]:.3f}"
            for column in table.values()
        ]
        name = f"{row} {score.WEIGHTS[row]}" if given else row
        print(f"| {name} |", " | ".join(cells), "|")


def chosen(options: argparse.Namespace, folder: Path) -> list[sets.QuestionSet]:
    if options.set:
        return [sets.read(path) for path in options.set]
    return [made.functions(folder / "functions"), made.manual(folder / "manual")]


def report(one: sets.QuestionSet, options: argparse.Namespace, database: Path) -> dict[str, float]:
    """Answer a set's questions; return the mean nDCG@10 of each engine, and of livedex without each part."""
    means: dict[str, float] = {}
    questions = one.half(options.half)
    questions = random.Random(SEED).sample(questions, min(options.most, len(questions)))
    print(f"{one.name}, {options.half}: {len(questions)} questions")

    def line(name: str, search: Callable[[str, int], list[str]], ours: Sequence[float] = ()) -> Sequence[float]:
        scores = judge([search(question.text, DEEP) for question in questions], [q.wanted for q in questions])
        ahead = [interval(list(map(sub, ours, scores.ndcg)))] if ours else []
        cells = " ".join(f"{value!s:<22}" for value in (*map(interval, scores), *ahead))
        print(f"  {name:<26} {cells}".rstrip(), flush=True)
        means[name.removeprefix(WITHOUT)] = statistics.fmean(scores.ndcg)
        return scores.ndcg

    with engine(one.corpus, database) as livedex:
        ours = line(WHOLE, livedex.files)
        if options.parts:
            for part in score.WEIGHTS:
                with without(part):
                    line(f"{WITHOUT}{part}", livedex.files)
        if options.semantic:
            for fusion in get_args(Fusion):
                with semantics(
                    livedex.pool, livedex.roots, database.with_suffix(".vectors.db"), fusion
                ) as livedex.semantics:
                    line(f"hybrid, {fusion}", livedex.files, ours)
            livedex.semantics = None
        if options.misspelt:
            line("misspelt", lambda text, most: livedex.files(misspelt(text), most))
            with unrepaired():
                line("… and not repaired", lambda text, most: livedex.files(misspelt(text), most))
    if not options.no_peers:
        found = peers(one.corpus)
        for name, search in found.items():
            line(name, search, ours)
        if not any(name.startswith("bm25s") for name in found):
            print("  bm25s is not installed: pip install bm25s pystemmer", file=sys.stderr)
    return means


@contextmanager
def unrepaired() -> Iterator[None]:
    """Inside, no word is asked for as it may be meant."""
    usual, spell_repair.REPAIRED = spell_repair.REPAIRED, 0  # type: ignore[misc]
    try:
        yield
    finally:
        spell_repair.REPAIRED = usual  # type: ignore[misc]


@contextmanager
def without(part: str) -> Iterator[None]:
    """Inside, the part counts for nothing in the ranking."""
    weights = cast("dict[str, float]", score.WEIGHTS)
    weight, weights[part] = weights[part], 0.0
    try:
        yield
    finally:
        weights[part] = weight


if __name__ == "__main__":
    raise SystemExit(main())
