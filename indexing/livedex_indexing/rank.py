"""Orders files, and chunks inside a file, by how well they answer. Pure: scores go in, an order comes out.

Invariant: the order is total (ties fall to the path, then the ordinal), scores never rise along it, and at most
`PER_FILE` chunks of one file stand among the first `FIRST`.

A file's score is a sum of parts, each the best of its chunks (the sum over chunks ruins the order: -.09 to -.30),
divided by T, the Σ idf of the words asked:

    words + .3 pairs + .15 near + .6 symbols        of chunks
    + .5 name + .5 path                             of the copy of the file that has most of them
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from livedex_indexing.postings import Lists

# Weights measured on the three sets of ranking.md ("The recipe"): the one place they are kept.
WEIGHTS: Final[Mapping[str, float]] = {
    "words": 1.0,  # best BM25 of a chunk over all columns
    "pairs": 0.3,  # neighbours of the query are neighbours in the text
    "near": 0.15,  # … or within eight words
    "symbols": 0.6,  # Σ idf of the words that name a definition of the chunk
    "name": 0.5,  # Σ idf of the words in the file's name
    "path": 0.5,  # BM25 over the words of the path
}
_WEIGHT_OF: Final = tuple(WEIGHTS.values())
_OF_CHUNKS: Final = 4  # the first so many parts are those of a chunk
DAMPING: Final = 0.5  # of a file's second chunk, its square of the third: a page shows files first
PER_FILE: Final = 3
FIRST: Final = 10


class Copy(NamedTuple):
    """One file that holds a content. ``name`` is the part of its score for its name, ``path`` for all of its path."""

    file_id: int
    path: bytes
    name: float
    path_score: float


class Ranked(NamedTuple):
    """A content in its place: the copy that stands for it, and its chunks (share of the score, id), best first.

    ``parts`` runs beside `WEIGHTS` and sums up to ``score``. ``chunks`` is empty for a file found by its path alone.
    """

    content_id: int
    copy: Copy
    score: float
    parts: Sequence[float]
    chunks: Sequence[tuple[float, int]]


class Placed(NamedTuple):
    """A hit in its place. ``chunk_id`` is None where none of the file's chunks matched; ``file_id`` where the shortest
    path may stand for the content. ``parts`` runs beside `WEIGHTS` and sums up to ``score``."""

    content_id: int
    file_id: int | None
    chunk_id: int | None
    score: float
    parts: Sequence[float]


def rank_files(
    lists: Lists, content_of: Mapping[int, int], copies: Mapping[int, Sequence[Copy]], total: float
) -> list[Ranked]:
    """The contents that any list names and of which a copy is admitted, best first. ``content_of``: by chunk id."""
    chunks = _chunk_parts(lists, content_of)
    ranked = [_rank_one(content_id, chunks.get(content_id, {}), those, total) for content_id, those in copies.items()]
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


def _chunk_parts(lists: Lists, content_of: Mapping[int, int]) -> dict[int, dict[int, list[float]]]:
    """The weighted parts of each chunk's score, by content and chunk."""
    found: dict[int, dict[int, list[float]]] = {}
    for part, scores in enumerate((lists.words, lists.pairs, lists.near, lists.symbols)):
        weight = _WEIGHT_OF[part]
        for chunk_id, score in scores.items():
            content_id = content_of.get(chunk_id)
            if content_id is not None:
                found.setdefault(content_id, {}).setdefault(chunk_id, [0.0] * _OF_CHUNKS)[part] = weight * score
    return found


def _rank_one(content_id: int, chunks: Mapping[int, Sequence[float]], copies: Sequence[Copy], total: float) -> Ranked:
    best = copies[0] if len(copies) == 1 else min(copies, key=lambda c: (-_of_copy(c), len(c.path), c.path))
    of_copy = (WEIGHTS["name"] * best.name / total, WEIGHTS["path"] * best.path_score / total)
    if not chunks:
        return Ranked(content_id, best, sum(of_copy), (0.0,) * _OF_CHUNKS + of_copy, ())
    parts = [max(values) / total for values in zip(*chunks.values(), strict=True)]
    own = sorted((-sum(values), chunk_id) for chunk_id, values in chunks.items())
    top = own[0][0] or 1.0
    shares = [(negative / top, chunk_id) for negative, chunk_id in own]
    return Ranked(content_id, best, sum(parts) + sum(of_copy), (*parts, *of_copy), shares)


def _of_copy(copy: Copy) -> float:
    return WEIGHTS["name"] * copy.name + WEIGHTS["path"] * copy.path_score


def _place(file: Ranked, place: int, score: float) -> Placed:
    chunk_id = file.chunks[place][1] if file.chunks else None
    hit = Placed(file.content_id, file.copy.file_id, chunk_id, file.score, file.parts)
    return hit if score == file.score else _lowered(hit, score)


def _lowered(hit: Placed, score: float) -> Placed:
    factor = score / hit.score if hit.score else 0.0
    return hit._replace(score=score, parts=tuple(value * factor for value in hit.parts))
