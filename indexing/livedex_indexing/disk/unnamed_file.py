"""Files that were made without a name (``O_TMPFILE``) and got one later.

Invariant: the kernel names such a file ``#INODE`` for good where it reports what is written by its first descriptor.
"""

from __future__ import annotations

import re

_NAME = re.compile(rb"(?:.*/)?#([0-9]{1,18})", re.DOTALL)


def unnamed_inode(path: bytes) -> int | None:
    """Return the inode of the file that the kernel may report under this path; None if it is a name like others."""
    found = _NAME.fullmatch(path)
    return int(found[1]) if found is not None else None
