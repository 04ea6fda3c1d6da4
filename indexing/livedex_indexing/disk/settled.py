"""Whether the size and times of a file identify its content.

Invariant: a file counts as settled only if a write after its reading would have left other times behind.
"""

from __future__ import annotations

from typing import Final

from livedex_indexing.model import FileState, Stat

# Two writes within one tick of the file system's clock leave the same times: 2 s on FAT, 1 s on some others.
RACY_S: Final = 2.0


def is_settled(found: Stat | FileState, now: float, since: float | None = None) -> bool:
    """Return False while a later write could leave the file's times unchanged.

    ``now``: the time, in seconds since the epoch; ``since``: when its reading began, None if only its state was read.
    """
    begun = now if since is None else since
    return not any(begun - RACY_S <= at / 1e9 <= now + RACY_S for at in (found.mtime_ns, found.ctime_ns))
