"""Asks the full-text index for ranked rows: chunks by their words, files by the words of their path.

Invariant: what a statement costs is bounded by the row budget and the length of its list, never by how common a word
is; every order is total, so that two pages of one generation fit together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from livedex_indexing.asked import Asked, Unit, any_of
from livedex_indexing.filters import Admission, Condition
from livedex_indexing.readpool import DeadlinePassed, Reader

ROW_BUDGET: Final = 5_000  # rows that the rarest words may bring: a fifth of the time, no quality lost (ranking.md)
COMMON_WORDS: Final = 12  # beside them: each is looked up in every row of the budget
NEIGHBOURS: Final = 24  # pairs of words that are looked for as neighbours …
COMMON_PAIRS: Final = 3  # … and pairs of two common words, which cost some milliseconds each
TOO_COMMON: Final = 20_000  # the rarest word stands in more: only headings, names and symbols are ranked
# Of each list. Not longer for a later page: what is ranked, and so the order, must not depend on the page.
LIST_ROWS: Final = 300
NEAR_WORDS: Final = 8
BORDER_CUTS: Final = 16  # words of a phrase before the border of two chunks

_TOP_CHUNKS = """SELECT rowid, -bm25(postings) AS score FROM postings WHERE postings MATCH ? AND {}
                 ORDER BY score DESC, rowid LIMIT ?"""
_TOP_FILES = """SELECT rowid, -bm25(paths) AS score FROM paths WHERE paths MATCH ? AND {}
                ORDER BY score DESC, rowid LIMIT ?"""
_SOME = "SELECT rowid FROM postings WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
_SCORED = (
    "SELECT rowid, -bm25(postings) FROM postings WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"
)
_OTHER_CHUNKS = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_OTHER_FILES = "SELECT rowid FROM paths WHERE paths MATCH ? AND rowid > ? AND {} ORDER BY rowid LIMIT ?"
_ALL = "SELECT rowid FROM postings WHERE postings MATCH ?"
_SAME_CONTENT = """SELECT c.content_id, c.id FROM json_each(?) b JOIN chunks a ON a.id = b.value
                   JOIN chunks c ON c.id = b.value + 1 AND c.content_id = a.content_id"""
_ADMITTED = "SELECT rowid FROM postings WHERE rowid IN (SELECT value FROM json_each(?)) AND {}"
_HOLDING = """SELECT DISTINCT (SELECT content_id FROM chunks c WHERE c.id = +postings.rowid) FROM postings
              WHERE postings MATCH ?"""


class Lists(NamedTuple):
    """Scores by chunk id (``paths``: by file id), each list cut at its length. Not divided by the query's total."""

    words: dict[int, float]
    pairs: dict[int, float]
    near: dict[int, float]
    symbols: dict[int, float]
    paths: dict[int, float]
    late: bool


def collect(reader: Reader, asked: Asked, admission: Admission) -> Lists:
    """All the lists that ranking looks at. Past the deadline, those that were read."""
    length = LIST_ROWS
    lists = Lists({}, {}, {}, {}, {}, late=False)
    units = [unit for unit in asked.any_of if unit.rows]
    named = [unit for unit in asked.any_of if unit.files]
    try:
        if named:
            match, weight = path_expression(named)
            lists.paths.update(_top(reader, _TOP_FILES, match, admission.paths, length, weight))
        if units:
            match, weight = word_expression(units, small=admission.small)
            lists.words.update(_top(reader, _TOP_CHUNKS, match, admission.rows, length, weight))
            _neighbours(reader, asked, admission, length, lists)
            _symbols(reader, units, admission, length, lists)
    except DeadlinePassed:
        return lists._replace(late=True)
    return lists


def word_expression(units: Sequence[Unit], *, small: bool) -> tuple[str, float]:
    """The words to rank by, and what the scores are to be multiplied with.

    ``small``: so few rows are admitted that all words can be asked plainly.
    """
    if small:
        return any_of(units), 1.0
    rare, common = _budget(units, _rows)
    if rare[0].rows > TOO_COMMON:
        return f"{{ids heads symbols}} : ({any_of([*rare, *common])})", 1.0
    return _balanced(rare, common)


def path_expression(units: Sequence[Unit]) -> tuple[str, float]:
    """The same for the words of paths."""
    return _balanced(*_budget(units, _files))


def score_chunks(reader: Reader, units: Sequence[Unit], ids: Collection[int], *, small: bool) -> dict[int, float]:
    """The scores by words of those of ``ids`` that match."""
    if not ids or not units:
        return {}
    match, weight = word_expression(units, small=small)
    return {row: weight * score for row, score in reader.rows(_SCORED, (match, json.dumps(sorted(ids))))}


def other_chunks(reader: Reader, match: str, after: int, admission: Admission, limit: int) -> list[int]:
    """Chunks that match, in the order of their ids, beginning behind ``after``."""
    sql, values = admission.rows
    return [row[0] for row in reader.rows(_OTHER_CHUNKS.format(sql), (match, after, *values, limit))]


def other_files(reader: Reader, match: str, after: int, admission: Admission, limit: int) -> list[int]:
    """Files whose path matches, in the order of their ids, beginning behind ``after``."""
    sql, values = admission.paths
    return [row[0] for row in reader.rows(_OTHER_FILES.format(sql), (match, after, *values, limit))]


def border_chunks(reader: Reader, unit: Unit) -> dict[int, set[int]]:
    """Chunks that begin with an end of the phrase whose beginning stands in the chunk before, by content.

    No chunk holds such a phrase, so no phrase query finds it; words at a column's start are FTS5's to find.
    """
    found: dict[int, set[int]] = {}
    for cut in range(1, min(len(unit.tokens), BORDER_CUTS + 1)):
        begin, end = " ".join(unit.tokens[:cut]), " ".join(unit.tokens[cut:])
        after = [row for (row,) in reader.rows(_ALL, (f'body : ^"{end}"',))]
        before = reader.rows(_SOME, (f'body : "{begin}"', json.dumps([row - 1 for row in after]))) if after else []
        pairs = json.dumps([row for (row,) in before])
        for content_id, chunk_id in reader.rows(_SAME_CONTENT, (pairs,)) if before else []:
            found.setdefault(content_id, set()).add(chunk_id)
    return found


def admitted_chunks(reader: Reader, ids: Collection[int], admission: Admission) -> list[int]:
    """Those of ``ids`` that the filters admit, in order."""
    sql, values = admission.rows
    return sorted(row for (row,) in reader.rows(_ADMITTED.format(sql), (json.dumps(sorted(ids)), *values)))


def contents_holding(reader: Reader, unit: Unit) -> set[int]:
    """The contents with a chunk that matches, whatever the filters."""
    return {row[0] for row in reader.rows(_HOLDING, (unit.match,))} if unit.rows else set()


def _balanced(rare: Sequence[Unit], common: Sequence[Unit]) -> tuple[str, float]:
    """A row needs a rare word, the common ones still count. Rare ones are named twice that way, so common ones are
    too and the scores are halved: without that balance quality drops by .03 (ranking.md)."""
    if not common:
        return any_of(rare), 1.0
    return f"({any_of(rare)}) AND ({any_of([*rare, *common, *common])})", 0.5


def _rows(unit: Unit) -> int:
    return unit.rows


def _files(unit: Unit) -> int:
    return unit.files


def _top(
    reader: Reader, sql: str, match: str, condition: Condition, length: int, weight: float = 1.0
) -> dict[int, float]:
    found = reader.rows(sql.format(condition.sql), (match, *condition.values, length))
    return {row: weight * score for row, score in found}


def _budget(units: Sequence[Unit], rows_of: Callable[[Unit], int]) -> tuple[list[Unit], list[Unit]]:
    """The rarest units that bring no more rows than the budget, at least one, and the rest."""
    ordered = sorted(units, key=lambda unit: (rows_of(unit), unit.match))
    brought = 0
    for place, unit in enumerate(ordered):
        brought += rows_of(unit)
        if brought > ROW_BUDGET and place:
            return ordered[:place], ordered[place : place + COMMON_WORDS]
    return ordered, []


def _neighbours(reader: Reader, asked: Asked, admission: Admission, length: int, lists: Lists) -> None:
    """Rows where words that are neighbours in the query are neighbours too, or at least near."""
    spoken = list(pairwise(unit for unit in asked.spoken if unit.rows))
    told = [pair for pair in spoken if not (pair[0].stop and pair[1].stop) and not pair[0].prefix]
    pairs = [
        f'"{" ".join((*left.tokens, *right.tokens))}"{" *" if right.prefix else ""}'
        for left, right in _affordable(told, COMMON_PAIRS, small=admission.small)
    ]
    if pairs:
        match = f"body : ({' OR '.join(pairs)})"
        lists.pairs.update(_top(reader, _TOP_CHUNKS, match, admission.rows, length))
    apart = list(pairwise(unit for unit in asked.units if unit.rows))
    near = [
        f"NEAR({left.match} {right.match}, {NEAR_WORDS})"
        for left, right in _affordable(apart, 0, small=admission.small)
    ]
    if near:
        match = f"body : ({' OR '.join(near)})"
        lists.near.update(_top(reader, _TOP_CHUNKS, match, admission.rows, length))


def _affordable(pairs: Sequence[tuple[Unit, Unit]], common: int, *, small: bool) -> list[tuple[Unit, Unit]]:
    """The pairs of which a word is in the row budget, and so many of the others."""
    rare = [pair for pair in pairs if small or min(pair[0].rows, pair[1].rows) <= ROW_BUDGET]
    others = [pair for pair in pairs if pair not in rare]
    return [*rare[:NEIGHBOURS], *others[:common]]


def _symbols(reader: Reader, units: Sequence[Unit], admission: Admission, length: int, lists: Lists) -> None:
    """Σ idf of the words that are in the symbols of a row, for the rows found so far and the best by symbol."""
    rare = sorted((unit for unit in units if unit.rows <= TOO_COMMON or admission.small), key=_rows)[:NEIGHBOURS]
    if not rare:
        return
    found = _top(reader, _TOP_CHUNKS, f"symbols : ({any_of(_budget(rare, _rows)[0])})", admission.rows, length)
    candidates = json.dumps(sorted(found.keys() | lists.words.keys()))
    for unit in rare:
        for (row,) in reader.rows(_SOME, (f"symbols : {unit.match}", candidates)):
            lists.symbols[row] = lists.symbols.get(row, 0.0) + unit.idf
