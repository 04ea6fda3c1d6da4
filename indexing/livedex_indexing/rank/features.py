"""Looks into the rows that a search may answer with: how often each word stands there, where, and how near to others.

Invariant: a row costs the same however common its words are; nothing is decided here.

FTS5 calls a function of ours for each row that it finds, with the places of every word (1 to 5 µs a row). The rows are
found by their ids in a few spans, where walking through all rows of the words would take longer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from livedex_indexing.query.query_terms import Asked, Unit, any_of
from livedex_indexing.rank.spans import WITH_SPANS, spans
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader

WORDS: Final = 24  # the rarest so many words are looked for in a row
NEAR_WORDS: Final = 8
OPENING: Final = 8  # words at the beginning of a row's text: a heading, a definition's first line
_RARE_ROWS: Final = 5_000  # of the words that lead to rows together
_LED_WORD_US: Final = 0.05  # of each word in a row that a rare word leads to
_BODY, _HEADS, _SYMBOLS = 0, 2, 3
_STOP_SHARE: Final = 0.5  # of its idf: what a stop word is worth beside others (measured: .01 on functions)
_ALL_NAMES: Final = 2.0  # times more is a name worth that is asked for as a whole
_WRITTEN_ROWS: Final = 40_000  # of a commoner word nobody asks in which form it is written

_LED = """SELECT livedex_weigh(postings) FROM postings
          WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"""
_IN_SPANS = f"""{WITH_SPANS} SELECT livedex_weigh(postings) FROM spans CROSS JOIN postings
                WHERE postings MATCH ? AND postings.rowid BETWEEN low AND high
                AND +postings.rowid IN (SELECT value FROM json_each(?))"""
_WRITTEN = "SELECT rowid FROM exact WHERE exact MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"


class Weighed(msgspec.Struct, frozen=True, gc=False):
    """What one row holds. ``counts`` runs beside the words asked: how often each stands in text, parts of names and
    headings, ``texts`` how often in the text alone. ``symbols`` is the Σ idf of those that name a definition, more the
    fewer other names there are; ``heading`` that of those in the headings times the share of them that they make up;
    ``opening`` that of those among the first words of the text.
    ``pairs`` runs beside the neighbours in the query: how often they are neighbours here; ``near`` beside the same
    without stop words: how often the rarer of both stands here where they come within eight words of each other, else
    0. Both are empty where the row holds no two of
    the words. ``length`` is the number of words."""

    counts: Sequence[int]
    texts: Sequence[int]
    symbols: float
    heading: float
    opening: float
    pairs: Sequence[int]
    near: Sequence[int]
    length: int


class Weighing(NamedTuple):
    """Rows by id. ``idfs`` runs beside their counts: first `scored_units`, then stop words. ``near`` runs beside
    theirs: Σ idf of the two. ``chunks`` is the number of all rows there are, ``usual`` their average length.
    ``written`` has, beside the scored words, the contents that hold the word as it is asked for; None: all do."""

    rows: dict[int, Weighed]
    idfs: Sequence[float]
    near: Sequence[float]
    chunks: int
    usual: float
    written: Sequence[frozenset[int] | None] = ()


class _Wanted(NamedTuple):
    """What is looked for: ``units`` are scored, each worth its place in ``idfs``; all of ``phrases`` are in the
    expression. The others are places in ``phrases``: pairs of neighbours with the number of words in the first, and
    the same once stop words are out."""

    phrases: list[Unit]
    units: list[int]
    idfs: list[float]
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
    _look(reader, wanted, set(ids), weigher, asked.chunks)
    idfs = [unit.idf for unit in wanted.phrases]
    return Weighing(
        weigher.found,
        wanted.idfs,
        [idfs[left] + idfs[right] for left, right, _ in wanted.near],
        weigher.chunks,
        weigher.usual,
    )


def written(reader: Reader, units: Sequence[Unit], contents: Collection[int]) -> list[frozenset[int] | None]:
    """For each unit those of ``contents`` that hold it as it is asked for, not only its stem. None where that is not
    looked for: of words that stand together FTS5 does not know it here, of very common ones it says nothing."""
    among = id_list(contents)
    return [
        frozenset(row for (row,) in reader.rows(_WRITTEN, (unit.match, among)))
        if len(unit.tokens) == 1 and not unit.prefix and not unit.spaceless and unit.rows <= _WRITTEN_ROWS
        else None
        for unit in units
    ]


def _look(reader: Reader, wanted: _Wanted, ids: set[int], weigher: _Weigher, last: int) -> None:
    """Has FTS5 call the function for each of the rows, on the way that costs least."""
    match = any_of(wanted.phrases)
    words = len(wanted.phrases)
    places = spans(ids, wanted.phrases, last)
    rare = _rarest([wanted.phrases[number] for number in wanted.units])
    if _LED_WORD_US * words * sum(unit.rows for unit in rare) < places.cost_us:
        if len(rare) == words:
            reader.rows(_LED, (match, id_list(ids)))  # no other row holds a word
            return
        weigher.skip(len(rare))
        reader.rows(_LED, (f"({any_of(rare)}) AND ({match})", id_list(ids)))
        weigher.skip(0)
        ids = ids - weigher.found.keys()
        places = spans(ids, wanted.phrases, last)
    if ids:
        reader.rows(_IN_SPANS, (places.json, match, id_list(ids)))


def _rarest(units: Sequence[Unit]) -> list[Unit]:
    """Those with few rows together, at least one: most rows that are looked into hold one of them."""
    ordered = sorted(units, key=lambda unit: (unit.rows, unit.match))
    brought = list(accumulate(unit.rows for unit in ordered))
    return ordered[: max(1, bisect_right(brought, _RARE_ROWS))]


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
    stops = [unit for unit in phrases if unit not in scored]
    idfs = [*(unit.idf for unit in units), *(_STOP_SHARE * unit.idf for unit in stops)]
    return _Wanted(phrases, [place[unit] for unit in (*units, *stops)], idfs, pairs, near)


class _Weigher:
    """The function that FTS5 calls for each row of one statement. One for each connection, which one thread uses."""

    def __init__(self) -> None:
        self.begin(_Wanted([], [], [], [], []))

    def begin(self, wanted: _Wanted) -> None:
        self.found: dict[int, Weighed] = {}
        self.chunks = 0
        self.usual = 1.0
        self._wanted = wanted
        self._scored = list(zip(wanted.units, wanted.idfs, strict=True))
        self.skip(0)

    def skip(self, named: int) -> None:
        """So many words are named once more at the beginning of the expression."""
        self._numbers = range(named, named + len(self._wanted.phrases))

    def __call__(self, row: apsw.FTS5ExtensionApi, *_: Any) -> None:
        wanted = self._wanted
        if not self.chunks:
            self.chunks = row.row_count
            self.usual = max(1.0, row.column_total_size(-1) / max(1, self.chunks))
        # A hundred times a search: written for speed.
        places = list(map(row.phrase_locations, self._numbers))
        counts, texts = [], []
        symbols = heading = opening = 0.0
        held = naming = heads = 0
        for number, idf in self._scored:
            body, ids, headed, named = places[number]
            count = len(body)
            texts.append(count)
            counts.append(count + len(ids) + len(headed))
            if count:
                held += 1
                if body[0] < OPENING:
                    opening += idf
            if headed:
                heading, heads = heading + idf, heads + 1
            if named:
                symbols, naming = symbols + idf, naming + 1
        if heads:
            heading *= min(1.0, heads / max(1, row.column_size(_HEADS)))
        if naming:
            symbols *= 1 + _ALL_NAMES * min(1.0, naming / max(1, row.column_size(_SYMBOLS)))
        pairs: Sequence[int] = ()
        near: Sequence[int] = ()
        if held > 1:
            bodies = [columns[_BODY] for columns in places]
            pairs = [_adjoining(bodies[left], bodies[right], length) for left, right, length in wanted.pairs]
            near = [_near(bodies[left], bodies[right], length) for left, right, length in wanted.near]
        self.found[row.rowid] = Weighed(counts, texts, symbols, heading, opening, pairs, near, row.column_size(-1))


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
