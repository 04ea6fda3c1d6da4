"""Doing nothing: the CPU and the memory of a daemon that has an index and nobody asking."""

from __future__ import annotations

import sys
import time

from bench.figures import Figure
from bench.server import Server

CPU_GOAL_PERCENT = 0.04  # printed as 0.0
PSS_GOAL_MIB = 80.0
SETTLE_S = 10.0  # after the last change, before CPU is counted


def idle(server: Server, seconds: float) -> list[Figure]:
    """Lets the daemon be for ``seconds`` after the last change; Linux only, where shares of memory are told."""
    if sys.platform != "linux":
        return []
    time.sleep(min(SETTLE_S, seconds / 2))
    start, before = time.monotonic(), server.cpu_s()
    time.sleep(max(0.0, seconds - SETTLE_S))
    percent = (server.cpu_s() - before) / max(time.monotonic() - start, 0.1) * 100
    return [
        Figure("idle CPU, of one core", "%", [percent], goal=CPU_GOAL_PERCENT),
        Figure("idle memory (PSS)", "MiB", [server.pss_mib()], goal=PSS_GOAL_MIB),
    ]
