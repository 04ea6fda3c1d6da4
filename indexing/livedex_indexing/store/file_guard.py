"""Checks cheaply that the open index file is still the one at its path, and still looks like an index.

Invariant: the file is never opened here: closing a descriptor of a database drops the locks that this process holds
on it. Damage that this check cannot see (changed bytes inside) is found when the pages are read, or by an audit.
"""

from __future__ import annotations

import os
import struct
from typing import Final, Literal

import apsw

from livedex_indexing.store.log_length import frame_at, is_cut_short

Loss = Literal["deleted", "replaced", "truncated", "overwritten"]
Identity = tuple[int, int]

_MAGIC: Final = b"SQLite format 3\0"
_HEADER_BYTES: Final = 100
_LOCKED_FROM: Final = 1 << 30  # the page with this byte is never written: SQLite locks parts of it
_COMPANIONS: Final = ("-wal", "-shm")  # created at first use, kept while a connection is open


class FileGuard:
    """Remembers which file was at the path when the connection was opened. For the connection's own thread only."""

    def __init__(self, db: apsw.Connection, path: str) -> None:
        self._db = db
        self._path = path
        self._file = _identity(path)
        self._companions: dict[str, Identity] = {}
        self.replaced_or_lost()

    def replaced_or_lost(self) -> Loss | None:
        """Return what happened to the file, None if nothing did. Costs a few stats and one read of 100 bytes."""
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

    def has_next_to_it(self, path: str) -> bool:
        """Return whether the file at ``path`` is the log of the open file, or the index of that log."""
        return _identity(path) in self._companions.values()

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
        # SQLite's rule: the page count is valid only if it was written together with the change counter.
        page_bytes = page_bytes if page_bytes > 1 else 65536
        if is_cut_short(self._db, self._path, page_bytes):
            return "truncated"
        present = os.stat(self._path).st_size // page_bytes
        if changes != pages_at or present >= pages:
            return None
        # While a reader delays part of the log, the first page already counts pages that are still in the log.
        in_log, folded = self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
        missing = set(range(present + 1, pages + 1)) - {_LOCKED_FROM // page_bytes + 1}
        return "truncated" if missing - _pages_in_log(f"{self._path}-wal", folded, in_log, page_bytes) else None


def _pages_in_log(path: str, first: int, end: int, page_bytes: int) -> set[int]:
    """Return the numbers of the pages in some frames of a write-ahead log.

    It may be opened: SQLite locks bytes of the file and of the log's index, not of the log.
    """
    with open(path, "rb") as log:
        found = set()
        for frame in range(first, end):
            log.seek(frame_at(frame, page_bytes))
            found.add(int.from_bytes(log.read(4), "big"))
        return found


def _identity(path: str) -> Identity | None:
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
