"""One standing query of one client: what it asks, and which files it still has to be told about.

Invariant: what is owed is bounded: past a number of files whole roots are owed instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.standing_query import FileKey, StandingQuery
from livedex_ipc.server.rpc_server import Call

MAX_FILES: Final = 20_000  # about 4 MB
RETRY_S: Final = 0.2  # until a file is looked at again that was not as it is indexed; doubled each time …
RETRY_MAX_S: Final = 30.0
PATIENCE: Final = 4  # so many times its own length a query waits longer than another


class Dirty:
    """Files to look at: single ones, and all of some roots."""

    __slots__ = ("files", "roots")

    def __init__(self) -> None:
        self.files: set[FileKey] = set()
        self.roots: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self.files or self.roots)

    def add(self, files: Iterable[FileKey], roots: Iterable[int] = ()) -> None:
        self.roots.update(roots)
        self.files.update(files)
        if len(self.files) > MAX_FILES:
            self.roots.update(root_id for root_id, _ in self.files)
            self.files.clear()

    def merge(self, other: Dirty) -> None:
        self.add(other.files, other.roots)

    def take(self) -> Dirty:
        """All of it; nothing is left."""
        taken = Dirty()
        taken.files, taken.roots = self.files, self.roots
        self.files, self.roots = set(), set()
        return taken


class Subscription:
    """``open``: its first answer is out, so that it may be told of changes; ``closed``: it ended."""

    def __init__(self, number: int, call: Call, query: StandingQuery, style: Style) -> None:
        self.id = number
        self.call = call
        self.connection = call.connection_closed  # tells one connection from another
        self.query = query
        self.style = style
        self.open = False
        self.closed = False
        self.pending = Dirty()
        self.notify_s = 0.0  # how long it took to tell it the last time
        self._pending_since = 0.0
        self._unstable: set[FileKey] = set()  # changed on disk when they were to be shown
        self._retry_s = RETRY_S
        self.retry_at = float("inf")

    def add_pending(self, files: Iterable[FileKey], roots: Iterable[int], now: float) -> None:
        """It has to be told of these too, and could not be yet."""
        if not self.pending:
            self._pending_since = now
        self.pending.add(files, roots)

    def due_order(self, now: float) -> float:
        """Sorts those that are to be told: first who is told quickly, but nobody waits for ever."""
        return (self._pending_since if self.pending else now) + PATIENCE * self.notify_s

    def retry_later(self, files: Iterable[FileKey], now: float) -> None:
        """Of these files nothing could be said now. They are owed again after a while, also if no change is heard."""
        before = len(self._unstable)
        self._unstable.update(files)
        if len(self._unstable) > before:
            self.retry_at = min(self.retry_at, now + self._retry_s)
            self._retry_s = min(2 * self._retry_s, RETRY_MAX_S)

    def retry(self, now: float) -> None:
        """What was in doubt for long enough is owed."""
        if now >= self.retry_at:
            self.add_pending(self._unstable, (), now)
            self._unstable = set()
            self.retry_at = float("inf")

    def settled(self) -> None:
        """What was shown was as it is indexed."""
        if not self._unstable:
            self._retry_s = RETRY_S
