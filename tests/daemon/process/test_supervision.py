"""No part of the daemon ends silently: it is started again, and named in the status until it is well."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from helpers.clock import Clock
from livedex_daemon.process.supervision import WELL_S, SupervisedTask, SupervisedThread

WAIT_S = 10


class Failing:
    """A run that raises the given errors, one per call, and then runs until it is ended."""

    def __init__(self, *errors: Callable[[], object]) -> None:
        self._errors = list(errors)
        self.handed_back = 0
        self.well = threading.Event()
        self.end = threading.Event()

    def run(self) -> None:
        if self._errors:
            self._errors.pop(0)()
        self.well.set()
        self.end.wait(WAIT_S)

    def recover(self) -> None:
        self.handed_back += 1
        if self.handed_back == 1:
            raise OSError


def key_error() -> None:
    raise KeyError("x")


def test_a_thread_that_fails_hands_back_and_runs_again() -> None:
    clock, failing = Clock(), Failing(key_error, sys.exit)
    thread = SupervisedThread("part", failing.run, recover=failing.recover, pause_s=0.001, clock=clock)
    assert (thread.fault, thread.is_alive()) == (None, False)
    thread.start()
    assert failing.well.wait(WAIT_S)
    assert failing.handed_back == 2
    assert (thread.fault, thread.is_alive()) == ("SystemExit", True)
    clock.now += WELL_S
    assert thread.fault is None
    assert not thread.end(0.01)
    failing.end.set()
    assert thread.end(WAIT_S)


def test_a_library_that_could_not_be_found_is_looked_for_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python remembers what a folder has by the folder's time."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = tmp_path.stat()
    well = threading.Event()

    def run() -> None:
        try:
            import_module("livedex_late_library")
        except ImportError:
            (tmp_path / "livedex_late_library.py").touch()
            os.utime(tmp_path, ns=(before.st_atime_ns, before.st_mtime_ns))
            raise
        well.set()

    thread = SupervisedThread("part", run, pause_s=0.001)
    thread.start()
    is_well = well.wait(WAIT_S)
    assert thread.end(WAIT_S) and is_well


def test_a_thread_that_is_ended_is_not_started_again() -> None:
    failing = Failing(key_error)
    thread = SupervisedThread("part", failing.run, pause_s=WAIT_S)
    thread.start()
    while thread.fault is None:
        failing.well.wait(0.001)
    assert thread.end(WAIT_S)
    assert not failing.well.is_set()


def test_a_task_that_ended_its_work_is_well() -> None:
    async def supervised() -> None:
        errors = [KeyError("x")]

        async def run() -> None:
            if errors:
                raise errors.pop()

        task = SupervisedTask("part", run, pause_s=0.001)
        task.start()
        while task.fault is None:
            await asyncio.sleep(0)
        async with asyncio.timeout(WAIT_S):
            while task.fault is not None:
                await asyncio.sleep(0)

    asyncio.run(supervised())


def test_a_task_that_fails_is_awaited_again() -> None:
    async def supervised() -> None:
        well = asyncio.Event()
        errors = [KeyError("x")]

        async def run() -> None:
            if errors:
                raise errors.pop()
            well.set()
            await asyncio.Event().wait()

        task = SupervisedTask("part", run, pause_s=0.001)
        task.start()
        await asyncio.wait_for(well.wait(), WAIT_S)
        assert task.fault == "KeyError"
        task.cancel()

    asyncio.run(supervised())
