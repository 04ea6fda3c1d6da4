"""Doing nothing: the CPU and the memory of an idle daemon with an index."""

from __future__ import annotations

import sys
import time

from bench.figures import Figure
from bench.server import Server

CPU_GOAL_PERCENT = 0.04  # printed as 0.0
PSS_GOAL_MIB = 80.0
COUNTED_S = 60.0


def idle(server: Server, settle_s: float) -> list[Figure]:
    """Lets the daemon be for ``settle_s`` seconds after the last change, then counts. Linux only."""
    if sys.platform != "linux":
        return []
    time.sleep(settle_s)
    start, before = time.monotonic(), server.cpu_s()
    time.sleep(COUNTED_S)
    percent = (server.cpu_s() - before) / (time.monotonic() - start) * 100
    return [
        Figure("idle CPU, of one core", "%", [percent], goal=CPU_GOAL_PERCENT),
        Figure("idle memory (PSS)", "MiB", [server.pss_mib()], goal=PSS_GOAL_MIB),
    ]
