"""Looks into the rows that a search may answer with: how often each word stands there, where, and how near to others.

Invariant: a row costs the same however common its words are; nothing is decided here.

FTS5 calls a function of ours for each row that it finds, with the places of every word (1 to 5 µs a row). The rows are
found one by one, by their ids, where walking through all rows of the words would take longer.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import apsw

from livedex_indexing.asked import Asked, Unit
from livedex_indexing.readpool import Reader

WORDS: Final = 24  # the rarest so many words are looked for in a row
NEAR_WORDS: Final = 8
_ROW_US: Final = 0.04  # of one more row of a word that FTS5 walks through
_SEEK_US: Final = 5.0  # of one row that is found by its id, and
_SEEK_WORD_US: Final = 3.0  # of each word there
_BODY, _SYMBOLS = 0, 3

_WALK = """SELECT livedex_weigh(postings) FROM postings
           WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"""
# Here the id shall reach FTS5: it looks for the words in that row alone.
_SEEK = """SELECT livedex_weigh(postings) FROM json_each(?) i CROSS JOIN postings
           WHERE postings MATCH ? AND postings.rowid = i.value"""


class Weighed(NamedTuple):
    """What one row holds. ``counts`` runs beside the words asked: how often each stands in text, parts of names and
    headings. ``symbols`` is the Σ idf of those that name a definition. ``pairs`` runs beside the neighbours in the
    query: how often they are neighbours here; ``near`` beside the same without stop words: how often the rarer of both
    stands here where they come within eight words of each other, else 0. ``length`` is the number of words."""

    counts: Sequence[int]
    symbols: float
    pairs: Sequence[int]
    near: Sequence[int]
    length: int


class Weighing(NamedTuple):
    """Rows by id. ``idfs`` runs beside their counts, ``near`` beside theirs: Σ idf of the two. ``chunks`` is the number
    of all rows there are, ``usual`` their average length."""

    rows: dict[int, Weighed]
    idfs: Sequence[float]
    near: Sequence[float]
    chunks: int
    usual: float


class _Wanted(NamedTuple):
    """What is looked for: ``units`` are scored, all of ``phrases`` are in the expression. The others are places in
    ``phrases``: pairs of neighbours with the number of words in the first, and the same once stop words are out."""

    phrases: list[Unit]
    units: list[int]
    pairs: list[tuple[int, int, int]]
    near: list[tuple[int, int, int]]


def scored_units(asked: Asked) -> list[Unit]:
    """The words whose counts matter, in the order typed: the rarest that any chunk holds."""
    units = [unit for unit in asked.any_of if unit.rows]
    rarest = set(sorted(units, key=lambda unit: (unit.rows, unit.match))[:WORDS])
    return [unit for unit in units if unit in rarest]


def weigh(reader: Reader, asked: Asked, ids: Collection[int]) -> Weighing:
    """Those of the rows ``ids`` that hold one of the words."""
    wanted = _wanted(asked)
    if not ids or not wanted.units:
        return Weighing({}, [], [], 0, 1.0)
    weigher = reader.scratch.get("weigher")
    if weigher is None:
        weigher = reader.scratch["weigher"] = _Weigher()
        reader.db.register_fts5_function("livedex_weigh", weigher)
    weigher.begin(wanted)
    match = " OR ".join(unit.match for unit in wanted.phrases)
    chosen = json.dumps(sorted(ids))
    walk_us = _ROW_US * sum(unit.rows for unit in wanted.phrases)
    # A prefix is gathered from all its words anew for each row that is looked up: seconds, where many begin so.
    prefix = any(unit.prefix for unit in wanted.phrases)
    if prefix or walk_us <= len(ids) * (_SEEK_US + _SEEK_WORD_US * len(wanted.phrases)):
        reader.rows(_WALK, (match, chosen))
    else:
        reader.rows(_SEEK, (chosen, match))
    idfs = [unit.idf for unit in wanted.phrases]
    return Weighing(
        weigher.found,
        [idfs[number] for number in wanted.units],
        [idfs[left] + idfs[right] for left, right, _ in wanted.near],
        weigher.chunks,
        weigher.usual,
    )


def _wanted(asked: Asked) -> _Wanted:
    units = scored_units(asked)
    scored = set(units)
    spoken = [unit for unit in asked.spoken if unit.rows and (unit in scored or unit.stop)]
    told = [
        (left, right) for left, right in pairwise(spoken) if not left.prefix and (left in scored or right in scored)
    ]
    phrases = list(dict.fromkeys([*units, *(unit for pair in told for unit in pair)]))
    place = {unit: number for number, unit in enumerate(phrases)}
    pairs = [(place[a], place[b], len(a.tokens)) for a, b in told]
    near = [(place[a], place[b], len(a.tokens)) for a, b in pairwise(units)]
    return _Wanted(phrases, [place[unit] for unit in units], pairs, near)


class _Weigher:
    """The function that FTS5 calls for each row of one statement. One for each connection, which one thread uses."""

    def __init__(self) -> None:
        self.begin(_Wanted([], [], [], []))

    def begin(self, wanted: _Wanted) -> None:
        self.found: dict[int, Weighed] = {}
        self.chunks = 0
        self.usual = 1.0
        self._wanted = wanted

    def __call__(self, row: apsw.FTS5ExtensionApi, *_: Any) -> None:
        wanted = self._wanted
        if not self.chunks:
            self.chunks = row.row_count
            self.usual = max(1.0, row.column_total_size(-1) / max(1, self.chunks))
        places = [row.phrase_locations(number) for number in range(len(wanted.phrases))]
        bodies = [columns[_BODY] for columns in places]
        self.found[row.rowid] = Weighed(
            [sum(map(len, places[number][:_SYMBOLS])) for number in wanted.units],
            sum(wanted.phrases[number].idf for number in wanted.units if places[number][_SYMBOLS]),
            [_adjoining(bodies[left], bodies[right], length) for left, right, length in wanted.pairs],
            [_near(bodies[left], bodies[right], length) for left, right, length in wanted.near],
            row.column_size(-1),
        )


def _adjoining(left: Sequence[int], right: Sequence[int], length: int) -> int:
    """How often one of ``right`` begins where one of ``left``, ``length`` words long, ends."""
    if not left or not right:
        return 0
    ends = {place + length for place in left}
    return sum(place in ends for place in right)


def _near(left: Sequence[int], right: Sequence[int], length: int) -> int:
    """How often the rarer of both stands there, if at most `NEAR_WORDS` words lie between one of each; else 0."""
    if not left or not right:
        return 0
    reach = NEAR_WORDS + length
    for place in left:
        at = bisect_left(right, place - reach)
        if at < len(right) and right[at] <= place + reach:
            return min(len(left), len(right))
    return 0
