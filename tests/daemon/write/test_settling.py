"""A file that is missing or empty for a moment, as in a save, counts as such once it has settled or a search waits."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable

import pytest

from helpers.fakes import FakeRows, online_root
from helpers.support import Tree
from livedex_daemon.watch.backlog import Backlog, Entry
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.outcomes import Failed, Gone, Known, Outcome, Result, Skipped
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.walk import TreeWalk, WalkTools, Work, bare_row
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import FileRow, Stat

ROOT = online_root()
POLICY = Policy(ChunkSettings(), 1 << 20, True)


def stat_of(size: int, age_s: float) -> Stat:
    at = time.time_ns() - int(age_s * 1e9)
    return Stat("file", size, at, at, 1, 1, 0o644)


def row_of(size: int) -> FileRow:
    return bare_row(1, b"f.txt", stat_of(size, 3600.0), "indexed", None, 0.0)


WITH_TEXT, EMPTY = row_of(9), row_of(0)


@pytest.mark.parametrize(
    ("result", "size_and_age", "row", "being_saved"),
    [
        (Gone(), None, WITH_TEXT, True),
        (Gone(), None, None, False),
        (Known(), (0, 0.0), WITH_TEXT, True),
        (Known(), (0, 0.0), EMPTY, False),
        (Known(), (0, 1.0), WITH_TEXT, False),
        (Known(), (0, -3600.0), WITH_TEXT, False),  # the clock was set back: the times prove nothing
        (Known(), (1, 0.0), WITH_TEXT, False),
        (Failed("denied", ""), None, WITH_TEXT, False),
        (Skipped("special"), None, WITH_TEXT, False),
    ],
)
def test_what_counts_as_being_saved(
    result: Result, size_and_age: tuple[int, float] | None, row: FileRow | None, being_saved: bool
) -> None:
    work = Work(ROOT, b"f.txt", 9, row, Entry((1, b"f.txt"), 1, 0.0))
    stat = None if size_and_age is None else stat_of(*size_and_age)
    outcome = Outcome(work, result, stat, hashlib.blake2b(b"", digest_size=16).digest())
    assert outcome.is_being_saved() is being_saved


def walk_of(tree: Tree, now: Callable[[], float]) -> TreeWalk:
    rows = FakeRows(b"d", {b"f.txt": (1, 1, 1, 1, 1)})
    tools = WalkTools(rows, lambda _root, _path: None, POLICY, UnreadablePaths(), now)
    return TreeWalk(tools, online_root(os.fsencode(tree.path)), b"d", Entry((1, b"d"), 1, 0.0))


def test_a_walk_distinguishes_what_went_just_now_from_what_is_gone(tree: Tree) -> None:
    tree.write("d/f.txt", "text\n")
    tree.remove("d/f.txt")
    went = os.stat(os.path.join(tree.path, "d")).st_ctime + 0.01
    changes = Changes()
    walk = walk_of(tree, lambda: went)
    assert walk.step(lambda: False, changes)
    assert (changes.removed, walk.absent) == ([], [(1, b"d/f.txt")])
    later = walk_of(tree, lambda: went + 60)
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
