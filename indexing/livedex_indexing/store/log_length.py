"""Measures the write-ahead log of an open SQLite file: does it still have what the file's readers count on?

Invariant: nothing is opened, read or written here.
"""

from __future__ import annotations

import os
from typing import Final

import apsw

_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24  # begins with the number of the page that follows


def frame_at(frame: int, page_bytes: int) -> int:
    """Return where a frame of a log begins, counted from 0; of as many as there are: where the log ends."""
    return _HEADER_BYTES + frame * (_FRAME_HEADER_BYTES + page_bytes)


def is_cut_short(db: apsw.Connection, path: str, page_bytes: int) -> bool:
    """Whether another program has cut the log of the database at ``path``, which ``db`` has open. Raises OSError."""
    # Between the two looks at one log, another process may have copied it into the file and emptied it.
    return all(_lacks_frames(db, f"{path}-wal", page_bytes) for _ in range(2))


def _lacks_frames(db: apsw.Connection, log: str, page_bytes: int) -> bool:
    in_log, folded = db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    return in_log > folded and os.stat(log).st_size < frame_at(in_log, page_bytes)
