"""Reads a small file of livedex's own, whatever was put in its place.

Invariant: it neither waits for another program nor reads without end, so that no such file keeps the daemon from
starting.
"""

from __future__ import annotations

import errno
import os
import stat

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


def read_own_file(path: str, most: int) -> bytes:
    """Return the bytes of a regular file of at most ``most`` bytes. Raises OSError for anything else."""
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", path)
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
    return content
