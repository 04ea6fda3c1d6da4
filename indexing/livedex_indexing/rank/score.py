"""Orders files, and chunks inside a file, by score. Pure: features go in, an order comes out.

Invariant: the order is total (ties go by path, then ordinal), and scores never rise along it.

A file's score is a sum of parts, each the best of its chunks (the sum over chunks ruins the order: -.09 to -.30),
divided by T, the Σ idf of the query's words:

    words    BM25 over a chunk (text, parts of names, headings) and the words of the file's name; stop words count half
    written  BM25 over the words of the text in files that contain them as typed, not only their stems
    pairs    BM25 over words that are neighbours in the query and in the text, each pair as one word
    near     … over both words of a pair within eight words of each other, without stop words
    symbols  Σ idf of the words that name a definition of the chunk, up to three times for names typed in full
    heading  Σ idf of the words in the chunk's headings, times the share of the headings' words that they make up
    titled   Σ idf of the words where a heading has them all in a row
    every    Σ idf where a chunk's text has every word as typed, of two and more and no stop word among them
    close    the same for three and more words in a part of the text of at most 60 words, the more the shorter it is;
             for other forms, and half of it anywhere, where no file has all as typed; 2 T for a paragraph (`passages`)
    opening  Σ idf of the words among the first eight of the chunk's text
    typed    Σ idf for the definition of the name that was typed, twice for the typed line; a share of it for a longer
             name, and for the text as it was typed
    similar  the cosine of the query's vector and the chunk's, times T and the weight of the embedder
    more     words and written of the three next best chunks; most of the best one's for each that the file lacks
    name     Σ idf of the words in the file's name; a smaller share for variants of them
    title    the same, times the share of the name's words that match
    path     BM25 over the words of the path
    called   Σ idf where the file has the very name that was typed
    short    1 / √ number of the file's chunks: the shorter of two equal files comes first
    cover    Σ idf of the words that the file's chunks and its name have together; that of all in addition for a file
             that has all of two or three words, some in its path, where no chunk has them all
    brief    bonus of a file of code for a short name, penalty for a long one: a share of all the above
    auxiliary penalty of tests, examples, …: a share of all the others but `called`, and `typed` if `auxiliary` is 1
    news     penalty of a file about the changes of each version: such a share, too
    prose    penalty of a file that is no code, where code answers: such a share, too
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain, compress, repeat
from operator import add, mul
from typing import Final, NamedTuple

from livedex_indexing.query.word_counts import idf_of
from livedex_indexing.rank.features import FeatureTable
from livedex_indexing.rank.similarity import NO_COSINES, Cosines
from livedex_indexing.rank.whole_query import is_nowhere_as_typed, is_spread, may_be_spread

# Tuned on the dev halves of the sets of docs/decisions/2026-11-21-ranking.md: the one place they are kept.
WEIGHTS: Final[Mapping[str, float]] = {
    "words": 1.0,
    "written": 0.25,
    "pairs": 0.3,
    "near": 0.1,
    "symbols": 0.2,
    "heading": 0.3,
    "titled": 0.8,  # titles of four corpora, dev: +.03; 1 +.04; the manual -.006 and -.01; of Linux .861 → .880 for .5
    "every": 0.4,  # half-remembered words of three corpora, dev: +.07; 1 +.09; the manual -.004 and -.01
    "close": 0.8,  # half-remembered words, dev: +.04 to +.08 on four sets; 1.6 +.01 more; both manuals -.004 and -.01
    "opening": 0.2,
    "typed": 3.0,
    "similar": 1.0,  # the weight of each embedder comes with the cosines (livedex_indexing.vectors)
    "more": 0.05,
    "name": 0.3,
    "title": 1.0,
    "path": 0.45,
    "called": 4.0,
    "short": 0.1,
    "cover": 0.2,  # five sets of commits, dev: +.009, +.007, +.002, +.001, +.001; the manual +.004, the kernel's -.002
    "brief": 0.035,  # for each factor e: functions, dev + .002 to .005, files of C 0; .05 gains no more on all sets
    "auxiliary": -0.25,  # five sets of commits, dev: +.02 on one, +.01, +.004, +.001, -.002 for -.15
    "news": -0.4,  # the same: +.02, +.015, +.01, +.003, 0 for none
    "prose": -0.15,  # the same: +.016, +.015, +.007, +.001, 0; titles of pip, libuv and vue -.002, 0, -.004
}
K1: Final = 1.2
B: Final = 0.75
SIMILAR: Final = list(WEIGHTS).index("similar")
_COVER, _TYPED, _CALLED = (list(WEIGHTS).index(part) for part in ("cover", "typed", "called"))
MORE_CHUNKS: Final = 3
_MEANT: Final = [list(WEIGHTS).index(part) for part in ("titled", "every", "typed", "called")]  # such a file is meant
_CLOSE: Final = 60  # words: most paragraphs are no longer
_ALL: Final = 0.999  # of a sum of floating-point numbers
_NOT_THERE: Final = 0.7  # share of the best chunk for each chunk that a short file lacks (.3 to .7: +.002 to .008)
_ANYWHERE: Final = 0.5  # share of `close` for other forms of all words, however far apart
_SPREAD: Final = 1.0  # of Σ idf for a file that has the words where no chunk has
_OF_PAIRS: Final = 0.25  # for `typed`, of Σ idf of pairs at least: if each chunk has each word, their idf is nothing
_GAIN: Final = K1 + 1
_OF_CHUNKS: Final = 12  # the first parts are those of a chunk, the others those of the file
FIRST: Final = 10  # hits that most people look at


class Copy(NamedTuple):
    """One file with a content of ``chunks`` chunks. ``name``, ``title`` and ``path_score`` are parts of its score.
    ``counts`` has for each scored word its weight in the name: 1, less for a variant; it is empty where no word
    matches. ``auxiliary``: see `auxiliary_degree`. ``brevity``: log of the factor by which its name is shorter
    than usual, 0 where that says nothing. ``called``: up to Σ idf where the file has the name that was typed. ``news``:
    it is about the changes of each version. ``prose``: it is no code. ``above``: which scored words folders have."""

    file_id: int
    path: bytes
    name: float
    title: float
    path_score: float
    counts: Sequence[float]
    chunks: int
    auxiliary: int = 0
    brevity: float = 0.0
    called: float = 0.0
    news: bool = False
    prose: bool = False
    above: Sequence[bool] = ()


class Ranked(NamedTuple):
    """A content with its score: its best copy, and its chunks as (share of the score, id), best first.

    ``sums`` are the parts before division by ``total``. ``chunks`` is empty for a file found by its path alone.
    ``ranks`` are its places by words and by meaning, if these were put together.
    """

    content_id: int
    copy: Copy
    score: float
    sums: Sequence[float]
    total: float
    chunks: Sequence[tuple[float, int]]
    ranks: tuple[int | None, int | None] | None = None

    @property
    def parts(self) -> tuple[float, ...]:
        """The parts of ``score``, parallel to `WEIGHTS`; they sum up to it. Computed on demand: of a hundred files ten
        are shown."""
        return tuple([value / self.total for value in self.sums])


def rank_files(
    features: FeatureTable,
    content_of: Mapping[int, int],
    copies: Mapping[int, Sequence[Copy]],
    total: float,
    cosines: Cosines = NO_COSINES,
) -> list[Ranked]:
    """Return the contents with a copy that passes the filters, best first. ``content_of``: content ids by chunk id."""
    chunks: dict[int, list[int]] = {}
    for chunk_id in dict.fromkeys((*features.rows, *features.typed, *cosines.nearest)):
        content_id = content_of.get(chunk_id)
        if content_id is not None:
            chunks.setdefault(content_id, []).append(chunk_id)
    scale = _Scale(features, content_of, total, cosines)
    ranked = [_rank_one(content_id, chunks.get(content_id, ()), those, scale) for content_id, those in copies.items()]
    ranked.sort(key=_order)
    return ranked


def covered(file: Ranked) -> float:
    """Return the share of the query's Σ idf that the file's words have, between 0 and 1."""
    return min(1.0, file.sums[_COVER] / file.total / WEIGHTS["cover"])


def code_answers(ranked: Sequence[Ranked]) -> bool:
    """Whether most of the best files are code."""
    best = ranked[:FIRST]
    return 2 * sum(not file.copy.prose for file in best) > len(best)


def prose_later(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the files in the order in which those that are no code lose a share of their score, unless the words in
    them, as they were typed, show that they are meant."""
    return sorted(map(_behind_code, ranked), key=_order)


def _behind_code(file: Ranked) -> Ranked:
    if not file.copy.prose or any(file.sums[part] for part in _MEANT):
        return file
    lost = WEIGHTS["prose"] * file.score
    return file._replace(score=file.score + lost, sums=(*file.sums[:-1], lost * file.total))


def _order(file: Ranked) -> tuple[float, bytes, int]:
    return -file.score, file.copy.path, file.content_id


class _Scale:
    """Turns the features of a chunk into parts of a score."""

    def __init__(self, features: FeatureTable, content_of: Mapping[int, int], total: float, cosines: Cosines) -> None:
        self.total = total
        self._cosines = cosines
        self._similar = total * cosines.weight
        self._rows = features.rows
        self._lengths = features.lengths
        self._idfs = features.idfs
        self._near = features.near
        self._usual = features.usual
        # For stop words, which come last, nothing is known.
        self._written = [*features.written, *repeat(frozenset[int](), len(features.idfs) - len(features.written))]
        self._content = features.idfs[: len(features.written)]
        # Bare words are remembered ones; with a stop word they are a sentence (counted there: functions -.003).
        bare = len(features.idfs) == len(features.written) > 1
        self._whole = [0.0 if place in features.parts else idf for place, idf in enumerate(features.idfs)]
        self._every = sum(self._whole) if bare else math.inf
        self._any_form = bare and is_nowhere_as_typed(features.written)
        self._spread = features.written if may_be_spread(features, content_of) else ()
        weights = tuple(WEIGHTS.values())
        self._weights = weights[:_OF_CHUNKS]
        self._more, self._name, self._title, self._path, self._called, self._short, self._cover = weights[_OF_CHUNKS:-4]
        self.brief, self.auxiliary, self.news, _ = weights[-4:]
        # If few rows have a pair of neighbours, all of them were examined: their number tells how rare the pair is.
        pairs = [row.pairs for row in features.rows.values() if row.pairs]
        self._pairs = [idf_of(sum(map(bool, counts)), features.chunks) for counts in zip(*pairs, strict=True)]
        typed = max(total, _OF_PAIRS * sum(self._pairs))
        self._typed = {chunk_id: typed * value for chunk_id, value in features.typed.items()}

    def without_words(self, chunk_id: int | None, in_name: Sequence[float]) -> tuple[float, ...]:
        """Return the weighted parts of a chunk without the words; None: of a file whose chunks are not examined."""
        words = self._weights[0] * _bm25(in_name, self._idfs, K1)
        typed = self._weights[-2] * self._typed.get(chunk_id, 0.0) if chunk_id else 0.0
        return words, *repeat(0.0, _OF_CHUNKS - 3), typed, self.similar(chunk_id)

    def parts(self, chunk_id: int, content_id: int, in_name: Sequence[float]) -> tuple[float, ...]:
        """Return the weighted parts of a chunk."""
        if (row := self._rows.get(chunk_id)) is None:
            return self.without_words(chunk_id, in_name)
        norm = K1 * (1 - B + B * row.length / (self._usual * self._lengths.get(chunk_id, 1.0)))
        counts = _sums(row.counts, in_name) if in_name else row.counts
        words = written = every = 0.0
        each = zip(counts, row.texts, self._idfs, self._whole, self._written, strict=True)
        for count, text, idf, whole, contents in each:
            if count:
                words += idf * count * _GAIN / (count + norm)
                if text and (contents is None or content_id in contents):
                    written += idf * text * _GAIN / (text + norm)
                    every += whole
                elif text and self._any_form:
                    every += whole
        every = every if every >= self._every * _ALL else 0.0
        close = every * max(0.0, 1 - row.window / _CLOSE) if row.window else 0.0
        if self._any_form:
            every, close = 0.0, close + _ANYWHERE * every
        pairs = _bm25(row.pairs, self._pairs, norm) if row.pairs else 0.0
        near = _bm25(row.near, self._near, norm) if row.near else 0.0
        typed = self._typed.get(chunk_id, 0.0)
        of_text = (words, written, pairs, near, row.symbols, row.heading, row.titled, every, close, row.opening, typed)
        return (*map(mul, self._weights, of_text), self.similar(chunk_id) if self._similar else 0.0)

    def similar(self, chunk_id: int | None) -> float:
        """Return the weighted cosine of a chunk."""
        return self._weights[-1] * self._similar * self._cosines.of(chunk_id) if self._similar else 0.0

    def cover(self, ids: Sequence[int], content_id: int, copy: Copy) -> float:
        """Return the weighted Σ idf of the words that chunks of a file and its name have together."""
        counts = [row.counts for chunk_id in ids if (row := self._rows.get(chunk_id)) is not None]
        found = [*counts, copy.counts] if copy.counts else counts
        covered = self._cover * math.fsum(compress(self._content, map(any, zip(*found, strict=False))))
        if self._spread and is_spread(self._spread, content_id, counts, copy.counts, copy.above):
            covered += _SPREAD * math.fsum(self._content)
        return covered

    def of_copy(self, copy: Copy) -> tuple[float, ...]:
        """Return the weighted parts of a file that depend on its name."""
        return (
            self._name * copy.name,
            self._title * copy.title,
            self._path * copy.path_score,
            self._called * copy.called,
        )

    def short(self, chunks: int) -> float:
        """Return the weighted bonus of a file with so many chunks."""
        return self.total * self._short / math.sqrt(chunks or 1)

    def more(self, scores: Sequence[float], chunks: int) -> float:
        """Return the value of a file's next best chunks. ``scores`` are those of its examined chunks, best first. A
        file without further chunks is not worse for it."""
        absent = max(0, MORE_CHUNKS + 1 - chunks)
        return self._more * (sum(scores[1 : 1 + MORE_CHUNKS]) + _NOT_THERE * absent * scores[0])


def _sums(counts: Sequence[int], in_name: Sequence[float]) -> list[float]:
    """Add the weights of the words in the name. Stop words, which come last, have none."""
    return list(map(add, counts, chain(in_name, repeat(0))))


def _bm25(counts: Sequence[float], idfs: Sequence[float], norm: float) -> float:
    score = 0.0
    for count, idf in zip(counts, idfs, strict=False):  # a hundred rows a search: a generator would take twice as long
        if count:
            score += idf * count * _GAIN / (count + norm)
    return score


def _rank_one(content_id: int, ids: Sequence[int], copies: Sequence[Copy], scale: _Scale) -> Ranked:
    if len(copies) == 1:
        best = copies[0]
        of_name = scale.of_copy(best)
    else:
        best, of_name = min(((copy, scale.of_copy(copy)) for copy in copies), key=_place_of_copy)
    of_copy = (*of_name, scale.short(best.chunks), scale.cover(ids, content_id, best))
    if not ids:
        return _ranked(content_id, best, (*scale.without_words(None, best.counts), 0.0, *of_copy), scale, ())
    if len(ids) == 1:
        (chunk_id,) = ids
        only = scale.parts(chunk_id, content_id, best.counts)
        sums = (*only, scale.more((only[0] + only[1],), best.chunks), *of_copy)
        return _ranked(content_id, best, sums, scale, ((1.0 if any(only) else 0.0, chunk_id),))
    of_chunks = [scale.parts(chunk_id, content_id, best.counts) for chunk_id in ids]
    by_part = list(zip(*of_chunks, strict=True))
    more = scale.more(sorted(map(add, *by_part[:2]), reverse=True), best.chunks)
    sums = (*map(max, by_part), more, *of_copy)
    own = sorted([(-sum(values), chunk_id) for values, chunk_id in zip(of_chunks, ids, strict=True)])
    top = own[0][0] or 1.0
    return _ranked(content_id, best, sums, scale, [(negative / top, chunk_id) for negative, chunk_id in own])


def _ranked(
    content_id: int, copy: Copy, sums: tuple[float, ...], scale: _Scale, chunks: Sequence[tuple[float, int]]
) -> Ranked:
    score, total = sum(sums), scale.total
    brief = scale.brief * copy.brevity * score
    kept = sums[_CALLED] + (sums[_TYPED] if copy.auxiliary == 1 else 0.0)
    auxiliary = scale.auxiliary * (score + brief - kept) if copy.auxiliary else 0.0
    news = scale.news * (score + brief) if copy.news else 0.0
    return Ranked(
        content_id,
        copy,
        (score + brief + auxiliary + news) / total,
        (*sums, brief, auxiliary, news, 0.0),
        total,
        chunks,
    )


def _place_of_copy(rated: tuple[Copy, tuple[float, ...]]) -> tuple[float, int, int, bytes]:
    copy, of_name = rated
    return -sum(of_name), copy.auxiliary, len(copy.path), copy.path
