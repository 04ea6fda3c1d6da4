"""Counts the tokens of an index, so that an embedder that weighs its tokens by frequency knows them.

Invariant: the frequencies are those of a sample of the texts that are embedded; they are kept with the vectors, which
are all made with the same ones.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

from livedex_indexing.plugins import Embedder
from livedex_indexing.store.read_pool import ReadPool
from livedex_indexing.vectors.chunk_texts import read_texts

SAMPLE: Final = 1_500  # chunks, spread over the index
GROWTH: Final = 4  # an index with so many times the chunks is counted again
_TEXTS: Final = 64

_COUNT = "SELECT count(*), total(chunks) FROM contents WHERE unused_since IS NULL"
_EVERY = "SELECT id FROM contents WHERE unused_since IS NULL AND chunks > 0 AND id % ? = 0 ORDER BY id LIMIT ?"


@runtime_checkable
class WeighsTokens(Protocol):
    """An embedder that weighs tokens by their frequency."""

    def count(self, texts: Sequence[str]) -> list[int]:
        """Count each token in the texts."""

    def with_frequencies(self, frequencies: Sequence[float]) -> Embedder:
        """Return an embedder of the same model that weighs tokens by these shares."""


def chunks_in(pool: ReadPool) -> int:
    with pool.connection() as reader:
        return int(reader.rows(_COUNT)[0][1])


def frequencies_of(pool: ReadPool, roots: Mapping[int, bytes], embedder: WeighsTokens) -> array[float] | None:
    """Return the share of each token among those of a sample of the index; None if nothing can be read."""
    with pool.connection() as reader:
        contents, chunks = reader.rows(_COUNT)[0]
        step = max(1, int(chunks) // SAMPLE)
        ids = [row[0] for row in reader.rows(_EVERY, (step, max(1, int(contents))))]
        total: list[int] | None = None
        waiting: list[str] = []
        for content_id in ids:
            found = read_texts(reader, content_id, roots)
            waiting += found.texts if found is not None else []
            if len(waiting) >= _TEXTS:
                total, waiting = _added(total, embedder.count(waiting)), []
        total = _added(total, embedder.count(waiting)) if waiting else total
    if total is None or not any(total):
        return None
    everything = sum(total)
    return array("f", [count / everything for count in total])


def _added(total: list[int] | None, counts: list[int]) -> list[int]:
    return counts if total is None else [a + b for a, b in zip(total, counts, strict=True)]
