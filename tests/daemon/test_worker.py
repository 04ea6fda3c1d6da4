"""The worker's memory of files that would not hold still: it ends with the files."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from livedex_daemon.walk import Changes
from livedex_daemon.worker import Worker

HOT = {(1, b"a"), (1, b"d/a"), (1, b"d/e/b"), (1, b"da"), (2, b"a")}


@pytest.fixture
def worker() -> Worker:
    none: Any = SimpleNamespace()
    made = Worker(none, none, none, none, none, none, none)
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
