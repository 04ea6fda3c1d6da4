"""Looks at the folder of a root itself.

Invariant: an error is raised as it is. Only the caller decides what it says about the root.
"""

from __future__ import annotations

import os
import stat
from functools import partial

from livedex_indexing.disk.remote_mounts import REMOTE


def look(path: bytes) -> os.stat_result:
    """Describe what is there, links not followed. Raises OSError, of a folder also if it cannot be read."""
    return REMOTE.run(path, b"", partial(_look, path))


def is_empty(path: bytes) -> bool:
    """Return True if the folder has no entries. Raises OSError."""
    return REMOTE.run(path, b"", partial(_is_empty, path))


def _look(path: bytes) -> os.stat_result:
    found = os.lstat(path)
    if stat.S_ISDIR(found.st_mode):
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            os.stat(b".", dir_fd=folder)  # of one that may be listed and not entered, nothing can be read
        finally:
            os.close(folder)
    return found


def _is_empty(path: bytes) -> bool:
    with os.scandir(path) as entries:
        return next(entries, None) is None
