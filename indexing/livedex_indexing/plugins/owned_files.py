"""Reads a plugin's file, if only the user or root could have written it.

Invariant: the bytes returned are those of the file that was checked. A file, its folder and each folder above it belong
to the user or root, and nobody else may write to them.
"""

from __future__ import annotations

import os
import stat

from livedex_indexing.write_access import others_may_write

MAX_BYTES = 4 << 20  # of one module


class Refused(Exception):
    """The file or folder is not to be trusted; the message gives the reason and the remedy."""


def check_path(path: str) -> None:
    """Check a file or folder and the folders above it. Raises Refused, or OSError if it cannot be looked at."""
    real = os.path.realpath(path)
    _check(real, os.stat(real), above=False)
    folder = os.path.dirname(real)
    while True:
        _check(folder, os.stat(folder), above=True)
        if folder == os.path.dirname(folder):
            return
        folder = os.path.dirname(folder)


def read(path: str) -> bytes:
    """Return the bytes of a module. Raises Refused, or OSError if it cannot be read."""
    check_path(path)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise Refused(f"{path} is not a regular file")
        _check(path, found, above=False)
        source = file.read(MAX_BYTES + 1)
    if len(source) > MAX_BYTES:
        raise Refused(f"{path} has more than {MAX_BYTES} bytes")
    return source


def _check(path: str, found: os.stat_result, *, above: bool) -> None:
    """Check one entry; in a folder ``above`` that is sticky, such as /tmp, others cannot replace ours."""
    if found.st_uid not in (os.geteuid(), 0):
        raise Refused(f"{path} belongs to another user (uid {found.st_uid}): `chown` it, or move the plugin")
    if others_may_write(found) and not (above and found.st_mode & stat.S_ISVTX):
        raise Refused(f"others may write to {path} (mode {stat.S_IMODE(found.st_mode):04o}): run `chmod go-w` on it")
