"""The outcomes that wait for the worker: in order, and not too many."""

from __future__ import annotations

import threading

import pytest

from helpers.pool_parts import works
from helpers.support import wait_until
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write import outcome_queue
from livedex_daemon.write.outcome_queue import OutcomeQueue
from livedex_daemon.write.outcomes import Gone, Outcome


def gone(root: Root, *names: str) -> list[Outcome]:
    return [Outcome(work, Gone()) for work in works(root, *names)]


def test_outcomes_are_taken_in_the_order_in_which_they_came(root: Root) -> None:
    woken: list[None] = []
    queue = OutcomeQueue(lambda: woken.append(None))
    first, second, third = outcomes = gone(root, "a", "b", "c")
    queue.put([])
    assert not woken
    queue.put(outcomes)
    assert len(woken) == 1
    assert queue.take(2) == [first, second]
    assert queue.take(2) == [third]
    assert queue.take(2) == []


def test_who_adds_waits_while_too_many_wait(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_queue, "UNCOLLECTED", 2)
    queue = OutcomeQueue(lambda: None)
    queue.put(gone(root, "a", "b"))
    adds = threading.Thread(target=queue.put, args=(gone(root, "c"),), daemon=True)
    adds.start()
    adds.join(0.05)
    assert adds.is_alive()
    assert len(queue.take(1)) == 1
    adds.join(30)
    assert [outcome.work.path for outcome in queue.take(9)] == [b"b", b"c"]


def test_nobody_waits_at_a_closed_queue(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_queue, "UNCOLLECTED", 1)
    queue = OutcomeQueue(lambda: None)
    queue.put(gone(root, "a"))
    adds = threading.Thread(target=queue.put, args=(gone(root, "b"),), daemon=True)
    adds.start()
    queue.close()
    wait_until(lambda: not adds.is_alive(), what="the end of the wait")
