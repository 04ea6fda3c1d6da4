"""Looks at the folder of a root itself.

Invariant: an error is raised as it is. Only the caller decides what it says about the root.
"""

from __future__ import annotations

import os
import stat
from functools import partial

from livedex_indexing.disk.remote_mounts import REMOTE


def look(path: bytes) -> os.stat_result:
    """Describe what is there, links not followed. Raises OSError, for a folder also if it cannot be listed."""
    return REMOTE.run(path, b"", partial(_look, path))


def is_empty(path: bytes) -> bool:
    """Return True if the folder has no entries. Raises OSError."""
    return REMOTE.run(path, b"", partial(_is_empty, path))


def _look(path: bytes) -> os.stat_result:
    found = os.lstat(path)
    if stat.S_ISDIR(found.st_mode):
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW))
    return found


def _is_empty(path: bytes) -> bool:
    with os.scandir(path) as entries:
        return next(entries, None) is None
