"""A thread that cannot begin is an error of its start, whatever it lacked."""

from __future__ import annotations

import sys
import threading

import pytest

from livedex_ipc import thread_start

WAIT_S = 10.0


def test_it_runs_as_one_that_python_started() -> None:
    seen: list[threading.Thread] = []
    thread = threading.Thread(target=lambda: seen.append(threading.current_thread()), name="some", daemon=True)
    thread_start.start(thread)
    thread.join(WAIT_S)
    assert seen == [thread]
    assert not thread.is_alive()


def test_while_it_runs_it_is_alive() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait, args=(WAIT_S,), daemon=True)
    assert not thread.is_alive()
    thread_start.start(thread)
    assert thread.is_alive()
    assert thread in threading.enumerate()
    release.set()
    thread.join(WAIT_S)
    assert not thread.is_alive()


@pytest.mark.parametrize("lacking", ["_bootstrap", "_bootstrap_inner", "_set_ident"])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_one_that_lacks_memory_to_begin_is_an_error(lacking: str) -> None:
    """Each is a step of a new thread before it runs: Python itself waits for ever."""
    ran: list[int] = []

    def fail(_thread: threading.Thread) -> None:
        raise MemoryError

    assert hasattr(threading.Thread, lacking)
    thread = type("Lacking", (threading.Thread,), {lacking: fail})(target=ran.append, args=(1,), daemon=True)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        thread_start.start(thread)
    assert not ran
    assert thread not in threading.enumerate()


def test_one_that_ends_while_it_is_looked_at_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_start, "LOOK_S", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(200):
            thread_start.start(threading.Thread(target=int, daemon=True))
    finally:
        sys.setswitchinterval(interval)
