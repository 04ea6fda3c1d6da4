"""The folders that each watch descriptor of inotify belongs to.

Invariant: a descriptor is kept as long as one name of its folder is watched. A folder may have several names at once:
by a bind mount, by a link in its path, or for as long as the event of its move is not read yet. Not safe for threads:
``InotifyWatcher`` holds its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from watchdog.observers.inotify_c import WatchDescriptor

from livedex_daemon.watch.backlog import Key
from livedex_indexing import relpath


class WatchedFolder:
    """The target of one descriptor. ``names``: of roots; ``outside``: absolute paths outside the roots."""

    __slots__ = ("names", "outside", "wd")

    def __init__(self, wd: WatchDescriptor) -> None:
        self.wd = wd
        self.names: tuple[Key, ...] = ()
        self.outside: tuple[bytes, ...] = ()


class WatchedFolders:
    def __init__(self, let_go: Callable[[WatchDescriptor], None]) -> None:
        """``let_go`` gets each descriptor whose last name is removed."""
        self._let_go = let_go
        self._by_wd: dict[int, WatchedFolder] = {}
        self._by_key: dict[Key, WatchedFolder] = {}
        self._inside: dict[Key, set[bytes]] = {}  # the paths in a folder that are watched, or on the way to one that is
        self._outside: dict[bytes, WatchedFolder] = {}

    def get(self, wd: WatchDescriptor) -> WatchedFolder | None:
        return self._by_wd.get(wd)

    def add(self, wd: WatchDescriptor, key: Key) -> None:
        known = self._by_key.get(key)
        if known is not None and known.wd != wd:
            self.remove(key)
        folder = self._by_key[key] = self._by_wd.setdefault(wd, WatchedFolder(wd))
        self._link(key)
        if key not in folder.names:
            folder.names = (*folder.names, key)

    def _link(self, key: Key) -> None:
        root_id, path = key
        while path:
            inside = self._inside.setdefault((root_id, relpath.parent(path)), set())
            if path in inside:
                return
            inside.add(path)
            path = relpath.parent(path)

    def _unlink(self, key: Key) -> None:
        root_id, path = key
        while path and (root_id, path) not in self._by_key and (root_id, path) not in self._inside:
            above = (root_id, relpath.parent(path))
            self._inside[above].discard(path)
            if not self._inside[above]:
                del self._inside[above]
            path = above[1]

    def add_outside(self, wd: WatchDescriptor, path: bytes) -> None:
        known = self._outside.get(path)
        if known is not None and known.wd != wd:
            self.remove_outside(path)  # the folder that was there was moved away
        folder = self._outside[path] = self._by_wd.setdefault(wd, WatchedFolder(wd))
        if path not in folder.outside:
            folder.outside = (*folder.outside, path)

    def remove(self, key: Key) -> None:
        folder = self._by_key.pop(key, None)
        if folder is not None:
            self._unlink(key)
            folder.names = tuple(name for name in folder.names if name != key)
            self.let_go_unused(folder.wd)

    def deleted(self, key: Key) -> None:
        """The folder is deleted. The kernel lets go of its descriptor once no file of it is open: what is written to
        one is reported as before. Another folder may be watched under the name meanwhile."""
        if self._by_key.pop(key, None) is not None:
            self._unlink(key)

    def remove_outside(self, path: bytes) -> None:
        folder = self._outside.pop(path, None)
        if folder is not None:
            folder.outside = tuple(name for name in folder.outside if name != path)
            self.let_go_unused(folder.wd)

    def remove_below(self, root_id: int, folders: frozenset[bytes]) -> None:
        """Remove the names at or below these folders of a root, without a pass through all watches."""
        left = list(folders)
        while left:
            key = (root_id, left.pop())
            left += self._inside.get(key, ())
            self.remove(key)

    def let_go_unused(self, wd: WatchDescriptor) -> None:
        """Let go of a descriptor without a folder."""
        folder = self._by_wd.get(wd)
        if folder is None or not (folder.names or folder.outside):
            self._by_wd.pop(wd, None)
            self._let_go(wd)

    def ended(self, wd: WatchDescriptor) -> WatchedFolder | None:
        """Forget a descriptor that the kernel no longer reports. Return what it stood for."""
        folder = self._by_wd.pop(wd, None)
        if folder is not None:
            for key in folder.names:
                if self._by_key.get(key) is folder:
                    del self._by_key[key]
                    self._unlink(key)
            for path in folder.outside:
                del self._outside[path]
        return folder

    def watched_of(self, root_id: int, folders: Collection[bytes]) -> list[bytes]:
        """Return those of the folders that have a watch."""
        return [path for path in folders if (root_id, path) in self._by_key]

    def count(self, root_id: int) -> int:
        """Return the number of folders of a root that have a watch."""
        return sum(1 for root, _ in self._by_key if root == root_id)

    def clear(self) -> None:
        """Forget everything: the descriptors are closed."""
        self._by_wd.clear()
        self._by_key.clear()
        self._inside.clear()
        self._outside.clear()
