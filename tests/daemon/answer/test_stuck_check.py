"""A change that is pending for half a minute without a reason is named; one that moves, or has a reason, is not."""

from __future__ import annotations

from helpers.fakes import FakePool, online_root
from livedex_daemon.answer.stuck_check import LIMIT_S, QUEUE, StuckCheck
from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_health import WorkerFault
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.unsettled import UnsettledFiles
from livedex_indexing.store.index_store import IndexUnwritable

KEY: Key = (1, b"d/f.txt")


class Desk:
    """A backlog with one change, on a clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.backlog = Backlog(self.clock, lambda: None)
        self.pool, self.health, self.latency = FakePool(), StoreHealth(), CommitLatency()
        self.files = UnsettledFiles(self.clock)
        self.latency.last_at = 0.0
        self.check = StuckCheck(self.backlog, self.files, self.pool.real, self.latency, clock=self.clock)
        self.backlog.mark(KEY)

    def clock(self) -> float:
        return self.now

    def stuck(self) -> list[bytes]:
        return self.check.stuck(Roots([online_root()]), self.health)

    def take(self) -> Entry:
        (entry,) = self.backlog.take(9, lambda _: False)
        return entry


def test_a_change_that_does_not_move_is_stuck_after_half_a_minute() -> None:
    desk = Desk()
    desk.now += LIMIT_S
    assert (desk.stuck(), desk.check.late()) == ([], False)
    desk.now += 1
    assert (desk.stuck(), desk.check.late()) == ([b"/r/d/f.txt"], True)


def test_a_change_that_is_worked_on_is_late_and_not_stuck() -> None:
    desk = Desk()
    desk.now += LIMIT_S
    entry = desk.take()
    desk.backlog.mark(KEY)  # waits for the first
    desk.now += 1
    desk.backlog.moved(entry)
    assert (desk.stuck(), desk.check.late()) == ([], True)
    desk.now += LIMIT_S + 1
    assert desk.stuck() == [b"/r/d/f.txt"]
    desk.backlog.done([entry])
    desk.backlog.done([desk.take()])
    assert (desk.stuck(), desk.check.late()) == ([], False)


def test_what_no_search_waits_for_is_not_late() -> None:
    desk = Desk()
    desk.backlog.drop_root(1)
    desk.backlog.mark((1, b""), Mark(tree=True, background=True))
    desk.now += LIMIT_S + 1
    assert not desk.check.late()


def test_a_pause_before_another_walk_does_not_count() -> None:
    desk = Desk()
    desk.backlog.drop_root(1)
    desk.backlog.mark((1, b""), Mark(tree=True, rest_s=60.0))
    desk.now += 61
    assert desk.stuck() == []


def test_a_long_queue_that_shortens_is_not_stuck() -> None:
    desk = Desk()
    desk.now += LIMIT_S + 1
    desk.pool.outstanding = QUEUE + 1
    desk.latency.last_at = desk.now - 1
    assert desk.stuck() == []
    desk.latency.last_at = desk.now - LIMIT_S - 1
    assert desk.stuck() == [b"/r/d/f.txt"]


def test_what_another_warning_explains_is_not_stuck() -> None:
    desk = Desk()
    desk.now += LIMIT_S + 1
    desk.pool.is_paused = True
    assert desk.stuck() == []
    desk.pool.is_paused = False
    desk.pool.worker_fault = WorkerFault("exit status 1")
    assert desk.stuck() == []
    desk.pool.worker_fault = None
    desk.health.failed(IndexUnwritable("full"))
    assert desk.stuck() == []


def test_a_file_that_changes_for_half_a_minute_is_named() -> None:
    desk = Desk()
    desk.backlog.drop_root(1)
    desk.files.add((1, b"log"))
    desk.now += LIMIT_S
    desk.files.add((1, b"log"))
    desk.now += 1
    assert desk.stuck() == [b"/r/log"]
    desk.files.discard((1, b"log"))
    assert desk.stuck() == []
