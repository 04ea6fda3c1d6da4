"""How long a child takes, without the time in which it could have run and others had the processors.

Invariant: a busy machine does not make a child late; one that hangs, sleeps or computes without end is late in time.
"""

from __future__ import annotations

import time
from typing import Final

_MOST_TIMES: Final = 10.0  # the limit, in wall time: however busy the machine is, a child is given up then


class TimeTaken:
    """A clock for one child after the other step. For one thread.

    What the child waits is known on Linux alone, and counts from the first ``look`` at a step.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.restart()

    def restart(self) -> None:
        """Begin with the next step."""
        self._began = time.monotonic()
        self._waited_before: float | None = None
        self._waited = 0.0

    def look(self) -> None:
        """Find out how long the child has waited. Call it now and then while the child is silent."""
        waited = waited_for_processor(self._pid)
        if self._waited_before is None:
            self._waited_before = waited
        self._waited = max(0.0, waited - self._waited_before)

    @property
    def wall_s(self) -> float:
        return time.monotonic() - self._began

    @property
    def seconds(self) -> float:
        return self.wall_s - self._waited

    def left(self, limit_s: float) -> float:
        """Return the seconds until the step has taken ``limit_s``; not positive: it is late."""
        return min(limit_s - self.seconds, _MOST_TIMES * limit_s - self.wall_s)


def waited_for_processor(pid: int) -> float:
    """Return the seconds for which the main thread of a process was able to run and did not; 0 where nobody counts.

    Source: ``/proc/<pid>/schedstat``, second field, nanoseconds (Linux, Documentation/scheduler/sched-stats.rst).
    """
    try:
        with open(f"/proc/{pid}/schedstat", "rb", buffering=0) as file:
            return int(file.read(100).split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
