"""What tells one state of a file from another without reading it.

Invariant: a file that cannot be described counts as one that is not there.
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
