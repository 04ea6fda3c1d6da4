"""Code of a plugin that hangs or ends its process: the caller goes on, and nothing piles up."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helpers.support import wait_until
from livedex_indexing.plugins.time_limit import LimitedCalls, PluginEnds, within


def test_what_is_raised_is_an_exception() -> None:
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0, "raises")
    with pytest.raises(PluginEnds, match="SystemExit"):
        within(5, lambda: sys.exit(3), "ends")
    assert LimitedCalls("works").run(5, lambda: 7) == 7


def test_while_a_call_hangs_no_other_begins() -> None:
    noted: list[str] = []

    @contextmanager
    def note() -> Iterator[None]:
        noted.append("begins")
        yield
        noted.append("ends")

    calls, released, begun = LimitedCalls("hangs", note), threading.Event(), 0

    def hang() -> bool:
        nonlocal begun
        begun += 1
        return released.wait(60)

    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        calls.run(0.01, hang)
    for _ in range(3):
        with pytest.raises(TimeoutError, match="from an earlier call"):
            calls.run(5, hang)
    assert (begun, noted) == (1, ["begins"])
    released.set()
    wait_until(lambda: noted == ["begins", "ends"], what="the end of the call")
    assert wait_until(lambda: _works(calls), what="a call that works again")


def _works(calls: LimitedCalls) -> bool:
    try:
        return calls.run(5, lambda: True)
    except TimeoutError:
        return False
