"""Memory that searches freed goes back to the system once they have stopped, even if nothing was indexed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers.fakes import FakePool, FakeWorker, unused_index
from livedex_daemon.process import memory
from livedex_daemon.upkeep import idle_maintenance
from livedex_daemon.upkeep.idle_maintenance import IdleMaintenance
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.search_priority import SearchPriority


@pytest.fixture
def trims(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    done: list[str] = []
    monkeypatch.setattr(memory, "trim", lambda: done.append("trimmed"))
    return done


def tidy(priority: SearchPriority) -> IdleMaintenance:
    """A worker with nothing else to do."""
    pool, backlog = FakePool(outstanding=1), Backlog(lambda: 0.0, lambda: None)
    return IdleMaintenance(FakeWorker().real, unused_index(), backlog, pool.real, priority, CommitLatency())


def later(_seconds: float, _action: Callable[[], object]) -> None:
    raise AssertionError("nothing is left to be done")


def search(priority: SearchPriority) -> None:
    with priority.searching():
        pass


def test_what_searches_left_is_freed_once_after_them(trims: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_maintenance, "QUIET_S", 0.0)
    priority = SearchPriority()
    tidying_up = tidy(priority)
    tidying_up.maintain(later)
    assert trims == [], "none has been asked"
    for times in (1, 2):
        search(priority)
        tidying_up.maintain(later)
        tidying_up.maintain(later)
        assert len(trims) == times


def test_not_while_searches_go_on(trims: list[str]) -> None:
    priority = SearchPriority()
    search(priority)
    tidy(priority).maintain(later)
    assert trims == []
