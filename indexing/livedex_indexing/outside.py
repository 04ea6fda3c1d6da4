"""Reading the few small files that lie outside of every root and say what to ignore.

Invariant: nothing here blocks, grows without limit or raises for what a file is or holds: a pipe, a device, a folder
or a gigabyte in the place of such a file counts as far as it can be read, and the reason why no further is told.
"""

from __future__ import annotations

import os
import stat as modes
from typing import NamedTuple

from livedex_indexing.backend import FileState

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class OutsideFile(NamedTuple):
    """The beginning of a file; ``fault`` says why it does not count in full, None: it does (or is not there)."""

    data: bytes
    fault: str | None


def file_state(path: bytes) -> FileState | None:
    """The state of what stands at the absolute path, links followed; None where nothing does.

    A folder is its inode alone: its times change with what happens in it.
    """
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    if modes.S_ISDIR(found.st_mode):
        return FileState(0, 0, 0, found.st_ino)
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def read_outside(path: bytes, limit: int, *, follow: bool = True) -> OutsideFile:
    """The whole lines in the first ``limit`` bytes of the file at the absolute path; a link in its place is read
    when ``follow``."""
    try:
        if not modes.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
            return OutsideFile(b"", NOT_REGULAR)
        fd = os.open(path, _READ | (0 if follow else os.O_NOFOLLOW))
        with os.fdopen(fd, "rb") as file:
            if not modes.S_ISREG(os.fstat(fd).st_mode):
                return OutsideFile(b"", NOT_REGULAR)
            return whole_lines(file.read(limit + 1), limit)
    except (FileNotFoundError, NotADirectoryError):
        return OutsideFile(b"", None)
    except (OSError, ValueError):
        return OutsideFile(b"", UNREADABLE)


NOT_REGULAR = "is not a regular file: it does not count"
UNREADABLE = "cannot be read: it does not count"


def whole_lines(data: bytes, limit: int) -> OutsideFile:
    """The data itself where it is at most ``limit`` bytes, else the whole lines in its first ``limit`` bytes."""
    if len(data) <= limit:
        return OutsideFile(data, None)
    end = data.rfind(b"\n", 0, limit) + 1
    return OutsideFile(data[:end], f"is larger than {limit >> 20} MiB: only its beginning counts")
