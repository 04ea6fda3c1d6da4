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
    """A content in its place: the copy that stands for it, and its chunks (id, share of the score), best first.

    ``parts`` sum up to ``score``. ``chunks`` is empty for a file found by its path alone.
    """

    content_id: int
    copy: Copy
    score: float
    parts: Mapping[str, float]
    chunks: Sequence[tuple[int, float]]


class Placed(NamedTuple):
    """A hit in its place. ``chunk_id`` is None where none of the file's chunks matched. ``parts`` sum to ``score``."""

    content_id: int
    file_id: int | None
    chunk_id: int | None
    score: float
    parts: Mapping[str, float]


def rank_files(
    lists: Lists, content_of: Mapping[int, int], copies: Mapping[int, Sequence[Copy]], total: float
) -> list[Ranked]:
    """The contents that any list names and of which a copy is admitted, best first. ``content_of``: by chunk id."""
    chunks = _chunk_parts(lists, content_of)
    ranked = [
        _rank_one(content_id, chunks.get(content_id, {}), those, total) for content_id, those in copies.items() if those
    ]
    return sorted(ranked, key=lambda file: (-file.score, file.copy.path, file.content_id))


def arrange(files: Sequence[Ranked], *, one_each: bool, crowd: bool) -> list[Placed]:
    """The files' chunks as one list of hits. ``one_each``: the best chunk of each file. ``crowd``: a single file was
    asked for, so that its chunks may fill the page, undamped."""
    if one_each:
        return [_place(file, 0, 1.0) for file in files]
    placed = [
        _place(file, place, 1.0 if crowd else DAMPING**place)
        for file in files
        for place in range(max(1, len(file.chunks)))
    ]
    order = {file.content_id: number for number, file in enumerate(files)}
    placed.sort(key=lambda hit: (-hit.score, order[hit.content_id]))  # stable: a file's chunks keep their order
    return placed


def spread(placed: Iterable[Placed]) -> Iterator[Placed]:
    """Moves a file's fourth chunk and those after it behind the first ten hits; where no ten others stand before
    them they are left out (asking for the file's ``path`` gives them all)."""
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
        return
    rest = heapq.merge(later, hits, key=lambda hit: -hit.score)
    yield from (hit if hit.score <= floor else _lowered(hit, floor) for hit in rest)


def _chunk_parts(lists: Lists, content_of: Mapping[int, int]) -> dict[int, dict[int, dict[str, float]]]:
    """The weighted parts of each chunk's score, by content and chunk."""
    found: dict[int, dict[int, dict[str, float]]] = {}
    named = (("words", lists.words), ("pairs", lists.pairs), ("near", lists.near), ("symbols", lists.symbols))
    for name, scores in named:
        for chunk_id, score in scores.items():
            content_id = content_of.get(chunk_id)
            if content_id is not None:
                found.setdefault(content_id, {}).setdefault(chunk_id, {})[name] = WEIGHTS[name] * score
    return found


def _rank_one(
    content_id: int, chunks: Mapping[int, Mapping[str, float]], copies: Sequence[Copy], total: float
) -> Ranked:
    best = min(copies, key=lambda copy: (-_of_copy(copy), len(copy.path), copy.path))
    parts = {name: max((chunk.get(name, 0.0) for chunk in chunks.values()), default=0.0) for name in WEIGHTS}
    parts["name"], parts["path"] = WEIGHTS["name"] * best.name, WEIGHTS["path"] * best.path_score
    parts = {name: value / total for name, value in parts.items() if value}
    own = sorted(((-sum(values.values()), chunk_id) for chunk_id, values in chunks.items()))
    top = -own[0][0] if own else 0.0
    shares = [(chunk_id, -negative / top if top else 1.0) for negative, chunk_id in own]
    return Ranked(content_id, best, sum(parts.values()), parts, shares)


def _of_copy(copy: Copy) -> float:
    return WEIGHTS["name"] * copy.name + WEIGHTS["path"] * copy.path_score


def _place(file: Ranked, place: int, damping: float) -> Placed:
    chunk_id, share = file.chunks[place] if file.chunks else (None, 1.0)
    hit = Placed(file.content_id, file.copy.file_id, chunk_id, file.score, file.parts)
    return hit if share * damping == 1.0 else _lowered(hit, file.score * share * damping)


def _lowered(hit: Placed, score: float) -> Placed:
    factor = score / hit.score if hit.score else 0.0
    return hit._replace(score=score, parts={name: value * factor for name, value in hit.parts.items()})
