"""The files that the pool reads, from their submission to the commit of the outcome, by path and by inode.

Invariant: one work for each path at a time; another one for it waits, and is submitted after it. What such a work has
read may be older than what a look at another name of the same file sees now, and the index does not know yet that both
are one file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection

from livedex_daemon.watch.backlog import Entry, Key
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.walk import TreeWalk, Work
from livedex_indexing.model import FileState, Stat
from livedex_indexing.relpath import is_within


class Readings:
    """``waiting``: the works to submit once their retry time has come and no other one reads their path."""

    def __init__(self, pool: Pool) -> None:
        self.waiting: list[Work] = []
        self._pool = pool
        self._works: dict[Key, Work] = {}
        self._by_inode: dict[int, list[Work]] = {}

    def get(self, key: Key) -> Work | None:
        return self._works.get(key)

    def keys_of(self, entry: Entry) -> set[Key]:
        """Return the paths of the works of an entry whose outcome is not stored."""
        return {work.key for work in self._unfinished() if work.entry is entry}

    def doubt(self, walk: TreeWalk) -> None:
        """Have the files looked at once more that lie where another entry's walk goes on: it may find them gone."""
        for work in self._unfinished():
            if work.entry is not walk.entry and work.root is walk.root and is_within(work.path, walk.path):
                work.is_doubtful = True

    def expects(self, work: Work) -> bool:
        """Return False for an abandoned work."""
        return self._works.get(work.key) is work

    def submit(self, works: Collection[Work], *, bulk: bool) -> None:
        """Submit files to the pool; a file that another work reads waits."""
        free: list[Work] = []
        for work in works:  # two works may be for the same file
            reading = self._begin(work)
            if reading is work:
                free.append(work)
            else:
                reading.behind.append(work)
                self.waiting.append(work)
        if free:
            self._pool.submit(free, bulk=bulk)

    def retry(self) -> None:
        """Submit the waiting works whose time has come."""
        now = time.monotonic()
        due = [work for work in self.waiting if work.retry_at <= now and work.key not in self._works]
        if due:
            self.waiting = [work for work in self.waiting if work not in due]
            self.submit(due, bulk=False)

    def cancel(self, root_id: int, is_gone: Callable[[bytes], bool]) -> list[Work]:
        """Have nothing stored of the paths that are gone. Return their works."""
        gone = [work for work in self._unfinished() if work.root.id == root_id and is_gone(work.path)]
        for work in gone:  # also those that wait
            work.cancelled = True
        return gone

    def abandon(self) -> None:
        """Forget all works, also those that are being read: their outcomes are not expected any more."""
        for work in self._works.values():
            work.cancelled = True
        self._works.clear()
        self._by_inode.clear()
        self.waiting.clear()

    def _unfinished(self) -> list[Work]:
        return [*self._works.values(), *self.waiting]

    def _begin(self, work: Work) -> Work:
        """Return the work that reads the path: this one, or one that has begun before."""
        reading = self._works.setdefault(work.key, work)
        if reading is work and work.state is not None:
            self._by_inode.setdefault(work.state.ino, []).append(work)
        return reading

    def end(self, work: Work) -> None:
        """Allow the path of this work to be read again: the outcome is known."""
        reading = self._works.pop(work.key, None)
        if reading is None or reading.state is None:
            return
        ino = reading.state.ino
        self._by_inode[ino] = [other for other in self._by_inode[ino] if other is not reading]
        if not self._by_inode[ino]:
            del self._by_inode[ino]

    def other_names(self, key: Key, seen: Stat | FileState, changes: Changes) -> list[Key]:
        """Return the paths without a row that may be other names of a file, and were found in another state.

        ``seen``: the file as it is; of one that is gone, as the index has it: then in any state. ``changes``: the
        decisions that are not committed.
        """
        state = seen.state if isinstance(seen, Stat) else None
        return [
            other
            for other, found in (*self._of_inode(seen.ino), *changes.of_inode(seen.ino))
            if other != key and found != state
        ]

    def other_names_of(self, works: Collection[Work]) -> list[Key]:
        """Return the paths of the files of ``works`` that were found in another state under another name."""
        return [
            other
            for work in works
            if work.state is not None
            for other, found in self._of_inode(work.state.ino)
            if other != work.key and found != work.state
        ]

    def _of_inode(self, ino: int) -> list[tuple[Key, FileState | None]]:
        return [(work.key, work.state) for work in self._by_inode.get(ino, ())]
