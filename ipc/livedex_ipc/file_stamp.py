"""What tells one state of a file from another without reading it, and whether it is there.

Invariant: a file that cannot be described has no stamp, as one that is not there; only the system's word makes it gone.
"""

from __future__ import annotations

import os

Stamp = tuple[int, int, int] | None


def file_stamp(path: str) -> Stamp:
    """Return the inode, size and time of change of what a path leads to; None without any."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def is_gone(path: str) -> bool:
    """Whether nothing is there. A folder that cannot be entered, or a disk that fails, says nothing about it."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False
