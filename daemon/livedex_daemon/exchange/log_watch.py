"""Notices cheaply that some process has written to the exchange: each commit changes its write-ahead log.

Invariant: a commit that leaves the log's size and time as they were is noticed after ``FULL_RECHECK_S``.
"""

from __future__ import annotations

import time
from typing import Final

from livedex_ipc.file_stamp import Stamp, file_stamp

RECHECK_S: Final = 0.25  # how soon those who wait notice what another process wrote
FULL_RECHECK_S: Final = 5.0


class LogWatch:
    """For one thread at a time."""

    def __init__(self, path: str) -> None:
        """``path``: of the exchange."""
        self._log = f"{path}-wal"
        self._seen: Stamp = None
        self._look_at = 0.0

    def may_have_changed(self) -> bool:
        """Whether the file may have changed since the last call that returned True."""
        found, now = file_stamp(self._log), time.monotonic()
        if found == self._seen and now < self._look_at:
            return False
        self._seen, self._look_at = found, now + FULL_RECHECK_S
        return True
