"""How long a child takes when the machine is busy: what it waits for a processor does not count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from helpers.support import wait_until
from livedex_indexing.child import time_taken
from livedex_indexing.child.time_taken import TimeTaken, waited_for_processor
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.model import ChunkedContent

SMALL = ChunkJob(b"a.md", b"words\n", ChunkSettings())
SLEEPY = "import time; print(flush=True); time.sleep(100)"
BUSY = "import os; os.sched_setaffinity(0, {int(os.environ['CPU'])})\nwhile True: pass"


@pytest.fixture
def start_busy() -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts processes that compute without end, all on one processor."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        environment = {**os.environ, "CPU": str(min(os.sched_getaffinity(0)))}
        started.append(subprocess.Popen([sys.executable, "-c", BUSY], env=environment))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        each.wait()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system counts it")
def test_one_that_others_keep_from_running_has_waited(start_busy: Callable[[], subprocess.Popen[bytes]]) -> None:
    first, _, _ = start_busy(), start_busy(), start_busy()
    taken = TimeTaken(first.pid)
    taken.look()

    def has_waited() -> bool:
        taken.look()
        return taken.wall_s > 2.0 and taken.seconds < 0.7 * taken.wall_s

    wait_until(has_waited, what="a process that waited for most of the time")


def test_of_one_that_sleeps_or_is_gone_all_time_counts() -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPY], stdout=subprocess.PIPE) as sleeping:
        assert sleeping.stdout is not None
        sleeping.stdout.readline()  # while it started, it may have waited
        taken = TimeTaken(sleeping.pid)
        taken.look()
        wait_until(lambda: taken.wall_s > 1.0, what="a second")
        taken.look()
        assert taken.left(1.0) < 0.2
        sleeping.kill()
    assert waited_for_processor(sleeping.pid) == 0.0


def test_a_file_is_not_late_because_the_machine_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child is kept from running, and the system counts that as its waiting, or does not."""
    process = ChunkProcess()

    def chunk_while_kept() -> ChunkedContent | ChunkFailure:
        process.chunk([SMALL], 60)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGSTOP)
        resume = threading.Timer(1.0, os.kill, (process.pid, signal.SIGCONT))
        resume.start()
        try:
            return process.chunk([SMALL], 0.5)[0]
        finally:
            resume.cancel()

    try:
        with monkeypatch.context() as busy:
            busy.setattr(time_taken, "waited_for_processor", lambda _pid: 0.99 * time.monotonic())
            assert isinstance(chunk_while_kept(), ChunkedContent)
        with pytest.raises(WorkerDied, match="timed out"):
            chunk_while_kept()
    finally:
        process.close()
