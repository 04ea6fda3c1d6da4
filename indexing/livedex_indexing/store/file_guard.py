"""Tells cheaply whether the index file that is open is still the one at its path, and still looks like an index.

Invariant: the file is never opened here: closing a descriptor of a database drops the locks that this process holds
on it. What cannot be seen this way (changed bytes inside) shows when they are read, or in an audit.
"""

from __future__ import annotations

import os
import struct
from typing import Final, Literal

import apsw

Loss = Literal["deleted", "replaced", "truncated", "overwritten"]
Identity = tuple[int, int]

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_COMPANIONS: Final = ("-wal", "-shm")  # they come with the first use and stay while a connection is open


class FileGuard:
    """Remembers what stood at the path when the connection was opened. Used by the connection's own thread."""

    def __init__(self, db: apsw.Connection, path: str) -> None:
        self._db = db
        self._path = path
        self._file = _identity(path)
        self._companions: dict[str, Identity] = {}
        self.replaced_or_lost()

    def replaced_or_lost(self) -> Loss | None:
        """What happened to the file, None while nothing did. Costs a few stats and one read of 100 bytes."""
        found = _identity(self._path)
        if found != self._file:
            return "deleted" if found is None else "replaced"
        for suffix in _COMPANIONS:
            found = _identity(self._path + suffix)
            known = self._companions.get(suffix)
            if known is None and found is not None:
                self._companions[suffix] = found
            elif found != known:
                return "deleted" if found is None else "replaced"
        return self._header_loss()

    def _header_loss(self) -> Loss | None:
        whole, header = self._db.read("main", 0, 0, _HEADER_BYTES)
        if not whole:
            return "truncated"
        if not header.startswith(_MAGIC):
            return "overwritten"
        page_bytes, changes, pages, pages_at = (
            struct.unpack_from(">H", header, 16)[0],
            *struct.unpack_from(">II", header, 24),
            struct.unpack_from(">I", header, 92)[0],
        )
        # The number of pages counts only where it was written together with the counter of changes (SQLite's rule).
        if changes != pages_at or os.stat(self._path).st_size >= pages * (page_bytes if page_bytes > 1 else 65536):
            return None
        # While a reader holds up a part of the log, the first page tells of pages that come with the rest of it.
        in_log, folded = self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        return "truncated" if in_log == folded else None


def _identity(path: str) -> Identity | None:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
