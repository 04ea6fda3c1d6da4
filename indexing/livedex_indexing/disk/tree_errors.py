"""What an error of the system says about an entry of a root: that it is gone, closed to us, or cannot be read.

Invariant: only an error that means absence counts as absence; any other leaves what the index knows of the entry.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import TypeVar

from livedex_indexing.model import EntryKind, Stat

# All other errors say nothing about whether the entry exists.
_GONE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.ELOOP))
_NAME_MAX = 255  # bytes or more: macOS counts UTF-16
_DENIED = frozenset((errno.EACCES, errno.EPERM))

T = TypeVar("T")


class TreeError(Exception):
    """An entry could not be read or described. ``reason`` is one word for why."""

    reason = "read"


class Denied(TreeError):
    """No permission for the entry or for a folder above it."""

    reason = "denied"
    errno = errno.EACCES


class Missing(TreeError):
    """There is no such folder: it is gone, or it or a part of its path is not a folder."""

    reason = "missing"
    errno = errno.ENOENT


class Vanished(TreeError):
    """There is no such file, or it is gone."""

    reason = "vanished"


class NotRegular(TreeError):
    """The entry is not a regular file; ``kind`` says what it is."""

    reason = "special"

    def __init__(self, kind: EntryKind) -> None:
        super().__init__(kind)
        self.kind = kind


class TooLarge(TreeError):
    """The file is larger than the caller allows; ``stat`` describes it."""

    reason = "too_large"

    def __init__(self, stat: Stat) -> None:
        super().__init__(stat)
        self.stat = stat

    def __str__(self) -> str:
        return f"{self.stat.size} bytes"


class Unsettled(TreeError):
    """The file was written to during the read."""

    reason = "unsettled"


class ReadFailed(TreeError):
    """The system could not read the entry (a bad disk, a lost share); ``errno`` says why."""

    def __init__(self, error: OSError) -> None:
        super().__init__(error)
        self.errno = error.errno or errno.EIO

    def __str__(self) -> str:
        return os.strerror(self.errno)


def is_gone(error: OSError, rel: bytes | None = None) -> bool:
    """Return True if the error means that there is no such entry.

    ``rel``: its path in a root, whose names were listed: such a name is not too long, whatever an error says.
    """
    too_long = error.errno == errno.ENAMETOOLONG and (rel is None or max(map(len, rel.split(b"/"))) > _NAME_MAX)
    return too_long or error.errno in _GONE


def retry_stale(read: Callable[[], T]) -> T:
    """Return what ``read`` returns, and call it again after ESTALE: a share says so of a file that was replaced.

    A share whose export is gone says so of everything, again and again.
    """
    try:
        return read()
    except OSError as error:
        if error.errno != errno.ESTALE:
            raise
    return read()


def fault_of(error: OSError) -> TreeError:
    """Return the error of an entry that is there, or may be."""
    return Denied() if error.errno in _DENIED else ReadFailed(error)
