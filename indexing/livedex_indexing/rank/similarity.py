"""What ranking needs of vectors: how near chunks are to the query in meaning.

Invariant: a chunk without a vector yet is neither better nor worse for it: it counts as the usual cosine of the chunks
that the words found.
"""

from __future__ import annotations

import statistics
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

from livedex_indexing.query.filters import ALIVE, Condition, ResolvedFilters
from livedex_indexing.rank.postings import filter_chunks
from livedex_indexing.store.read_pool import Reader

ENOUGH: Final = 50  # nearest chunks that pass the filters: farther ones are not asked for
_PASSING = "SELECT rowid FROM postings WHERE {}"


class Similarity(Protocol):
    """The vectors of an index, compared with those of one query. ``weight``: what a cosine of 1 is worth in units of
    our score."""

    @property
    def weight(self) -> float: ...

    def nearest(self, among: Sequence[int] | None) -> dict[int, float]:
        """Return the nearest chunks with their cosines; ``among``: only of these, None: of all."""

    def cosines(self, ids: Collection[int]) -> dict[int, float]:
        """Return the cosines of chunks; those without a vector are left out."""

    def towards(self, chunk_id: int, share: float) -> Similarity:
        """Return the similarity to the query and to this chunk, which counts ``share`` as much (between 0 and 1); that
        to the query alone if the chunk has no vector."""


class Cosines(NamedTuple):
    """The cosines of the chunks of one answer. ``nearest``: those found by their vectors; ``usual``: counts for a chunk
    without one."""

    by_chunk: Mapping[int, float] = {}
    nearest: Collection[int] = ()
    usual: float = 0.0
    weight: float = 0.0

    def of(self, chunk_id: int | None) -> float:
        """Return the cosine of a chunk; None: of a file whose chunks are not examined."""
        return self.usual if chunk_id is None else self.by_chunk.get(chunk_id, self.usual)


NO_COSINES: Final = Cosines()


def nearest_chunks(reader: Reader, similarity: Similarity, resolved: ResolvedFilters) -> dict[int, float]:
    """Return the chunks nearest to the query that pass the filters. If too few of the nearest of all pass, those that
    pass are listed first, and the nearest of them taken."""
    best = similarity.nearest(None)
    passing = filter_chunks(reader, best, resolved) if best else []
    if best and len(passing) < ENOUGH and resolved.rows not in (Condition(), ALIVE):
        sql, values = resolved.rows
        best = similarity.nearest([row for (row,) in reader.rows(_PASSING.format(sql), values)])
        passing = list(best)
    return {chunk_id: best[chunk_id] for chunk_id in passing}


def cosines_of(similarity: Similarity, nearest: Mapping[int, float], found: Collection[int]) -> Cosines:
    """Return the cosines of the ``nearest`` chunks and of those ``found`` by words."""
    of_found = similarity.cosines([chunk_id for chunk_id in found if chunk_id not in nearest])
    of_found |= {chunk_id: nearest[chunk_id] for chunk_id in found if chunk_id in nearest}
    usual = statistics.median(of_found.values()) if of_found else 0.0
    return Cosines({**nearest, **of_found}, tuple(nearest), usual, similarity.weight)
