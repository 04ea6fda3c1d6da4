"""`livedex exchange run` is stopped, killed, or too late: its message goes on, whole, and nothing of it is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from helpers.exchange_file import Queue
from helpers.exchange_workers import nothing_runs, script, started, words_of
from helpers.support import LIVEDEX, Home, wait_until

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")


@pytest.fixture
def queue(home: Home) -> Iterator[Queue]:
    home.data.mkdir(mode=0o700)
    with closing(Queue(home.data / "exchange.db", real=True)) as opened:
        yield opened


@needs_proc
def test_a_worker_that_is_stopped_gives_its_message_back(home: Home, queue: Queue, tmp_path: Path) -> None:
    queue.publish("work", "")
    began = tmp_path / "began"
    process = started(home, script(f"open({str(began)!r}, 'w').close(); import time; time.sleep(30)"))
    wait_until(began.exists, what="the run")
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out)["status"] == "given_back"
    nothing_runs(home)
    assert queue.claim("work").claim["attempt"] == 2


def test_a_worker_whose_output_nobody_reads_can_be_stopped(home: Home, queue: Queue) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with suppress(BlockingIOError):
        while os.write(writer, b"x"):
            continue
    os.set_blocking(writer, True)
    command = [str(LIVEDEX), "--json", *words_of("cat", "--concurrency", "2")]
    process = subprocess.Popen(command, env=home.env, stdout=writer, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(3):
            queue.publish("work", "")
        # Two are handled, and their lines wait for a reader; the third is not claimed.
        wait_until(lambda: len(queue.read("work.completed")) == 2, what="the answers")
        process.terminate()
        _, err = process.communicate(timeout=30)
        assert (process.returncode, err) == (0, "")
        assert queue.claim("work").claim["attempt"] == 1
    finally:
        process.kill()
        process.communicate()
        os.close(reader)
        os.close(writer)


@needs_proc
def test_a_killed_worker_takes_its_plugin_along(home: Home, queue: Queue, tmp_path: Path) -> None:
    queue.publish("work", "")
    began = tmp_path / "began"
    text = f"import os, time; os.fork(); open({str(began)!r}, 'w').close(); time.sleep(30)"
    process = started(home, script(text), "--lease", "1")
    wait_until(began.exists, what="the run")
    process.kill()
    process.communicate(timeout=30)
    nothing_runs(home)
    claimed = wait_until(lambda: queue.try_claim("work"), what="the end of the lease")
    assert claimed is not None
    assert claimed.claim["attempt"] == 2


def test_a_killed_worker_leaves_no_half_of_a_body(home: Home, queue: Queue, tmp_path: Path) -> None:
    queue.publish("work", "x" * 3_000_000)
    began, read = tmp_path / "began", tmp_path / "read"
    text = f"""
import os, sys, time
leader = os.getpid()
if os.fork():
    time.sleep(30)
os.setsid()  # out of the group, which is killed
open({str(began)!r}, "w").close()
while os.getppid() == leader:
    time.sleep(0.01)
with open({str(read)!r}, "x") as file:
    file.write(str(len(sys.stdin.read())))
"""
    process = started(home, script(text))
    wait_until(began.exists, what="the run")
    process.kill()
    process.communicate(timeout=30)
    wait_until(lambda: read.exists() and read.read_text(), what="what the rest of the plugin reads")
    assert read.read_text() == "3000000"


def test_a_worker_that_was_stopped_for_too_long_changes_nothing(home: Home, queue: Queue, tmp_path: Path) -> None:
    queue.publish("work", "")
    began, end = tmp_path / "began", tmp_path / "end"
    text = f"""
import os, time
open({str(began)!r}, "w").close()
while not os.path.exists({str(end)!r}):
    time.sleep(0.01)
print("late")
"""
    process = started(home, script(text), "--lease", "1", "--once")
    wait_until(began.exists, what="the run")
    os.kill(process.pid, signal.SIGSTOP)
    other = wait_until(lambda: queue.try_claim("work", lease_s=60), what="the end of the lease")
    assert other is not None
    end.touch()
    os.kill(process.pid, signal.SIGCONT)
    out, _ = process.communicate(timeout=30)
    assert json.loads(out)["status"] == "lost"
    assert queue.complete(other, follow_up={"topic": "work.completed", "body": "in time"})["status"] == "completed"
    assert [message["body"] for message in queue.read("work.completed")] == ["in time"]
