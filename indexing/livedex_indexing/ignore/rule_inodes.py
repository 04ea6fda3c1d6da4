"""Knows the ignore files that were read by their inode: one may be written by another name, which alone is reported.

Invariant: a file is named only while it still has the inode, or cannot be looked at.
"""

from __future__ import annotations

from livedex_indexing.disk import tree


class RuleInodes:
    """Of one root. ``note`` and ``clear`` for one thread at a time, ``files_with`` for any."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._paths: dict[int, tuple[bytes, ...]] = {}  # those of former files stay until all are forgotten

    def __len__(self) -> int:
        return len(self._paths)

    def note(self, path: bytes, ino: int) -> None:
        known = self._paths.get(ino, ())
        if path not in known:
            self._paths[ino] = (*known, path)

    def clear(self) -> None:
        self._paths = {}

    def files_with(self, ino: int, dev: int | None) -> list[bytes]:
        """Return the paths of the ignore files with this inode, on this device if it is known."""
        return [path for path in self._paths.get(ino, ()) if self._may_have(path, ino, dev)]

    def _may_have(self, path: bytes, ino: int, dev: int | None) -> bool:
        try:
            found = tree.stat(self._root, path)
        except tree.TreeError:
            return True
        return found is not None and found.ino == ino and dev in (None, found.dev)
