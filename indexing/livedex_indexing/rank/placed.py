"""Puts the chunks of ranked files into one list of hits.

Invariant: scores never rise along the list, and at most `PER_FILE` chunks of one file are among the first `FIRST` hits
if enough others match.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from livedex_indexing.rank.score import FIRST, Ranked

DAMPING: Final = 0.5  # factor for a file's second chunk, its square for the third: a page shows files first
PER_FILE: Final = 3


class Placed(NamedTuple):
    """A hit in its place. ``chunk_id`` is None where no chunk of the file matched; ``file_id`` is None where the copy
    with the shortest path may represent the content. ``parts`` is parallel to `WEIGHTS` and sums up to ``score``."""

    content_id: int
    file_id: int | None
    chunk_id: int | None
    score: float
    parts: Sequence[float]
    ranks: tuple[int | None, int | None] | None = None


def arrange(files: Sequence[Ranked], *, group_by_file: bool, no_file_limit: bool) -> Iterator[Placed]:
    """Return the chunks of the files as one list of hits.

    ``group_by_file``: only the best chunk of each file. ``no_file_limit``: one file is named, so all its chunks count.
    """
    if group_by_file:
        return (_place(file, 0, file.score) for file in files)
    damping = 1.0 if no_file_limit else DAMPING
    placed = [
        (-file.score * (damping**place * file.chunks[place][0] if place else 1.0), order, place)
        for order, file in enumerate(files)
        for place in range(max(1, len(file.chunks)))
    ]
    placed.sort()
    return (_place(files[order], place, -negative) for negative, order, place in placed)


def diversify(placed: Iterable[Placed]) -> Iterator[Placed]:
    """Move a file's fourth chunk and those after it behind the first ten hits, or behind all other hits if these are
    fewer."""
    hits = iter(placed)
    later: list[Placed] = []
    seen: dict[int, int] = {}
    served, floor = 0, math.inf
    for hit in hits:
        if seen.get(hit.content_id, 0) == PER_FILE:
            later.append(hit)
            continue
        seen[hit.content_id] = seen.get(hit.content_id, 0) + 1
        served, floor = served + 1, hit.score
        yield hit
        if served == FIRST:
            break
    rest = heapq.merge(later, hits, key=lambda hit: -hit.score)
    yield from (hit if hit.score <= floor else lowered(hit, floor) for hit in rest)


def _place(file: Ranked, place: int, score: float) -> Placed:
    chunk_id = file.chunks[place][1] if file.chunks else None
    hit = Placed(file.content_id, file.copy.file_id, chunk_id, file.score, file.parts, file.ranks)
    return hit if score == file.score else lowered(hit, score)


def lowered(hit: Placed, score: float) -> Placed:
    """Return the hit with another score, and its parts in proportion."""
    factor = score / hit.score if hit.score else 0.0
    return hit._replace(score=score, parts=tuple(value * factor for value in hit.parts))
