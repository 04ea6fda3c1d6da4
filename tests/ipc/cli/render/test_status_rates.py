"""The line about the current work in a watched status."""

from __future__ import annotations

from typing import Any

from livedex_ipc.cli.render.status_rates import StatusRates


def status(read: int, pending: int) -> Any:
    return {"work": {"files_read": read}, "pending": pending}


def test_while_nothing_is_done_there_is_no_line() -> None:
    rates = StatusRates()
    assert [rates.line(status(7, 0), now) for now in (0.0, 0.5, 1.0)] == ["", "", ""]


def test_it_says_how_fast_and_how_long() -> None:
    rates = StatusRates()
    rates.line(status(0, 400), 0.0)
    assert rates.line(status(100, 300), 1.0) == "100 files/s, 300 to go, about 3 s  █▇"
    assert rates.line(status(200, 200), 2.0) == "100 files/s, 200 to go, about 2 s  █▇▅"
    assert rates.line(status(400, 0), 4.0) == "100 files/s, 0 to go  █▇▅▁"


def test_a_backlog_that_does_not_move_promises_nothing() -> None:
    rates = StatusRates()
    rates.line(status(5, 9), 0.0)
    assert rates.line(status(5, 9), 1.0) == "0 files/s, 9 to go  ██"


def test_another_daemon_begins_again() -> None:
    rates = StatusRates()
    rates.line(status(500, 10), 0.0)
    assert rates.line(status(0, 10), 1.0) == "0 files/s, 10 to go  █"


def test_only_the_last_moments_count() -> None:
    rates = StatusRates()
    for number in range(100):
        rates.line(status(0, 5), number / 2)
    line = rates.line(status(390, 5), 50.0)
    assert line.startswith("20 files/s")
    assert len(line.rpartition("  ")[2]) == 40
