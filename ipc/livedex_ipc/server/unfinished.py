"""The memory that unfinished requests use, over all connections.

Invariant: the requests that are counted use at most the limit, or the largest of them is named to be refused.
"""

from __future__ import annotations

from typing import Generic, TypeVar

T = TypeVar("T")


class UnfinishedRequests(Generic[T]):
    """``limit``: bytes, for all connections together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes: dict[T, int] = {}
        self._total = 0

    @property
    def total(self) -> int:
        return self._total

    def count(self, connection: T, size: int) -> T | None:
        """Note what a connection keeps of requests. Return the connection to refuse; None while there is room.

        That is the one that keeps most; of several, the one that has kept something for longest.
        """
        self._total += size - self._bytes.pop(connection, 0)
        if size:
            self._bytes[connection] = size
        if self._total <= self._limit:
            return None
        return max(self._bytes, key=lambda known: self._bytes[known])
