"""Gives each page of the index file a checksum of its own, so that bytes that changed on the disk are noticed.

Invariant: every page that the writer puts into the file carries in its last 8 bytes the CRC-32 of what stands before
them, begun with the page's number. SQLite itself notices changed bytes only where they make no sense to it.
"""

from __future__ import annotations

import ctypes
import struct
import zlib
from typing import Final

import apsw

PAGE_BYTES: Final = 4096
SUM_BYTES: Final = 8  # reserved at the end of each page; SQLite and readers leave them alone
VFS_NAME: Final = "livedex"

_BODY: Final = PAGE_BYTES - SUM_BYTES
_RESERVED_AT: Final = 20  # in the file's header
_LOCK_PAGE: Final = (1 << 30) // PAGE_BYTES + 1  # SQLite locks bytes of this page and never writes it
_SUM: Final = struct.Struct("<Q")


class _File(apsw.VFSFile):
    """The index file as the writer writes it: by whole pages, and only when the log is folded into it."""

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        if len(data) == PAGE_BYTES:
            body = bytes(data[:_BODY])
            data = body + _SUM.pack(zlib.crc32(body, offset // PAGE_BYTES + 1))
        super().xWrite(data, offset)


class _Vfs(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(VFS_NAME, "")

    def xOpen(self, name: apsw.URIFilename | str | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        kind = _File if flags[0] & apsw.SQLITE_OPEN_MAIN_DB else apsw.VFSFile
        return kind("", name, flags)


_registered: Final = _Vfs()  # SQLite keeps no reference of its own


def reserve(db: apsw.Connection) -> None:
    """Makes room for the checksums: before the first table is made."""
    wanted = ctypes.c_int(SUM_BYTES)
    db.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))


def is_reserved(db: apsw.Connection) -> bool:
    """Whether the pages of this file have room for checksums: not in a file that another program made."""
    whole, header = db.read("main", 0, 0, _RESERVED_AT + 1)
    return whole and header[_RESERVED_AT] == SUM_BYTES


def damaged(db: apsw.Connection, first: int, count: int) -> list[int]:
    """The pages among ``count`` from page ``first`` on (1-based) whose bytes are not those that were written.

    The log must have been folded into the file once since it was opened: a crash may have torn a page whose whole
    text stands in the log. Pages past the end are left out.
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
