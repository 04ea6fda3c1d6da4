"""Notices cheaply that some process has written to the exchange: each commit changes its write-ahead log.

Invariant: a commit that leaves the log's size and time as they were, or that others see later than ``VISIBLE_S`` after
it was written, is noticed after ``FULL_RECHECK_S``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from livedex_ipc.file_stamp import Stamp, file_stamp

RECHECK_S: Final = 0.25  # how soon those who wait notice what another process wrote
VISIBLE_S: Final = 2.0  # a commit changes the log before the disk takes it, and others see it only then
FULL_RECHECK_S: Final = 5.0


class LogWatch:
    """For one thread at a time."""

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        """``path``: of the exchange."""
        self._log = f"{path}-wal"
        self._clock = clock
        self._seen: Stamp = None
        self._changes_until = 0.0
        self._look_at = 0.0

    def may_have_changed(self) -> bool:
        """Whether others may see another state of the file than at the last call that returned True."""
        found, now = file_stamp(self._log), self._clock()
        if found != self._seen:
            self._seen, self._changes_until = found, now + VISIBLE_S
        if self._changes_until <= now < self._look_at:
            return False
        self._look_at = now + FULL_RECHECK_S
        return True
