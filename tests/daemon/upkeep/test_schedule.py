"""The daemon's start, which waits for nothing that only times jobs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

from livedex_daemon.config.settings import parse
from livedex_daemon.upkeep import schedule
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots

WAIT_S = 10.0


class Chores:
    def __init__(self) -> None:
        self.maintained = asyncio.Event()

    def check_roots(self) -> None:
        pass

    def maintain(self) -> None:
        self.maintained.set()


def test_the_daemon_starts_without_what_times_its_jobs() -> None:
    program = "import sys, livedex_daemon.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "livedex_daemon.upkeep.schedule" in loaded
    assert not {"apscheduler", "importlib.metadata", "multiprocessing"} & set(loaded)


def test_jobs_begin_though_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_of: Any) -> None:
        raise RuntimeError("can't start new thread")

    async def begun() -> str | None:
        chores = Chores()
        jobs = schedule.Schedule(chores, Roots(), Backlog(time.monotonic, lambda: None))
        monkeypatch.setattr(threading.Thread, "start", refuse)
        jobs.start(parse(""))
        async with asyncio.timeout(WAIT_S):
            await chores.maintained.wait()
        jobs.stop()
        return jobs.beginning.fault

    monkeypatch.setattr(schedule, "LATER_S", 0.01)
    monkeypatch.setattr(schedule, "MAINTAIN_EVERY_S", 0.02)
    assert asyncio.run(begun()) is None
