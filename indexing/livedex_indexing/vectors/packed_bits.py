"""The signs of all vectors as packed bits in memory: the chunks whose signs are most like a query.

Two sieves: by the number of signs that a query has, too, then by the sum of the query's numbers with these signs. The
second tells twice as much, and costs thirty times as much for each chunk.

Invariant: a chunk is in it from the moment it is added until it is removed; a search sees a state between two changes.
One thread changes it, any thread searches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import numpy as np

# How many chunks pass each sieve: a share of the index between two bounds. Of 100,000 vectors in 20,000 clusters, the
# ten nearest are among the 2,000 that are left with a probability of .98, and among 4,000 by the first sieve alone .94.
BY_COUNT: Final = range(5_000, 50_000)
RESCORED: Final = range(500, 4_000)  # their cosines decide, 3 us each
_COUNT_SHARE: Final = 5
_SHARE: Final = 50
_FIRST: Final = 4_096  # places at first
_WORD: Final = 64


_SIGNS: Final[Any] = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1


class PackedBits:
    """48 bytes a chunk for 384 dimensions, and 9 for its id."""

    def __init__(self, dimensions: int) -> None:
        self._words = -(-dimensions // _WORD)
        self._dimensions = dimensions
        self._ids: Any = np.zeros(_FIRST, dtype=np.int64)
        self._valid: Any = np.zeros(_FIRST, dtype=bool)
        self._bits: Any = np.zeros((self._words, _FIRST), dtype=np.uint64)
        self._count = 0
        self.holes = 0

    def add(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Add chunks with their stored vectors."""
        if not rows:
            return
        vectors = np.frombuffer(b"".join([vector for _, vector in rows]), dtype=np.int8)
        end = self._count + len(rows)
        if end > len(self._ids):
            self._grow(max(end, 2 * len(self._ids)))
        place = slice(self._count, end)
        self._ids[place] = [chunk_id for chunk_id, _ in rows]
        self._bits[:, place] = self._packed(vectors.reshape(len(rows), self._dimensions)).T
        self._valid[place] = True
        self._count = end

    def remove(self, ids: Collection[int]) -> None:
        gone = np.isin(self._ids[: self._count], list(ids)) & self._valid[: self._count]
        self._valid[: self._count][gone] = False
        self.holes += int(gone.sum())

    def nearest(self, vector: Sequence[float], among: Sequence[int] | None) -> list[int]:
        """Return the chunks with the most signs in common, in no order; ``among``: only of these, None: of all."""
        count = self._count
        ids, valid, bits = self._ids[:count], self._valid[:count], self._bits
        if among is not None:
            valid = valid & np.isin(ids, np.asarray(among, dtype=np.int64))
        query = self._packed(np.asarray([vector], dtype=np.float32))[0]
        distance = np.zeros(count, dtype=np.uint16)
        for word in range(self._words):
            distance += np.bitwise_count(bits[word, :count] ^ query[word])
        distance[~valid] = np.iinfo(np.uint16).max
        passing = min(int(valid.sum()), _between(count // _COUNT_SHARE, BY_COUNT))
        if not passing:
            return []
        best = np.argpartition(distance, passing - 1)[:passing]
        wanted = min(passing, _between(count // _SHARE, RESCORED))
        if wanted < passing:
            best = best[np.argpartition(-self._sums(vector, best), wanted - 1)[:wanted]]
        found: list[int] = ids[best].tolist()
        return found

    def _sums(self, vector: Sequence[float], places: Any) -> Any:
        """Return the sum of the vector's numbers, each with the sign that a chunk has there, for each of the places."""
        padded = np.zeros(self._words * _WORD, dtype=np.float32)
        padded[: self._dimensions] = vector
        tables = padded.reshape(-1, 8) @ _SIGNS.T  # the sum for each byte of signs
        packed = np.ascontiguousarray(self._bits[:, places].T).view(np.uint8)
        total = np.zeros(len(places), dtype=np.float32)
        for byte, table in enumerate(tables):
            total += table[packed[:, byte]]
        return total

    def _packed(self, vectors: Any) -> Any:
        packed = np.packbits(vectors > 0, axis=1)
        full = np.zeros((len(vectors), self._words * _WORD // 8), dtype=np.uint8)
        full[:, : packed.shape[1]] = packed
        return full.view(np.uint64)

    def _grow(self, size: int) -> None:
        ids, valid = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=bool)
        bits = np.zeros((self._words, size), dtype=np.uint64)
        count = self._count
        ids[:count], valid[:count], bits[:, :count] = self._ids[:count], self._valid[:count], self._bits[:, :count]
        self._ids, self._valid, self._bits = ids, valid, bits


def _between(number: int, bounds: range) -> int:
    return max(bounds.start, min(number, bounds.stop))
