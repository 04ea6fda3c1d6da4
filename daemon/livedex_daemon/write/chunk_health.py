"""Whether children that chunk files can be started, and when to try again after one could not.

Invariant: the pause between two tries never exceeds ``REST_S``, so that every file is indexed within 10 s after the
cause is gone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from livedex_daemon.write.pipeline_faults import PipelineFaults

FIRST_REST_S = 1.0  # after the first failure; each further one doubles it
REST_S = 8.0


class WorkerFault(NamedTuple):
    """``other_version``: the installed code is not the running code; only a restart of the daemon helps."""

    reason: str
    other_version: bool = False


class ChunkHealth:
    """Shared by all slots. ``fault``: why no child can be started; None: one can. ``clock``: seconds, monotonic."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.fault: WorkerFault | None = None
        self.pipelines = PipelineFaults()
        self.retry_at = 0.0  # do not try to start a child before this time
        self._clock = clock
        self._rest_s = 0.0
        self._lock = threading.Lock()

    def resting(self) -> WorkerFault | None:
        """Return the fault while no child should be tried."""
        with self._lock:
            return self.fault if self._clock() < self.retry_at else None

    def failed(self, fault: WorkerFault) -> None:
        with self._lock:
            self.fault = fault
            now = self._clock()
            if now >= self.retry_at:  # else another slot has just failed for the same cause
                self._rest_s = min(max(FIRST_REST_S, self._rest_s * 2), REST_S)
                self.retry_at = now + self._rest_s

    def worked(self) -> None:
        with self._lock:
            self.fault = None
            self._rest_s = 0.0
            # Not at once: a child that fails for some files only must not be started over and over.
            self.retry_at = min(self.retry_at, self._clock() + FIRST_REST_S)
