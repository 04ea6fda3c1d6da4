"""Reads a file of the user's own configuration, which may well be a link, also onto a network or FUSE mount.

Invariant: nothing but a regular file is opened, and nothing blocks.
"""

from __future__ import annotations

import os
import stat as modes
from functools import partial

from livedex_indexing.disk.real_path import real_path
from livedex_indexing.disk.remote_mounts import REMOTE

_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_users_file(path: bytes, limit: int) -> bytes | None:
    """Return the first ``limit`` bytes; None if it is no regular file. Raises OSError, ValueError."""
    path = _target(path)
    return REMOTE.run(path, b"", partial(_read, path, limit))


def stat_users_file(path: bytes) -> os.stat_result:
    """Describe the target of the path. Raises OSError, ValueError."""
    path = _target(path)
    return REMOTE.run(path, b"", partial(os.stat, path))


def _target(path: bytes) -> bytes:
    return real_path(path).path if REMOTE.any else path


def _read(path: bytes, limit: int) -> bytes | None:
    if not modes.S_ISREG(os.stat(path).st_mode):
        return None
    with os.fdopen(os.open(path, _READ), "rb") as file:
        return file.read(limit) if modes.S_ISREG(os.fstat(file.fileno()).st_mode) else None
