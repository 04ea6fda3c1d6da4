"""Gives each page of the index file a checksum, to detect bytes that changed on the disk, and remembers failed syncs.

Invariant: every page that the writer puts into the file has in its last 8 bytes the CRC-32 of the bytes before them,
seeded with the page's number. SQLite itself notices changed bytes only if they make no sense to it. While the writer
waits for a disk or a lock, all other threads go on.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import time
import zlib
from typing import Final

import apsw

PAGE_BYTES: Final = 4096
SUM_BYTES: Final = 8  # reserved at the end of each page; SQLite and readers leave them alone
VFS_NAME: Final = "livedex"
MEMORY_VFS_NAME: Final = "livedex-memory"  # the index of the log is no file but memory: no other process can read

_BODY: Final = PAGE_BYTES - SUM_BYTES
_RESERVED_AT: Final = 20  # in the file's header
_LOCK_PAGE: Final = (1 << 30) // PAGE_BYTES + 1  # SQLite locks bytes of this page and never writes it
_SUM: Final = struct.Struct("<Q")


# Paths of files with a failed sync: the kernel marks the lost pages as written, so that a later sync succeeds without
# them (Rebello et al., Can Applications Recover from fsync Failures?, USENIX ATC 2020).
_unsynced: Final[set[str]] = set()

sync: Final = getattr(os, "fdatasync", os.fsync)  # as in SQLite: macOS has no fdatasync


class _File(apsw.VFSFile):
    """A file that the writer writes. SQLite's calls come with the interpreter's lock: slow ones must release it."""

    def __init__(self, base: str, name: apsw.URIFilename | str | None, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else name
        # Close it together with the file, no earlier: closing a descriptor of a database drops the locks on it.
        self._own = os.open(self._path, os.O_RDWR | os.O_CLOEXEC) if self._path else -1
        self._named = False

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        try:
            if self._own >= 0:
                sync(self._own)
            if not self._named:  # SQLite's own sync also makes the name of a new file durable; the bytes are already
                super().xSync(flags)
                self._named = True
        except (OSError, apsw.Error) as error:
            _unsynced.add(self._path or "")
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise (apsw.FullError if full else apsw.IOError)(
                f"the disk did not keep what it was given: {error}"
            ) from error

    def xClose(self) -> None:  # noqa: N802 - SQLite's name
        super().xClose()
        own, self._own = self._own, -1
        if own >= 0:
            os.close(own)


class _PageFile(_File):
    """The index file as the writer writes it: whole pages, and only when the log is copied into it."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        if len(data) == PAGE_BYTES:
            body = bytes(data[:_BODY])
            data = body + _SUM.pack(zlib.crc32(body, offset // PAGE_BYTES + 1))
        super().xWrite(data, offset)


class _Vfs(apsw.VFS):
    def __init__(self, name: str, base: str) -> None:
        super().__init__(name, base)
        self._base = base

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _PageFile(self._base, name, flags)
        if flags[0] & apsw.SQLITE_OPEN_WAL:
            return _File(self._base, name, flags)
        return apsw.VFSFile(self._base, name, flags)

    def xFullPathname(self, name: str) -> str:  # noqa: N802 - SQLite's name
        return os.path.realpath(name)  # APSW mistakes SQLite's "I followed a link" for a failure

    def xSleep(self, microseconds: int) -> int:  # noqa: N802 - SQLite's name
        time.sleep(microseconds / 1e6)
        return microseconds


# SQLite keeps no reference of its own.
WRITER_VFS: Final = _Vfs(VFS_NAME, "")
MEMORY_VFS: Final = _Vfs(MEMORY_VFS_NAME, "unix-excl")


def is_unsynced(path: str) -> bool:
    """Whether a sync of the database at ``path`` or of its log failed since `forget_unsynced`."""
    return not _unsynced.isdisjoint(_names(path))


def forget_unsynced(path: str) -> None:
    """Clear the failed syncs of ``path``: the next file there is another one."""
    _unsynced.difference_update(_names(path))


def _names(path: str) -> tuple[str, str]:
    real = os.path.realpath(path)  # SQLite resolves links
    return real, f"{real}-wal"


def reserve(db: apsw.Connection) -> None:
    """Reserve room for the checksums. Call it before the first table is created."""
    wanted = ctypes.c_int(SUM_BYTES)
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))


def is_reserved(db: apsw.Connection) -> bool:
    """Whether the pages of this file have room for checksums; False for a file that another program made."""
    whole, header = db.read("main", 0, 0, _RESERVED_AT + 1)
    return whole and header[_RESERVED_AT] == SUM_BYTES


def damaged(db: apsw.Connection, first: int, count: int) -> list[int]:
    """Return those of ``count`` pages from ``first`` on (1-based) whose bytes are not those that were written.

    The log must have been copied into the file once since it was opened: a crash may have torn a page that is
    complete in the log. Pages past the end are left out.
    """
    found: list[int] = []
    for page in range(first, first + count):
        whole, data = db.read("main", 0, (page - 1) * PAGE_BYTES, PAGE_BYTES)
        if not whole:
            break
        body = data[:_BODY]
        if _SUM.pack(zlib.crc32(body, page)) != data[_BODY:] and page != _LOCK_PAGE:
            found.append(page)
    return found
