"""Extracts the features of matching rows: how often each query word occurs, where, and how near to others.

Invariant: the cost of a row does not depend on how common its words are; nothing is decided here.

FTS5 calls a function of this module for each row that it finds, with the positions of every word (1 to 5 µs a row). The
rows are found by their ids in a few spans where walking through all rows of the words would take longer.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate, chain, pairwise, starmap
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm, match_any, readings
from livedex_indexing.rank.spans import WITH_SPANS, spans
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader

WORDS: Final = 24  # words to look for in a row: the rarest
NEAR_WORDS: Final = 8
OPENING: Final = 8  # words at the beginning of a row's text: a heading, a definition's first line
RARE_ROWS: Final = 5_000  # rows that the rare words have together
AGAIN_US: Final = 10.0  # to look at a row in one more statement
LED_WORD_US: Final = 0.05  # cost of each word in a row that a rare word leads to
_WINDOW_WORDS: Final = 3  # words of a query, at least: two are neighbours or near
_BODY, _HEADS, _SYMBOLS, _ALL = 0, 2, 3, -1
_Locations = Sequence[Sequence[int]]  # of a phrase, by column
_NOWHERE: Final[_Locations] = ((), (), (), ())
_STOP_SHARE: Final = 0.5  # share of its idf that a stop word is worth among other words (measured: .01 on functions)
_ALL_NAMES: Final = 2.0  # a name that the query spells out in full is worth this many times more
_CONTINUED: Final = 0.8  # share of `titled` for a chunk below the one with the heading itself
_BEGUN_ROWS: Final = 60_000  # rows with words that begin so
WRITTEN_ROWS: Final = 40_000  # rows: the written form of a commoner word is not looked up

_LED = """SELECT livedex_features(postings) FROM postings
          WHERE postings MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"""
IN_SPANS = f"""{WITH_SPANS} SELECT livedex_features(postings) FROM spans CROSS JOIN postings
               WHERE postings MATCH ? AND postings.rowid BETWEEN low AND high
               AND +postings.rowid IN (SELECT value FROM json_each(?))"""
AS_WRITTEN = "SELECT rowid FROM exact WHERE exact MATCH ? AND +rowid IN (SELECT value FROM json_each(?))"


class MatchFeatures(msgspec.Struct, frozen=True, gc=False):
    """The features of one row.

    ``counts`` and ``texts`` are parallel to the query's words: how often each occurs in text, parts of names and
    headings, and in the text alone. ``symbols`` is the Σ idf of the words that name a definition, higher the fewer
    other names there are; ``heading`` is the Σ idf of those in the headings times the share of the headings' words that
    they make up; ``opening`` is the Σ idf of those among the first words of the text. ``titled`` is the Σ idf of all
    words where the headings have all of them, one after the other as in the query, less where the text has not, else 0.

    ``pairs`` is parallel to the neighbours in the query: how often they are neighbours here. ``near`` is parallel to
    the same without stop words: how often the rarer of the two occurs here if they come within eight words of each
    other, else 0. Both are empty where the row contains fewer than two of the words. ``length`` is the number of words;
    ``window`` is that of the shortest part of the text with all words of a query of three or more, 0 where none has.
    """

    counts: Sequence[int]
    texts: Sequence[int]
    symbols: float
    heading: float
    opening: float
    pairs: Sequence[int]
    near: Sequence[int]
    length: int
    titled: float
    window: int = 0


class FeatureTable(NamedTuple):
    """Features of rows by id. ``idfs`` is parallel to their counts: first `scored_terms`, then stop words. ``near`` is
    parallel to theirs: Σ idf of the two. ``chunks`` is the number of all rows in the index, ``usual`` their average
    length. ``parts``: the places of those terms that are only parts of an indexed word (`readings`). ``written`` is
    parallel to the scored words: the contents that contain the word as typed; None: treat all as such. ``lengths`` has
    the usual length of chunks in the language of each row, relative to ``usual``; ``typed`` rates rows that have the
    query as it was typed (see `NamePlaces`), also some without its words."""

    rows: dict[int, MatchFeatures]
    idfs: Sequence[float]
    near: Sequence[float]
    chunks: int
    usual: float
    written: Sequence[frozenset[int] | None] = ()
    lengths: Mapping[int, float] = {}
    typed: Mapping[int, float] = {}
    parts: frozenset[int] = frozenset()


class _Wanted(NamedTuple):
    """What to look for: ``terms`` are the scored ones, as positions in ``phrases``, each with its idf in ``idfs``;
    ``phrases`` are all terms of the expression. ``pairs`` and ``near`` are (left, right, number of words in left), left
    and right being positions in ``phrases``: neighbours in the query, with and without stop words. ``readings`` has for
    each reading of the query its words, as places in ``terms``, and its pairs. ``parts``: see `FeatureTable`."""

    phrases: list[QueryTerm]
    terms: list[int]
    idfs: list[float]
    pairs: list[tuple[int, int, int]]
    near: list[tuple[int, int, int]]
    readings: list[tuple[list[int], list[tuple[int, int, int]]]]
    parts: frozenset[int] = frozenset()


def scored_terms(compiled: CompiledQuery) -> list[QueryTerm]:
    """Return the terms whose counts matter, in the order typed: the rarest `WORDS` that any chunk contains. A beginning
    that very many chunks have says little, and FTS5 would gather all words that begin so, for 50 to 200 ms of CPU."""
    found = [term for term in compiled.any_of if term.rows]
    terms = [term for term in found if not term.prefix or term.rows <= _BEGUN_ROWS] or found
    rarest = set(sorted(terms, key=lambda term: (term.rows, term.match))[:WORDS])
    return [term for term in terms if term in rarest]


def extract(reader: Reader, compiled: CompiledQuery, ids: Collection[int]) -> FeatureTable:
    """Return the features of those of the rows ``ids`` that contain a query word."""
    wanted = _wanted(compiled)
    if not ids or not wanted.terms:
        return FeatureTable({}, [], [], 0, 1.0)
    extractor = reader.scratch.get("extractor")
    if not isinstance(extractor, _Extractor):
        extractor = reader.scratch["extractor"] = _Extractor()
        reader.db.register_fts5_function("livedex_features", extractor)
    extractor.begin(wanted)
    _extract_all(reader, wanted, set(ids), extractor, compiled.chunks)
    idfs = [term.idf for term in wanted.phrases]
    return FeatureTable(
        extractor.found,
        wanted.idfs,
        [idfs[left] + idfs[right] for left, right, _ in wanted.near],
        extractor.chunks,
        extractor.usual,
        parts=wanted.parts,
    )


def written(reader: Reader, terms: Sequence[QueryTerm], contents: Collection[int]) -> list[frozenset[int] | None]:
    """Return for each term those of ``contents`` that contain it as typed, not only its stem. None where that is not
    looked up: the table has no compounds, and for very common terms it says nothing."""
    among = id_list(contents)
    return [
        frozenset(row for (row,) in reader.rows(AS_WRITTEN, (f'"{term.tokens[0]}"', among)))
        if len(term.tokens) == 1
        and not (term.prefix or term.unsegmented or term.in_symbols)
        and term.rows <= WRITTEN_ROWS
        else None
        for term in terms
    ]


def _extract_all(reader: Reader, wanted: _Wanted, ids: set[int], extractor: _Extractor, last: int) -> None:
    """Make FTS5 call the function for each of the rows, in the cheapest way."""
    match = match_any(wanted.phrases)
    words = len(wanted.phrases)
    places = spans(ids, wanted.phrases, last)
    rare = _rarest([wanted.phrases[number] for number in wanted.terms])
    if LED_WORD_US * words * sum(term.rows for term in rare) < places.cost_us:
        if len(rare) == words:
            reader.rows(_LED, (match, id_list(ids)))  # no other row contains a query word
            return
        if not any(term.prefix for term in wanted.phrases):  # FTS5 would gather it for each of the two statements
            extractor.skip(rare)
            reader.rows(_LED, (f"({match_any(rare)}) AND ({match})", id_list(ids)))
            extractor.skip([])
            ids = ids - extractor.found.keys()
            places = spans(ids, wanted.phrases, last)
    if ids and not _extract_apart(reader, wanted, ids, extractor, last, places.cost_us):
        reader.rows(IN_SPANS, (places.json, match, id_list(ids)))


def _extract_apart(
    reader: Reader, wanted: _Wanted, ids: set[int], extractor: _Extractor, last: int, together_us: float
) -> bool:
    """Look for whole words and for beginnings in two statements, and return True, if that takes less time. For a
    beginning, a statement has one span, through which it would walk along all rows of the whole words, too."""
    parts = [
        [number for number, term in enumerate(wanted.phrases) if term.prefix is prefix] for prefix in (False, True)
    ]
    if not all(parts):
        return False
    terms = [[wanted.phrases[number] for number in numbers] for numbers in parts]
    places = [spans(ids, those, last) for those in terms]
    if AGAIN_US * len(ids) + sum(each.cost_us for each in places) > together_us:
        return False
    for numbers, those, each in zip(parts, terms, places, strict=True):
        extractor.take(numbers)
        reader.rows(IN_SPANS, (each.json, match_any(those), id_list(ids)))
    extractor.put_together()
    return True


def _rarest(terms: Sequence[QueryTerm]) -> list[QueryTerm]:
    """Return the terms with few rows together, at least one: most rows to examine contain one of them."""
    ordered = sorted(terms, key=lambda term: (term.rows, term.match))
    brought = list(accumulate(term.rows for term in ordered))
    return ordered[: max(1, bisect_right(brought, RARE_ROWS))]


def _wanted(compiled: CompiledQuery) -> _Wanted:
    terms = scored_terms(compiled)
    scored = set(terms)
    spoken = [term for term in compiled.spoken if term.rows and (term in scored or term.is_stop_word)]
    whole, in_parts = readings(spoken)
    neighbours = [
        [(left, right) for left, right in pairwise(each) if not left.prefix and (left in scored or right in scored)]
        for each in (whole, in_parts)
    ]
    phrases = list(dict.fromkeys([*terms, *(term for pairs in neighbours for pair in pairs for term in pair)]))
    place = {term: number for number, term in enumerate(phrases)}
    of_reading = [[(place[a], place[b], len(a.tokens)) for a, b in pairs] for pairs in neighbours]
    pairs = list(dict.fromkeys(chain(*of_reading)))
    near = [(place[a], place[b], len(a.tokens)) for a, b in pairwise(terms)]
    stops = [term for term in phrases if term not in scored]
    idfs = [*(term.idf for term in terms), *(_STOP_SHARE * term.idf for term in stops)]
    ordered = [*terms, *stops]
    words = [[number for number, term in enumerate(ordered) if term in each] for each in (whole, in_parts)]
    parts = frozenset(range(len(ordered))).difference(words[0])
    readings_of = list(zip(words, of_reading, strict=True))[: 2 if parts else 1]
    return _Wanted(phrases, [place[term] for term in ordered], idfs, pairs, near, readings_of, parts)


class _Extractor:
    """The function that FTS5 calls for each row of one statement. One per connection, which one thread uses."""

    def __init__(self) -> None:
        self.begin(_Wanted([], [], [], [], [], []))

    def begin(self, wanted: _Wanted) -> None:
        self.found: dict[int, MatchFeatures] = {}
        self.chunks = 0
        self.usual = 1.0
        self._wanted = wanted
        self._scored = list(zip(wanted.terms, wanted.idfs, strict=True))
        self._taken: Sequence[int] | None = None
        self._apart: dict[int, tuple[list[_Locations], dict[int, int]]] = {}
        self.skip([])

    def skip(self, named: Sequence[QueryTerm]) -> None:
        """Ignore those terms, with which the expression begins: they are repeated there."""
        self._expect(self._wanted.phrases, sum(1 + len(term.forms) for term in named))

    def take(self, phrases: Sequence[int]) -> None:
        """Only keep the places of these phrases, which are the whole expression, until `put_together`."""
        self._taken = phrases
        self._expect([self._wanted.phrases[number] for number in phrases], 0)

    def _expect(self, terms: Sequence[QueryTerm], first: int) -> None:
        """Expect the terms from the phrase ``first`` of the expression on: FTS5 numbers each form of a word."""
        self._numbers = range(first, first + len(terms))
        self._forms: Sequence[Sequence[int]] = ()
        if any(term.forms for term in terms):
            ends = list(accumulate((1 + len(term.forms) for term in terms), initial=first))
            self._forms = list(starmap(range, pairwise(ends)))

    def put_together(self) -> None:
        """Note the features of all rows whose places were taken apart."""
        for rowid, (places, sizes) in self._apart.items():
            self._note(rowid, places, sizes.__getitem__)

    def __call__(self, row: apsw.FTS5ExtensionApi, *_: Any) -> None:
        if not self.chunks:
            self.chunks = row.row_count
            self.usual = max(1.0, row.column_total_size(-1) / max(1, self.chunks))
        if self._forms:
            places = [_together(list(map(row.phrase_locations, numbers))) for numbers in self._forms]
        else:
            places = list(map(row.phrase_locations, self._numbers))
        if self._taken is None:
            self._note(row.rowid, places, row.column_size)
            return
        if row.rowid not in self._apart:
            sizes = {column: row.column_size(column) for column in (_HEADS, _SYMBOLS, _ALL)}
            self._apart[row.rowid] = [_NOWHERE] * len(self._wanted.phrases), sizes
        for number, those in zip(self._taken, places, strict=True):
            self._apart[row.rowid][0][number] = those

    def _note(self, rowid: int, places: Sequence[_Locations], size: Callable[[int], int]) -> None:
        """Note the features of a row. ``size`` returns the number of words in a column."""
        wanted = self._wanted  # a hundred times a search: written for speed
        counts, texts = [], []
        symbols = heading = opening = titled = 0.0
        present = naming = heads = 0
        for number, idf in self._scored:
            body, ids, headed, named = places[number]
            count = len(body)
            texts.append(count)
            counts.append(count + len(ids) + len(headed))
            if count:
                present += 1
                if body[0] < OPENING:
                    opening += idf
            if headed:
                heading, heads = heading + idf, heads + 1
            if named:
                symbols, naming = symbols + idf, naming + 1
        if heads:
            if heads > 1 and self._in_a_row([columns[_HEADS] for columns in places]):
                titled = heading if self._in_a_row([columns[_BODY] for columns in places]) else _CONTINUED * heading
            heading *= min(1.0, heads / max(1, size(_HEADS)))
        if naming:
            symbols *= 1 + _ALL_NAMES * min(1.0, naming / max(1, size(_SYMBOLS)))
        pairs: Sequence[int] = ()
        near: Sequence[int] = ()
        if present > 1:
            bodies = [columns[_BODY] for columns in places]
            pairs = [
                _adjoining(bodies[left], bodies[right], length) if bodies[left] and bodies[right] else 0
                for left, right, length in wanted.pairs
            ]
            near = [
                _near(bodies[left], bodies[right], length) if bodies[left] and bodies[right] else 0
                for left, right, length in wanted.near
            ]
        window = 0
        if present >= len(words := wanted.readings[0][0]) >= _WINDOW_WORDS and all(texts[word] for word in words):
            window = _window([places[wanted.terms[word]][_BODY] for word in words])
        self.found[rowid] = MatchFeatures(
            counts, texts, symbols, heading, opening, pairs, near, size(_ALL), titled, window
        )

    def _in_a_row(self, places: Sequence[Sequence[int]]) -> bool:
        """Whether all words of a reading, two at least, are there, one after the other."""
        terms = self._wanted.terms
        return any(
            pairs
            and all(places[terms[word]] for word in words)
            and all(_adjoining(places[left], places[right], length) for left, right, length in pairs)
            for words, pairs in self._wanted.readings
        )


def _adjoining(left: Sequence[int], right: Sequence[int], length: int) -> int:
    """Return how often one of ``right`` begins where one of ``left``, ``length`` words long, ends."""
    return len({place + length for place in left}.intersection(right))


def _window(places: Sequence[Sequence[int]]) -> int:
    """Return how many words the shortest part of a text has in which each of several words occurs."""
    last = [-1] * len(places)
    best = 1 << 30
    seen = 0
    for at, number in sorted((at, number) for number, those in enumerate(places) for at in those):
        seen += last[number] < 0
        last[number] = at
        if seen == len(places):
            best = min(best, at - min(last) + 1)
    return best


def _together(forms: Sequence[_Locations]) -> _Locations:
    """Return the places of all forms of a word."""
    return forms[0] if len(forms) == 1 else [sorted(chain(*columns)) for columns in zip(*forms, strict=True)]


def _near(left: Sequence[int], right: Sequence[int], length: int) -> int:
    """Return how often the rarer of the two occurs if at most `NEAR_WORDS` words lie between one of each; else 0."""
    reach = NEAR_WORDS + length
    for place in left:
        at = bisect_left(right, place - reach)
        if at < len(right) and right[at] <= place + reach:
            return min(len(left), len(right))
    return 0
