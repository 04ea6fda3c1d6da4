"""The worker's memory of files that would not hold still, which ends with the files, and when it commits."""

from __future__ import annotations

import time
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from livedex_daemon.watch.backlog import Entry, Waiter
from livedex_daemon.write.search_priority import Precedence
from livedex_daemon.write.walk import Changes
from livedex_daemon.write.worker import COLLECT, UNASKED, Worker

HOT = {(1, b"a"), (1, b"d/a"), (1, b"d/e/b"), (1, b"da"), (2, b"a")}


@pytest.fixture
def worker() -> Worker:
    none: Any = SimpleNamespace()
    made = Worker(none, none, none, none, none, none, none, none)
    roots: Any = {1: object(), 2: object()}
    made.roots = roots
    made.unsettled, made.unsteady = set(HOT), set(HOT)
    return made


@pytest.mark.parametrize(
    ("removed", "removed_trees", "shut_out", "gone"),
    [
        ([(1, b"a")], [], [], {(1, b"a")}),
        ([], [(1, b"d")], [], {(1, b"d/a"), (1, b"d/e/b")}),
        ([], [], [(1, b"d/e")], {(1, b"d/e/b")}),
        ([], [], [(1, b"a")], {(1, b"a")}),
        ([], [(1, b"")], [], {key for key in HOT if key[0] == 1}),
        ([(1, b"d")], [], [], set()),
    ],
)
def test_a_file_that_is_gone_needs_no_settling(
    worker: Worker, removed: Any, removed_trees: Any, shut_out: Any, gone: Any
) -> None:
    changes = Changes()
    changes.removed, changes.removed_trees, changes.shut_out = removed, removed_trees, shut_out
    worker._calm(changes)
    assert worker.unsettled == worker.unsteady == HOT - gone


def test_nor_does_one_of_a_root_that_is_gone(worker: Worker) -> None:
    roots: Any = {1: object()}
    worker.roots = roots
    worker._calm(Changes())
    assert worker.unsettled == {key for key in HOT if key[0] == 1}


class Desk:
    """What lies before a worker that committed just now, and when it would commit next: ``at once``, ``soon`` (apart
    from the last commit), ``gathered`` (with more of the same) or ``never``."""

    def __init__(self, worker: Any) -> None:
        self.worker = worker
        self.looker = worker._looker = SimpleNamespace(changes=Changes(), finished=[], needs_commit=False)
        self.pool = worker.pool = SimpleNamespace(outstanding=1)
        self.now = time.monotonic()
        worker._committed_at, worker._gather_until = self.now, self.now + 3600

    def outcome(self, *waiters: Waiter, tree: bool = False, works: int = 1) -> Entry:
        """A file was read; ``works``: how many of its entry are still to be stored."""
        entry = Entry((1, b"f"), 1, self.now)
        entry.tree, entry.works, entry.waiters = tree, works, list(waiters)
        self.worker._keep(SimpleNamespace(work=SimpleNamespace(entry=entry)))
        return entry

    def due(self) -> str:
        at = self.worker._commit_due()
        if at == inf:
            return "never"
        return "at once" if at < self.now else "soon" if at < self.now + 60 else "gathered"


@pytest.fixture
def desk(worker: Worker) -> Desk:
    return Desk(worker)


def waiter(left: int) -> Waiter:
    made = Waiter(lambda: None)
    made.left = left
    return made


def test_edits_that_nobody_waits_for_are_stored_together(desk: Desk) -> None:
    assert desk.due() == "never"
    desk.outcome()
    assert desk.due() == "soon"
    desk.worker._committed_at = 0.0
    assert desk.due() == "at once", "the first for a while"


def test_what_somebody_waits_for_is_stored_once_it_is_complete(desk: Desk) -> None:
    asks = waiter(2)
    desk.outcome(asks)
    assert desk.due() == "soon", "another one is missing"
    desk.outcome(asks)
    assert desk.due() == "at once"


def test_a_part_of_what_somebody_waits_for_releases_nobody(desk: Desk) -> None:
    entry = desk.outcome(waiter(1), tree=True, works=2)
    assert desk.due() == "gathered"
    desk.worker._keep(SimpleNamespace(work=SimpleNamespace(entry=entry)))
    assert desk.due() == "at once"


def test_bulk_work_is_gathered_until_there_is_much_of_it_or_no_more(desk: Desk) -> None:
    for _ in range(COLLECT):
        assert desk.due() != "at once"
        desk.outcome(tree=True, works=10_000)
    assert desk.due() == "at once"
    desk.worker._drop_outcomes()
    desk.outcome(tree=True, works=10_000)
    assert desk.due() == "gathered"
    desk.pool.outstanding = 0
    assert desk.due() == "soon"


def test_more_is_gathered_while_nobody_asks(desk: Desk) -> None:
    wanted: list[int] = []
    desk.pool.collect = lambda limit: wanted.append(limit) or []  # type: ignore[func-returns-value]
    precedence = desk.worker._precedence = Precedence()
    desk.worker._gather()
    patient = desk.worker._gather_until - time.monotonic()
    precedence.ask()
    desk.worker._gather()
    assert wanted == [COLLECT * UNASKED, COLLECT]
    assert desk.worker._gather_until - time.monotonic() < patient


def test_what_is_gone_is_stored_like_an_edit(desk: Desk) -> None:
    entry = Entry((1, b"f"), 1, desk.now)
    desk.looker.finished.append(entry)
    assert desk.due() == "at once", "nothing is to be stored on its account"
    desk.looker.changes.removed.append((1, b"f"))
    assert desk.due() == "soon"
    entry.waiters.append(waiter(1))
    assert desk.due() == "at once"
