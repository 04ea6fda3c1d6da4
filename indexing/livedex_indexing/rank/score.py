"""Orders files, and chunks inside a file, by how well they answer. Pure: scores go in, an order comes out.

Invariant: the order is total (ties fall to the path, then the ordinal), scores never rise along it, and at most
`PER_FILE` chunks of one file stand among the first `FIRST`.

A file's score is a sum of parts, each the best of its chunks (the sum over chunks ruins the order: -.09 to -.30),
divided by T, the Σ idf of the words asked:

    words    BM25 over a chunk (text, parts of names, headings) and the words of the file's name; stop words count half
    written  BM25 over the words of the text in files that hold them as they are asked for, not only their stems
    pairs    BM25 over words that are neighbours in the query and in the text, each pair as one word
    near     … over words within eight words of each other, stop words aside: both of them
    symbols  Σ idf of the words that name a definition of the chunk, up to three times for names asked for as a whole
    heading  Σ idf of the words in the chunk's headings, times the share of the headings' words that are asked for
    opening  Σ idf of the words among the first eight of the chunk's text
    more     words and written of the three next best chunks; in place of each that a file has not, most of its best
    name     Σ idf of the words in the file's name, a smaller share of those that a word there is akin to
    title    the same, times the share of the name's words that are asked for
    path     BM25 over the words of the path
    short    1 / √ number of the file's chunks: of what says as much, the shorter
    brief    what a file of code gains by a short name, or loses by a long one: a share of all the above
    beside   what a file of code loses that is a test, an example, vendored or generated: a share of all the others
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from operator import add
from typing import Final, NamedTuple

from livedex_indexing.query.word_counts import idf_of
from livedex_indexing.rank.features import Weighing

# Tuned on the dev halves of the sets of docs/decisions/2026-11-21-ranking.md: the one place they are kept.
WEIGHTS: Final[Mapping[str, float]] = {
    "words": 1.0,
    "written": 0.25,
    "pairs": 0.3,
    "near": 0.1,
    "symbols": 0.1,
    "heading": 0.3,
    "opening": 0.2,
    "more": 0.05,
    "name": 0.3,
    "title": 1.0,
    "path": 0.45,
    "short": 0.1,
    "brief": 0.035,  # for each factor e: functions, dev + .002 to .005, files of C 0; .05 gains no more on all sets
    "beside": -0.15,  # modules of the library among their tests: dev .724 → .765; more would hide tests
}
K1: Final = 1.2
B: Final = 0.75
MORE_CHUNKS: Final = 3
_NOT_THERE: Final = 0.7  # of its best chunk is worth each that a short file has not (.3 to .7: + .002 to .008 each set)
_OF_CHUNKS: Final = 7  # the first so many parts are those of a chunk, the others of the file
DAMPING: Final = 0.5  # of a file's second chunk, its square of the third: a page shows files first
PER_FILE: Final = 3
FIRST: Final = 10


class Copy(NamedTuple):
    """One file that holds a content of so many ``chunks``. ``name``, ``title`` and ``path_score`` are parts of its
    score; ``counts`` says of each word asked whether it stands in the name: 1, less where a word there is akin to it;
    it is empty where none does. ``beside``: the file is less likely meant than the code that it belongs to.
    ``brevity``: log of the times that its name is shorter than usual, 0 where that says nothing."""

    file_id: int
    path: bytes
    name: float
    title: float
    path_score: float
    counts: Sequence[float]
    chunks: int
    beside: bool = False
    brevity: float = 0.0


class Ranked(NamedTuple):
    """A content in its place: the copy that stands for it, and its chunks (share of the score, id), best first.

    ``sums`` are the parts before they are divided by ``total``. ``chunks`` is empty for a file found by its path alone.
    """

    content_id: int
    copy: Copy
    score: float
    sums: Sequence[float]
    total: float
    chunks: Sequence[tuple[float, int]]

    @property
    def parts(self) -> tuple[float, ...]:
        """They run beside `WEIGHTS` and sum up to ``score``. Of a hundred files ten are shown: only theirs are made."""
        return tuple([value / self.total for value in self.sums])


class Placed(NamedTuple):
    """A hit in its place. ``chunk_id`` is None where none of the file's chunks matched; ``file_id`` where the shortest
    path may stand for the content. ``parts`` runs beside `WEIGHTS` and sums up to ``score``."""

    content_id: int
    file_id: int | None
    chunk_id: int | None
    score: float
    parts: Sequence[float]


def rank_files(
    weighing: Weighing, content_of: Mapping[int, int], copies: Mapping[int, Sequence[Copy]], total: float
) -> list[Ranked]:
    """The contents of which a copy is admitted, best first. ``content_of``: by chunk id."""
    chunks: dict[int, list[int]] = {}
    for chunk_id in weighing.rows:
        content_id = content_of.get(chunk_id)
        if content_id is not None:
            chunks.setdefault(content_id, []).append(chunk_id)
    scale = _Scale(weighing)
    ranked = [
        _rank_one(content_id, chunks.get(content_id, ()), those, scale, total) for content_id, those in copies.items()
    ]
    ranked.sort(key=lambda file: (-file.score, file.copy.path, file.content_id))
    return ranked


def arrange(files: Sequence[Ranked], *, one_each: bool, crowd: bool) -> Iterator[Placed]:
    """The files' chunks as one list of hits. ``one_each``: the best chunk of each file. ``crowd``: a single file was
    asked for, so that its chunks may fill the page, undamped."""
    if one_each:
        return (_place(file, 0, file.score) for file in files)
    damping = 1.0 if crowd else DAMPING
    placed = [
        (-file.score * (damping**place * file.chunks[place][0] if place else 1.0), order, place)
        for order, file in enumerate(files)
        for place in range(max(1, len(file.chunks)))
    ]
    placed.sort()
    return (_place(files[order], place, -negative) for negative, order, place in placed)


def spread(placed: Iterable[Placed]) -> Iterator[Placed | None]:
    """Moves a file's fourth chunk and those after it behind the first ten places.

    Where too few others stand before them, the places that are left over are None: nothing is served there, and the
    next page goes on behind them.
    """
    hits = iter(placed)
    later: list[Placed] = []
    held: dict[int, int] = {}
    served, floor = 0, 0.0
    for hit in hits:
        if held.get(hit.content_id, 0) == PER_FILE:
            later.append(hit)
            continue
        held[hit.content_id] = held.get(hit.content_id, 0) + 1
        served, floor = served + 1, hit.score
        yield hit
        if served == FIRST:
            break
    else:
        if later:
            yield from [None] * (FIRST - served)
    rest = heapq.merge(later, hits, key=lambda hit: -hit.score)
    yield from (hit if hit.score <= floor else _lowered(hit, floor) for hit in rest)


class _Scale:
    """What a chunk's counts are worth."""

    def __init__(self, weighing: Weighing) -> None:
        self._rows = weighing.rows
        self._idfs = weighing.idfs
        self._near = weighing.near
        self._usual = weighing.usual
        # Of stop words, which come last, nothing is known.
        self._written = [*weighing.written, *repeat(frozenset[int](), len(weighing.idfs) - len(weighing.written))]
        self._weights = tuple(WEIGHTS.values())[:_OF_CHUNKS]
        # As far as the rows with a pair of neighbours are few, all were looked into: that many is how rare it is.
        pairs = [row.pairs for row in weighing.rows.values() if row.pairs]
        held = [sum(map(bool, counts)) for counts in zip(*pairs, strict=True)]
        self._pairs = [idf_of(count, weighing.chunks) for count in held]

    def parts(self, chunk_id: int, content_id: int, in_name: Sequence[float]) -> tuple[float, ...]:
        """The weighted parts of a chunk."""
        row = self._rows[chunk_id]
        norm = K1 * (1 - B + B * row.length / self._usual)
        counts = _sums(row.counts, in_name) if in_name else row.counts
        words = written = 0.0
        for count, text, idf, held in zip(counts, row.texts, self._idfs, self._written, strict=True):
            if count:
                words += idf * count * (K1 + 1) / (count + norm)
                if text and (held is None or content_id in held):
                    written += idf * text * (K1 + 1) / (text + norm)
        of_words, of_written, of_pairs, of_near, of_symbols, of_heading, of_opening = self._weights
        return (
            of_words * words,
            of_written * written,
            of_pairs * _bm25(row.pairs, self._pairs, norm) if row.pairs else 0.0,
            of_near * _bm25(row.near, self._near, norm) if row.near else 0.0,
            of_symbols * row.symbols,
            of_heading * row.heading,
            of_opening * row.opening,
        )


def _sums(counts: Sequence[int], in_name: Sequence[float]) -> list[float]:
    """Of stop words, which come last, no name says anything."""
    return list(map(add, counts, chain(in_name, repeat(0))))


def _bm25(counts: Sequence[float], idfs: Sequence[float], norm: float) -> float:
    score = 0.0
    for count, idf in zip(counts, idfs, strict=False):  # a hundred rows a search: a generator would take twice as long
        if count:
            score += idf * count * (K1 + 1) / (count + norm)
    return score


def _rank_one(content_id: int, ids: Sequence[int], copies: Sequence[Copy], scale: _Scale, total: float) -> Ranked:
    best = copies[0] if len(copies) == 1 else min(copies, key=_place_of_copy)
    of_copy = (*_of_copy(best), total * WEIGHTS["short"] / math.sqrt(best.chunks or 1))
    if not ids:
        return _ranked(content_id, best, (0.0,) * (_OF_CHUNKS + 1) + of_copy, total, ())
    if len(ids) == 1:
        (chunk_id,) = ids
        only = scale.parts(chunk_id, content_id, best.counts)
        sums = (*only, _more([only[0] + only[1]], best.chunks), *of_copy)
        return _ranked(content_id, best, sums, total, [(1.0 if any(only) else 0.0, chunk_id)])
    of_chunks = {chunk_id: scale.parts(chunk_id, content_id, best.counts) for chunk_id in ids}
    by_part = list(zip(*of_chunks.values(), strict=True))
    more = _more(sorted(map(add, *by_part[:2]), reverse=True), best.chunks)
    sums = (*map(max, by_part), more, *of_copy)
    own = sorted([(-sum(values), chunk_id) for chunk_id, values in of_chunks.items()])
    top = own[0][0] or 1.0
    return _ranked(content_id, best, sums, total, [(negative / top, chunk_id) for negative, chunk_id in own])


def _ranked(
    content_id: int, copy: Copy, sums: tuple[float, ...], total: float, chunks: Sequence[tuple[float, int]]
) -> Ranked:
    score = sum(sums)
    brief = WEIGHTS["brief"] * copy.brevity * score
    beside = WEIGHTS["beside"] * (score + brief) if copy.beside else 0.0
    return Ranked(content_id, copy, (score + brief + beside) / total, (*sums, brief, beside), total, chunks)


def _place_of_copy(copy: Copy) -> tuple[float, bool, int, bytes]:
    return -sum(_of_copy(copy)), copy.beside, len(copy.path), copy.path


def _more(scores: Sequence[float], chunks: int) -> float:
    """What a file's next best chunks are worth, ``scores`` being those looked into, best first. One that has no others
    is no worse for it."""
    absent = max(0, MORE_CHUNKS + 1 - chunks)
    return WEIGHTS["more"] * (sum(scores[1 : 1 + MORE_CHUNKS]) + _NOT_THERE * absent * scores[0])


def _of_copy(copy: Copy) -> tuple[float, float, float]:
    return WEIGHTS["name"] * copy.name, WEIGHTS["title"] * copy.title, WEIGHTS["path"] * copy.path_score


def _place(file: Ranked, place: int, score: float) -> Placed:
    chunk_id = file.chunks[place][1] if file.chunks else None
    hit = Placed(file.content_id, file.copy.file_id, chunk_id, file.score, file.parts)
    return hit if score == file.score else _lowered(hit, score)


def _lowered(hit: Placed, score: float) -> Placed:
    factor = score / hit.score if hit.score else 0.0
    return hit._replace(score=score, parts=tuple(value * factor for value in hit.parts))
