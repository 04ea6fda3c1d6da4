"""A separate thread receives signals, and a stop that takes too long is cut off."""

from __future__ import annotations

import errno
import faulthandler
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from livedex_daemon.process.stopping import SignalThread, StopDeadline


@pytest.fixture
def as_before() -> Iterator[None]:
    former = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, former)


def test_each_signal_is_acted_on_by_its_thread_though_an_action_failed(as_before: None) -> None:
    heard: list[str] = []
    twice = threading.Event()

    def act() -> None:
        heard.append(threading.current_thread().name)
        if len(heard) == 2:
            twice.set()
        raise ValueError

    signals = SignalThread({signal.SIGUSR1: act})
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        while not heard:  # two pending signals are one
            twice.wait(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)
        assert twice.wait(10)
        assert heard == ["signals", "signals"]
    finally:
        signals.close()


class FailsOnce(socket.socket):
    """A socket whose first read fails, as at an error of the system or without memory."""

    failed = False

    def recv_into(self, buffer: bytearray, *_: Any) -> int:  # type: ignore[override]
        if not self.failed:
            self.failed = True
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().recv_into(buffer)


def test_a_signal_is_heard_though_reading_it_failed(as_before: None, monkeypatch: pytest.MonkeyPatch) -> None:
    received, written = socket.socketpair()
    monkeypatch.setattr(socket, "socketpair", lambda: (FailsOnce(fileno=received.detach()), written))
    heard = threading.Event()
    signals = SignalThread({signal.SIGUSR1: heard.set})
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert heard.wait(10)
    finally:
        signals.close()


class Ending:
    """Records what a deadline did instead of ending the tests."""

    def __init__(self) -> None:
        self.done: list[object] = []
        self.ended = threading.Event()

    def last(self) -> None:
        self.done.append("last")
        raise OSError("hangs no longer, and fails")

    def end(self, code: int) -> None:
        self.done.append(code)
        self.ended.set()

    def deadline(self, limit_s: float) -> StopDeadline:
        return StopDeadline(
            lambda: self.done.append("stop"), self.last, limit_s, end=self.end, backstop=self.done.append
        )


def test_a_stop_that_takes_too_long_is_cut_off_once() -> None:
    ending = Ending()
    deadline = ending.deadline(0.01)
    deadline.begin()
    deadline.begin()
    assert ending.ended.wait(10)
    assert ending.done == [pytest.approx(0.41), "stop", "last", 0]


def test_a_stop_needs_no_new_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    ending = Ending()
    deadline = ending.deadline(0.01)

    def refuse(*_arguments: object, **_options: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    monkeypatch.setattr(faulthandler, "dump_traceback_later", refuse)
    deadline.begin()
    assert ending.ended.wait(10)
    assert ending.done == [pytest.approx(0.41), "stop", "last", 0]


def test_what_lacks_memory_is_done_again(as_before: None) -> None:
    tries: list[int] = []
    done = threading.Event()

    def act() -> None:
        tries.append(1)
        if len(tries) < 3:
            raise MemoryError
        done.set()

    signals = SignalThread({signal.SIGUSR1: act})
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert done.wait(10)
    finally:
        signals.close()


ALARM = """
import faulthandler
from livedex_daemon.process.stopping import end_without_python
def refuse(*arguments, **options):
    raise RuntimeError("unable to start watchdog thread")
faulthandler.dump_traceback_later = refuse
end_without_python(0.01)
while True:
    pass
"""


def test_the_kernel_ends_what_no_thread_can_end() -> None:
    assert subprocess.run([sys.executable, "-c", ALARM], check=False, timeout=60).returncode == -signal.SIGALRM


HANGING = """
import concurrent.futures, threading
from livedex_daemon.process.stopping import end_process
concurrent.futures.ThreadPoolExecutor(1).submit(threading.Event().wait)
end_process(3)
"""


def test_the_end_joins_no_thread() -> None:
    assert subprocess.run([sys.executable, "-c", HANGING], check=False, timeout=20).returncode == 3
