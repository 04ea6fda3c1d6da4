"""A file that is gone or empty for a moment, as in a save: it counts once it has settled, or is asked for."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from helpers.support import Tree
from livedex_daemon.watch.backlog import Backlog, Entry
from livedex_daemon.write.outcomes import Failed, Gone, Known, Outcome, Skipped
from livedex_daemon.write.walk import Changes, TreeWalk, Work
from livedex_daemon.write.worker import Worker
from livedex_indexing.model import FileState, Stat

HELD = SimpleNamespace(state=FileState(9, 1, 1, 1))
NOTHING_HELD = SimpleNamespace(state=FileState(0, 0, 0, 0))


def stat_of(size: int, age_s: float) -> Stat:
    at = time.time_ns() - int(age_s * 1e9)
    return Stat("file", size, at, at, 1, 1, 0o644)


@pytest.mark.parametrize(
    ("result", "size_and_age", "row", "being_saved"),
    [
        (Gone(), None, HELD, True),
        (Gone(), None, None, False),
        (Known(), (0, 0.0), HELD, True),
        (Known(), (0, 0.0), NOTHING_HELD, False),
        (Known(), (0, 1.0), HELD, False),
        (Known(), (0, -3600.0), HELD, False),  # the clock was set back: nothing to go by
        (Known(), (1, 0.0), HELD, False),
        (Failed("denied", ""), None, HELD, False),
        (Skipped("special"), None, HELD, False),
    ],
)
def test_what_counts_as_being_saved(
    result: Any, size_and_age: tuple[int, float] | None, row: Any, being_saved: bool
) -> None:
    root: Any = SimpleNamespace(id=1)
    work = Work(root, b"f.txt", 9, row, Entry((1, b"f.txt"), 1, 0.0))
    stat = None if size_and_age is None else stat_of(*size_and_age)
    outcome = Outcome(work, result, stat, hashlib.blake2b(b"", digest_size=16).digest())
    assert Worker._is_being_saved(outcome) is being_saved


class Rows:
    """An index that holds one file."""

    def states(self, _root: int, _path: bytes) -> dict[bytes, Any]:
        return {b"f.txt": (1, 1, 1, 1, 1)}

    def all_states(self, _root: int, _limit: int) -> None:
        return None

    def folders_below(self, _root: int, path: bytes) -> list[bytes]:
        return [path]


def walk_of(tree: Tree, now: Callable[[], float]) -> TreeWalk:
    root: Any = SimpleNamespace(
        id=1,
        path=os.fsencode(tree.path),
        belongs=lambda _path: True,
        planned=None,
        rules=SimpleNamespace(rules=lambda *_: SimpleNamespace(decide=lambda *_: None)),
    )
    policy: Any = SimpleNamespace(chunking=None, max_file_size=1 << 20)
    rows: Any = Rows()
    entry = Entry((1, b"d"), 1, 0.0)
    return TreeWalk(rows, root, b"d", entry, watch=lambda *_: None, policy=policy, now=now)


def test_a_walk_tells_what_went_just_now_from_what_is_gone(tree: Tree) -> None:
    tree.write("d/f.txt", "text\n")
    tree.remove("d/f.txt")
    changes = Changes()
    walk = walk_of(tree, time.time)
    assert walk.step(lambda: False, changes)
    assert (changes.removed, walk.absent) == ([], [(1, b"d/f.txt")])
    later = walk_of(tree, lambda: time.time() + 60)
    assert later.step(lambda: False, changes)
    assert (changes.removed, later.absent) == ([(1, b"d/f.txt")], [])


def test_an_entry_that_is_put_off_is_not_lost() -> None:
    backlog = Backlog(time.monotonic, lambda: None)
    backlog.mark((1, b"f.txt"))
    backlog.wait(None, lambda: None)
    (entry,) = backlog.take(1, lambda _key: False)
    entry.waiters.clear()
    assert backlog.defer(entry, entry.key)
    backlog.done([entry])
    assert backlog.pending() == 1
