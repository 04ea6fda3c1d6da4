"""Where the system starts no more threads, those that there are do the work; without any it is refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError

import pytest

from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

WAIT_S = 10.0


@pytest.fixture
def shortage(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """While it lasts no thread starts."""

    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        yield patch


def test_one_thread_does_the_work_of_all() -> None:
    threads = LastingThreads(4, "some", at_once=1)
    began, release = threading.Event(), threading.Event()

    def hold() -> str:
        began.set()
        release.wait(WAIT_S)
        return "first"

    first = threads.submit(hold)
    assert began.wait(WAIT_S)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Thread, "start", lambda _thread: (_ for _ in ()).throw(RuntimeError()))
        others = [threads.submit(str, number) for number in range(5)]
    release.set()
    assert first.result(WAIT_S) == "first"
    assert [other.result(WAIT_S) for other in others] == ["0", "1", "2", "3", "4"]
    threads.shutdown()


def test_without_a_thread_it_is_refused(shortage: pytest.MonkeyPatch) -> None:
    threads = LastingThreads(4, "some")
    with pytest.raises(Unavailable, match="ulimit -u"):
        threads.submit(str, 1)
    shortage.undo()
    assert threads.submit(str, 2).result(WAIT_S) == "2", "what was refused never runs"
    threads.shutdown()


def test_an_action_of_its_own_thread_is_refused(shortage: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="ulimit -u"):
        asyncio.run(in_daemon_thread(lambda: 1, "one"))


def test_a_thread_that_cannot_hand_over_a_result_goes_on() -> None:
    """Memory is lacking: even what says so may fail."""

    class Lacking(BaseException):
        pass

    def fail(_done: object) -> None:
        raise Lacking

    threads = LastingThreads(1, "some")
    release = threading.Event()
    held = threads.submit(release.wait, WAIT_S)
    held.add_done_callback(fail)
    release.set()
    assert threads.submit(str, 2).result(WAIT_S) == "2"
    threads.shutdown()


def test_actions_run_side_by_side_and_errors_come_back() -> None:
    threads = LastingThreads(3, "some")
    together = threading.Barrier(3)
    assert sorted(future.result(WAIT_S) for future in [threads.submit(together.wait, WAIT_S) for _ in range(3)]) == [
        0,
        1,
        2,
    ]
    with pytest.raises(ZeroDivisionError):
        threads.submit(divmod, 1, 0).result(WAIT_S)
    threads.shutdown()
    with pytest.raises(Unavailable):
        threads.submit(str, 1)


def test_what_has_not_begun_is_dropped_at_the_end() -> None:
    threads = LastingThreads(1, "some")
    release = threading.Event()
    threads.submit(release.wait, WAIT_S)
    waiting = threads.submit(str, 1)
    threads.shutdown(cancel_futures=True)
    release.set()
    with pytest.raises(CancelledError):
        waiting.result(WAIT_S)
