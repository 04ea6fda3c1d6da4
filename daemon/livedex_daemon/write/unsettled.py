"""Remember the files that changed during every read, until they are read or gone.

Invariant: only the worker's thread changes the sets; other threads copy them.
"""

from __future__ import annotations

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.walk import Changes
from livedex_indexing.relpath import is_within


class UnsettledFiles:
    """``unsettled``: files that changed during every try to read them, or that no child could chunk.

    ``unstable``: files that changed during the first try and are tried again.
    """

    def __init__(self) -> None:
        self.unsettled: set[Key] = set()
        self.unstable: set[Key] = set()

    def add(self, key: Key) -> None:
        """Add a file for which all tries failed."""
        self.unsettled.add(key)
        self.unstable.add(key)

    def discard(self, key: Key) -> None:
        """Remove a file that was read."""
        self.unsettled.discard(key)
        self.unstable.discard(key)

    def forget_gone(self, gone: Changes, roots: Roots) -> None:
        """Forget files that no longer exist, are ignored now, or belong to no root."""
        if not self.unstable and not self.unsettled:
            return
        removed, below = set(gone.removed), [*gone.removed_trees, *gone.ignored]
        settled = {
            key
            for key in self.unstable | self.unsettled
            if key in removed
            or roots.get(key[0]) is None
            or any(key[0] == root_id and is_within(key[1], path) for root_id, path in below)
        }
        self.unstable -= settled
        self.unsettled -= settled
