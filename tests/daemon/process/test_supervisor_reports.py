"""The watchdog is pinged while the writer answers, and not for long after it stopped answering."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future

from helpers.clock import Clock
from livedex_daemon.process.supervisor_reports import SILENT_S, Heartbeat, SupervisorReports


class Writer:
    """Answers each order at once while ``works`` is True."""

    def __init__(self) -> None:
        self.works = self.lives = True
        self.orders: list[Future[None]] = []

    def alive(self) -> bool:
        return self.lives

    def submit(self, action: Callable[[], None]) -> Future[None]:
        self.orders.append(Future())
        if self.works:
            action()
            self.orders[-1].set_result(None)
        return self.orders[-1]


def test_a_writer_that_answers_is_alive() -> None:
    writer, clock = Writer(), Clock(0.0)
    heartbeat = Heartbeat(writer, clock=clock)
    for _ in range(10):
        clock.now += SILENT_S / 2
        assert heartbeat.beats()


def test_a_writer_that_hangs_is_not_called_alive_for_long() -> None:
    writer, clock = Writer(), Clock(0.0)
    heartbeat = Heartbeat(writer, clock=clock)
    assert heartbeat.beats()
    writer.works = False
    assert heartbeat.beats()
    clock.now += SILENT_S - 1
    assert heartbeat.beats(), "one long step is no hang"
    clock.now += 1
    assert not heartbeat.beats()
    assert len(writer.orders) == 2, "one order waits at most"
    writer.orders[-1].set_result(None)
    assert heartbeat.beats(), "it goes on"


def test_a_dead_or_failing_writer_is_not_called_alive() -> None:
    writer, clock = Writer(), Clock(0.0)
    heartbeat = Heartbeat(writer, clock=clock)
    writer.lives = False
    assert not heartbeat.beats()
    writer.lives, writer.works = True, False
    heartbeat.beats()
    writer.orders[-1].set_exception(RuntimeError("indexing has failed"))
    clock.now += SILENT_S
    assert not heartbeat.beats(), "an order that is refused is no answer"


def test_the_status_line_says_what_is_to_be_done() -> None:
    assert SupervisorReports(Writer(), lambda: 0).status() == "serving"
    assert SupervisorReports(Writer(), lambda: 1204).status() == "serving, 1,204 changes to index"
    assert SupervisorReports(Writer(), lambda: 1).status() == "serving, 1 change to index"
