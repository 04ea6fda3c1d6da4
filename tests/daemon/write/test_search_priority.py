"""Indexing pauses for searches: while one runs, and no longer than indexing itself worked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from livedex_daemon.write.search_priority import FEW, RECENT_S, SearchPriority

LONG_S = 60.0  # longer than any test: a waiter is released by what it waits for
MANY = FEW + 1


@contextmanager
def indexing(priority: SearchPriority, files: int = MANY) -> Iterator[threading.Event]:
    """A thread that starts on one of ``files`` files; the event is set once it continues."""
    goes_on = threading.Event()

    def run() -> None:
        priority.yield_to_searches(files)
        goes_on.set()

    thread = threading.Thread(target=run)
    thread.start()
    yield goes_on
    thread.join(LONG_S)
    assert not thread.is_alive()


def test_many_files_wait_until_no_search_is_under_way() -> None:
    priority = SearchPriority(LONG_S)
    first, second = priority.searching(), priority.searching()
    first.__enter__()
    second.__enter__()
    with indexing(priority) as goes_on:
        first.__exit__(None, None, None)
        assert not goes_on.wait(0.05)
        second.__exit__(None, None, None)
    assert goes_on.is_set()


def test_a_search_that_fails_holds_nobody_up() -> None:
    priority = SearchPriority(LONG_S)
    with pytest.raises(ValueError, match="failed"), priority.searching():
        raise ValueError("failed")
    with indexing(priority) as goes_on:
        pass
    assert goes_on.is_set()


def test_few_files_wait_for_no_search() -> None:
    priority = SearchPriority(LONG_S)
    with priority.searching(), indexing(priority, FEW) as goes_on:
        assert goes_on.wait(LONG_S / 2), "it waited for the search"


def test_nobody_waits_longer_than_is_allowed_or_than_twice_his_work() -> None:
    priority = SearchPriority(0.01)
    with priority.searching():
        priority.yield_to_searches(MANY)  # for as long as permitted

    def wait_twice() -> None:
        priority.yield_to_searches(MANY)
        again.wait(LONG_S)
        priority.yield_to_searches(MANY)

    priority, again = SearchPriority(LONG_S), threading.Event()
    thread = threading.Thread(target=wait_twice)
    with priority.searching():
        thread.start()
    with priority.searching():
        again.set()
        thread.join(LONG_S / 2)  # twice as long as it worked, which is almost nothing
        assert not thread.is_alive()


def test_a_daemon_is_in_use_until_no_request_came_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    priority = SearchPriority()
    assert not priority.is_queried()
    with priority.searching():
        assert not priority.is_queried(), "it may be a look at the status"
    priority.record_query()
    assert priority.is_queried()
    later = time.monotonic() + RECENT_S
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert not priority.is_queried()
