"""The names that files had, for what is still written to them by the descriptors that were opened under those names.

Invariant: it says too much rather than too little: an inode may belong to another file by now. Only the worker's thread
adds names; any thread may ask.
"""

from __future__ import annotations

from livedex_daemon.watch.backlog import Key

MOST = 4_096  # names; the oldest ones are forgotten, and the reconcile finds what is written under them
MOST_FILES = 4  # of one name, the last ones
FEW_GONE = 256  # names; of more that are gone at once, only those of files with other names are remembered


class FormerNames:
    """The kernel reports a write under the name by which the file was opened, also once the name is gone or another
    file's. If the file has another name, only this tells which file it is.
    """

    def __init__(self) -> None:
        self._inodes: dict[Key, tuple[int, ...]] = {}  # the name that was lost last comes last

    def lost(self, key: Key, ino: int) -> None:
        """Record that the file with this inode has the name no more; 0: it could not be described."""
        if not ino:
            return
        others = [other for other in self._inodes.pop(key, ()) if other != ino]
        self._inodes[key] = (*others[1 - MOST_FILES :], ino)
        if len(self._inodes) > MOST:
            del self._inodes[next(iter(self._inodes))]

    def inodes_of(self, key: Key) -> tuple[int, ...]:
        """Return the inodes of the files that had the name."""
        return self._inodes.get(key, ())
