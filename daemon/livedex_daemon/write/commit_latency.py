"""Measure how long changes take from event to commit, and when the last commit was.

Invariant: only the last 1,000 changes count.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable

from livedex_ipc.wire_results import LatencyFigures

SAMPLES = 1000


class CommitLatency:
    """The worker writes it after each commit; any thread may read it."""

    def __init__(self) -> None:
        self.last_at = time.monotonic()  # when the last commit ended
        self._lock = threading.Lock()
        self._samples: deque[float] = deque(maxlen=SAMPLES)

    def add(self, now: float, reported_at: Iterable[float]) -> None:
        """Record a commit at ``now``. ``reported_at``: when each of its changes was reported (monotonic seconds)."""
        self.last_at = now
        with self._lock:
            self._samples.extend(now - at for at in reported_at)

    def figures(self) -> LatencyFigures:
        with self._lock:
            ordered = sorted(self._samples)
        if not ordered:
            return {"p50_ms": None, "p99_ms": None, "samples": 0}
        return {
            "p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
            "p99_ms": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] * 1000, 3),
            "samples": len(ordered),
        }
