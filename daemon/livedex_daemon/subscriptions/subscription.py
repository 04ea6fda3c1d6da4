"""One standing query, and the files whose changes it was not compared with yet.

Invariant: the pending set is bounded: beyond ``MAX_FILES`` files, whole roots are pending instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.search.standing_query import FileKey, StandingQuery
from livedex_ipc.server.rpc_server import Call

MAX_FILES: Final = 20_000  # about 4 MB
RETRY_S: Final = 0.2  # before a file that differs from its indexed state is checked again; doubled each time …
RETRY_MAX_S: Final = 30.0  # … up to this
PATIENCE: Final = 4  # a query yields to others for this many times its own duration


class Dirty:
    """Files to check: single ones, and all files of some roots."""

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
        """Return all files and roots, and leave this object empty."""
        taken = Dirty()
        taken.files, taken.roots = self.files, self.roots
        self.files, self.roots = set(), set()
        return taken


class PendingFiles:
    """The files whose changes a query has not been compared with yet."""

    def __init__(self) -> None:
        self.pending = Dirty()
        self._pending_since = 0.0
        self._unstable: set[FileKey] = set()  # files that changed on disk before they could be shown
        self._retry_s = RETRY_S
        self.retry_at = float("inf")

    def add_pending(self, files: Iterable[FileKey], roots: Iterable[int], now: float) -> None:
        """Add files and roots whose changes could not be sent yet. ``now``: monotonic seconds."""
        if not self.pending:
            self._pending_since = now
        self.pending.add(files, roots)

    def retry_later(self, files: Iterable[FileKey], now: float) -> None:
        """Check these files again after a while, even without an event: their state could not be determined now."""
        before = len(self._unstable)
        self._unstable.update(files)
        if len(self._unstable) > before:
            self.retry_at = min(self.retry_at, now + self._retry_s)
            self._retry_s = min(2 * self._retry_s, RETRY_MAX_S)

    def retry(self, now: float) -> None:
        """Add the unstable files to the pending ones once their retry is due."""
        if now >= self.retry_at:
            self.add_pending(self._unstable, (), now)
            self._unstable = set()
            self.retry_at = float("inf")

    @property
    def compared(self) -> bool:
        """Whether nothing is left to compare the query with."""
        return not (self.pending or self._unstable)

    def settled(self) -> None:
        """Reset the retry interval: everything shown matched the index."""
        if not self._unstable:
            self._retry_s = RETRY_S


class Subscription(PendingFiles):
    """``open``: the first answer was sent, so changes may follow; ``closed``: it ended. ``became_fresh``: all that the
    first answer lacked is indexed, and the client is to be told once it was sent."""

    def __init__(self, number: int, call: Call, query: StandingQuery, style: Style) -> None:
        super().__init__()
        self.id = number
        self.call = call
        self.connection = call.connection_closed  # tells one connection from another
        self.query = query
        self.style = style
        self.open = False
        self.closed = False
        self.became_fresh = False
        self.notify_s = 0.0  # how long the last notification took

    def due_order(self, now: float) -> float:
        """Sort key for a round: fast queries come first, but none waits forever."""
        return (self._pending_since if self.pending else now) + PATIENCE * self.notify_s
