"""Shows how the work goes on while a status is watched: files read a second, the backlog, and how long it may take.

Invariant: made of statuses that were received, and of their times alone.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from livedex_ipc.cli.render.terminal_text import duration_text

if TYPE_CHECKING:
    from livedex_ipc.wire_results import StatusResult

_SAMPLES = 40  # at two a second: the last 20 s
_BARS = "▁▂▃▄▅▆▇█"


class StatusRates:
    """The last statuses of one daemon."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque(maxlen=_SAMPLES)

    def line(self, status: StatusResult, now: float) -> str:
        """Add a status received at ``now`` (seconds) and return a line about the work; "" while there is none."""
        read, pending = status["work"]["files_read"], status["pending"]
        if self._samples and read < self._samples[-1][1]:
            self._samples.clear()  # another daemon: it counts from 0
        self._samples.append((now, read, pending))
        begun, first, _ = self._samples[0]
        rate = (read - first) / (now - begun) if now > begun else 0.0
        if not pending and rate == 0:
            return ""
        left = f", about {duration_text(pending / rate)}" if pending and rate >= 1 else ""
        return f"{rate:,.0f} files/s, {pending:,} to go{left}  {self._backlog()}"

    def _backlog(self) -> str:
        """Return the backlog of the last samples as a row of bars, the highest for the most."""
        most = max(pending for _, _, pending in self._samples) or 1
        top = len(_BARS) - 1
        return "".join(_BARS[-(-pending * top // most)] for _, _, pending in self._samples)
