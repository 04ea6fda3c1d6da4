"""Remember the files that changed during every read, until they are read or gone.

Invariant: only the worker's thread changes the sets; other threads copy them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.changes import Changes
from livedex_indexing.relpath import is_below, is_within


def gone_keys(gone: Changes, roots: Roots) -> Callable[[Key], bool]:
    """Return a function that tells whether a path no longer exists, is ignored now, or belongs to no root."""
    removed = set(gone.removed)

    def is_gone(key: Key) -> bool:
        return (
            key in removed
            or roots.get(key[0]) is None
            or any(key[0] == root_id and is_below(key[1], path) for root_id, path in gone.removed_trees)
            or any(key[0] == root_id and is_within(key[1], path) for root_id, path in gone.ignored)
        )

    return is_gone


class UnsettledFiles:
    """``unsettled``: files that changed during every try to read them, or that no child could chunk.

    ``unstable``: files that changed during the first try and are tried again. ``unchunked``: those unsettled files
    that no child could chunk and that wait for their next try.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: dict[Key, float] = {}  # when all tries failed for the first time
        self.unsettled: set[Key] = set()
        self.unstable: set[Key] = set()
        self.unchunked: set[Key] = set()

    def add(self, key: Key, *, unchunked: bool = False) -> None:
        """Add a file for which all tries failed."""
        self.unsettled.add(key)
        self.unstable.add(key)
        self._since.setdefault(key, self._clock())
        if unchunked:
            self.unchunked.add(key)

    def take_unchunked(self, limit: int | None) -> list[Key]:
        """Return files that no child could chunk, to be tried again now; they stay unsettled until they are read."""
        taken = list(islice(self.unchunked, limit))
        self.unchunked.difference_update(taken)
        return taken

    def discard(self, key: Key) -> None:
        """Remove a file that was read."""
        self.unsettled.discard(key)
        self.unstable.discard(key)
        self.unchunked.discard(key)
        self._since.pop(key, None)

    def older_than(self, seconds: float) -> list[Key]:
        """Return the files that are unsettled for longer than ``seconds``. Any thread may call it."""
        if not self._since:
            return []
        limit = self._clock() - seconds
        return [key for key, since in self._since.copy().items() if since < limit]

    def forget_gone(self, gone: Changes, roots: Roots) -> None:
        """Forget files that no longer exist, are ignored now, or belong to no root."""
        if not self.unstable and not self.unsettled:
            return
        settled = set(filter(gone_keys(gone, roots), self.unstable | self.unsettled))
        self.unstable -= settled
        self.unsettled -= settled
        self.unchunked -= settled
        for key in settled:
            self._since.pop(key, None)
