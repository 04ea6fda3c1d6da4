"""The outcomes that wait for the worker: in order, and not too many."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from helpers.pool_parts import jobs, works
from helpers.support import wait_until
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write import outcome_queue
from livedex_daemon.write.outcome_queue import OutcomeQueue
from livedex_daemon.write.outcomes import Gone, Outcome
from livedex_indexing.model import ChunkedContent
from livedex_indexing.store.forgotten_files import ForgottenFiles


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


def test_who_adds_waits_while_too_many_bytes_wait(
    root: Root, folder: Path, marks: ForgottenFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcome_queue, "UNCOLLECTED_BYTES", 100)
    for name in ("a", "b", "c"):
        (folder / name).write_text("words " * 10)
    content = ChunkedContent("plain", None, "utf-8", False, [], [])
    first, second, third = (job.outcome(content) for job in jobs(root, marks, "a", "b", "c"))
    queue = OutcomeQueue(lambda: None)
    queue.put([first])
    queue.put([second])
    adds = threading.Thread(target=queue.put, args=([third],), daemon=True)
    adds.start()
    adds.join(0.05)
    assert adds.is_alive()
    assert queue.take(1) == [first]
    adds.join(30)
    assert queue.take(9) == [second, third]
    queue.put(gone(root, *map(str, range(20))))
    queue.put(gone(root, "outcomes without text are small"))


def test_nobody_waits_at_a_closed_queue(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome_queue, "UNCOLLECTED", 1)
    queue = OutcomeQueue(lambda: None)
    queue.put(gone(root, "a"))
    adds = threading.Thread(target=queue.put, args=(gone(root, "b"),), daemon=True)
    adds.start()
    queue.close()
    wait_until(lambda: not adds.is_alive(), what="the end of the wait")
