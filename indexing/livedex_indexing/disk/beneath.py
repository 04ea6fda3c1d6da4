"""Opens a folder of the user's tree without ever leaving its root.

Invariant: a descriptor from here is of a folder that is reached from the root through real folders only. No link is
followed, not even one created a moment ago, so an entry opened in it by one name lies beneath the root. No descriptor
of the root is kept open: it would keep a filesystem from being unmounted.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_OPENAT2 = 437  # the same number on every architecture
_RESOLVE = 0x02 | 0x04 | 0x08  # RESOLVE_NO_MAGICLINKS, RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH
_PATH_ONLY = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST = 4000  # bytes of a path in one system call, under Linux's limit of 4,096
_NO_NAMES = frozenset((b"", b".", b".."))
_TRIES = 16  # openat2 answers EAGAIN when a rename elsewhere crosses its walk


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def check_relative(rel: bytes) -> None:
    """Raise ValueError unless the path is relative: no leading slash, no ``.`` or ``..``, no empty part, no NUL."""
    if rel and (b"\0" in rel or not _NO_NAMES.isdisjoint(rel.split(b"/"))):
        raise ValueError(f"not a path relative to a root: {rel!r}")


@contextmanager
def folder(root: bytes, rel: bytes, *, listing: bool = False) -> Iterator[int]:
    """Open the folder ``rel`` beneath ``root`` and close it at the end; with ``listing`` it can be given to scandir.

    Raises OSError as the kernel does: ENOENT or ENOTDIR if the folder is gone, ELOOP or ENOTDIR for a link in the path,
    EACCES for a folder in the path that may not be entered. Raises ValueError for a path that is not relative.
    """
    check_relative(rel)
    last = os.O_RDONLY if listing else _PATH_ONLY
    fd = os.open(root, (_PATH_ONLY if rel else last) | _FOLDER)
    try:
        parts = _pieces(rel) if rel else []
        for number, part in enumerate(parts):
            flags = last if number == len(parts) - 1 else _PATH_ONLY
            below = _open_below(fd, part, flags | _FOLDER)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _pieces(rel: bytes) -> list[bytes]:
    """Split the path at slashes into pieces short enough for one system call."""
    if not has_openat2():
        return rel.split(b"/")
    pieces = []
    while len(rel) > _LONGEST:
        cut = rel.rfind(b"/", 0, _LONGEST)
        if cut < 0:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        pieces.append(rel[:cut])
        rel = rel[cut + 1 :]
    return [*pieces, rel]


def _open_below(fd: int, part: bytes, flags: int) -> int:
    if b"/" not in part:
        return os.open(part, flags, dir_fd=fd)  # one name and O_NOFOLLOW: nothing to resolve
    return openat2(fd, part, flags)


@cache
def has_openat2() -> bool:
    """Whether the kernel has openat2 and lets this process call it (some containers refuse it)."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        os.close(openat2(-100, b".", _PATH_ONLY | _FOLDER))  # -100 is AT_FDCWD
    except OSError:
        return False
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def openat2(fd: int, path: bytes, flags: int) -> int:
    """Call openat2(2) beneath ``fd`` without following links. Raises OSError: ELOOP for a link, EXDEV for a way out."""
    how = _OpenHow(flags, 0, _RESOLVE)
    for _ in range(_TRIES):
        result = _libc().syscall(ctypes.c_long(_OPENAT2), fd, path, ctypes.byref(how), ctypes.sizeof(how))
        if result >= 0:
            return int(result)
        code = ctypes.get_errno()
        if code not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(code, os.strerror(code))
