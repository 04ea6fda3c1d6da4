"""Which hard links were examined in this turn of the worker, so that thousands of one file are not, once for each.

Invariant: a search that waits for one of the names waits for all that was found to examine, as if each name had had its
own look; a look counts for the entries of its turn alone, which were all marked before it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable

from livedex_daemon.watch.backlog import Backlog, Entry, Key, Waiter
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.readings import Readings
from livedex_indexing.model import FileState
from livedex_indexing.store.index_store import Store


class _Look:
    def __init__(self, keys: Collection[Key]) -> None:
        self.keys = keys
        self.waiters: set[Waiter] = set()


class TwinLooks:
    """A look is identified by its ``of``: the file, and what of its other names was looked at."""

    def __init__(self, backlog: Backlog, store: Store, readings: Readings, watching: EventSource) -> None:
        self._backlog = backlog
        self._store = store
        self._readings = readings
        self._watching = watching
        self._looks: dict[Hashable, _Look] = {}

    def mark(self, of: Hashable, entry: Entry, keys: Collection[Key]) -> None:
        """Have the paths examined that a look for ``entry`` found, in one go with what else is marked of them."""
        look = self._looks[of] = _Look(keys)
        self._mark(look, entry)

    def repeats(self, of: Hashable, entry: Entry) -> bool:
        """Return False if there was no such look. Else have the searches that wait for ``entry`` wait for its finds."""
        look = self._looks.get(of)
        if look is None:
            return False
        if not look.waiters.issuperset(entry.waiters):
            self._mark(look, entry)
        return True

    def _mark(self, look: _Look, entry: Entry) -> None:
        look.waiters.update(entry.waiters)
        for key in look.keys:
            if key != entry.key:
                self._backlog.mark_twin(key, entry)

    def mark_former(self, entry: Entry, inodes: Iterable[int], changes: Changes) -> None:
        """Examine the files that had the name of ``entry`` and may be written on by it: the kernel reports that name
        for good."""
        for ino in inodes:
            if self.repeats(ino, entry):
                continue
            keys = set(self._readings.other_names(entry.key, FileState(0, 0, 0, ino), changes))
            keys.update((twin.root_id, twin.path) for twin in self._store.by_inode(ino))
            keys.update(self._watching.ignore_files_of(ino, None))
            self.mark(ino, entry, keys)

    def end_turn(self) -> None:
        self._looks.clear()
