"""The works whose outcome is not committed yet, by path and by inode.

Invariant: one work for each path. What such a work has read may be older than what a look at another name of the same
file sees now, and the index does not know yet that both are one file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from livedex_daemon.watch.backlog import Key
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.walk import Work
from livedex_indexing.model import FileState, Stat


class Readings:
    def __init__(self) -> None:
        self._works: dict[Key, Work] = {}
        self._by_inode: dict[int, list[Work]] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._works

    def __iter__(self) -> Iterator[Work]:
        return iter(self._works.values())

    def get(self, key: Key) -> Work | None:
        return self._works.get(key)

    def begin(self, work: Work) -> Work:
        """Return the work that reads the path: this one, or one that has begun before."""
        reading = self._works.setdefault(work.key, work)
        if reading is work and work.state is not None:
            self._by_inode.setdefault(work.state.ino, []).append(work)
        return reading

    def end(self, work: Work) -> None:
        """Forget the work that reads the path of this one."""
        reading = self._works.pop(work.key, None)
        if reading is None or reading.state is None:
            return
        ino = reading.state.ino
        self._by_inode[ino] = [other for other in self._by_inode[ino] if other is not reading]
        if not self._by_inode[ino]:
            del self._by_inode[ino]

    def clear(self) -> None:
        self._works.clear()
        self._by_inode.clear()

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
