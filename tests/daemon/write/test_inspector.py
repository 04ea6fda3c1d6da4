"""What an older look decided is carried out only while it is still so, and each file is read by one work at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.fakes import FakePool, FakePresence, FakeStore, FakeWatching, online_root
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.backlog import Backlog, Entry
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.inspector import Looker
from livedex_daemon.write.walk import Changes, Work
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import FileRow, FileState, RootRow
from livedex_indexing.store.index_store import Store


class Desk:
    """A looker over a real folder and a real store; ``unwatched``: the folders whose watches it took away."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "root"
        self.folder.mkdir()
        path = os.fsencode(self.folder.resolve())
        self.store = Store.open(str(base / "index.db"))
        self.store.put_root(path, 1, 1)
        self.root = Root(
            RootRow(1, path, 1, 1, None, False, None), RootConfig(str(base), str(base), (), 1), RuleTree(path)
        )
        self.root.state = "online"
        self.backlog = Backlog(time.monotonic, lambda: None)
        watching = FakeWatching()
        self.unwatched = watching.unwatched
        self.looker = Looker(self.store, self.backlog, FakePresence().real, watching.real, FakePool().real)

    def look_at(self, path: bytes, *, tree: bool = False) -> Entry:
        """Looks at a path of which nothing was heard for long."""
        entry = Entry((1, path), 1, 0.0)
        entry.tree = tree
        self.looker.look_at(entry, self.root)
        return entry


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.store.close()


def row(path: bytes) -> FileRow:
    return FileRow(1, path, FileState(1, 2, 3, 4), "skipped", "binary", None, None, None, None, 0.0, True)


def test_a_folder_that_came_back_keeps_its_watch_and_is_looked_at_again(desk: Desk) -> None:
    desk.store.put_files([row(b"out/f.txt")])
    entry = desk.look_at(b"out")
    (desk.folder / "out").mkdir()
    desk.looker.depart()
    assert (desk.unwatched, bool(desk.looker.changes)) == ([], False)
    assert desk.looker.finished == [entry] and desk.backlog.pending([(1, b"out")]) == 1


def test_a_file_that_is_gone_leaves_no_row_that_was_decided_before(desk: Desk) -> None:
    desk.looker.changes.rows = [row(b"f.txt"), row(b"other.txt")]
    desk.look_at(b"f.txt")
    desk.looker.depart()
    assert desk.looker.changes.rows == [row(b"other.txt")]
    assert desk.looker.changes.removed == [(1, b"f.txt")]


def test_a_path_is_looked_at_again_after_the_commit_of_its_removal(desk: Desk) -> None:
    desk.store.put_files([row(b"d/f.txt")])
    desk.look_at(b"d")
    desk.looker.depart()
    assert not desk.looker.is_busy((1, b"e")) and not desk.looker.needs_commit
    assert desk.looker.is_busy((1, b"d/f.txt")) and desk.looker.needs_commit


def test_a_walk_waits_for_the_commit_of_what_others_removed(desk: Desk) -> None:
    (desk.folder / "d").mkdir()
    desk.look_at(b"d", tree=True)
    desk.looker.changes.removed.append((1, b"gone"))
    assert not desk.looker.walk_on() and desk.looker.needs_commit
    desk.looker.changes, desk.looker.needs_commit = Changes(), False
    assert desk.looker.walk_on() and not desk.looker.needs_commit


def test_a_file_in_the_place_of_a_folder_is_read_though_the_folder_is_gone(desk: Desk) -> None:
    """The reading was handed in before the walk found that the folder of that name is gone."""
    desk.store.put_files([row(b"d/m/f.txt")])
    (desk.folder / "d").mkdir()
    (desk.folder / "d/m").touch()
    reading = Work(desk.root, b"d/m", 1, None, Entry((1, b"d/m"), 1, 0.0))
    desk.looker.submit([reading], bulk=False)
    desk.look_at(b"d", tree=True)
    assert desk.looker.walk_on()
    assert desk.looker.changes.removed_trees == [(1, b"d/m")] and not reading.void


@pytest.mark.parametrize(
    ("kind", "path", "covered"),
    [
        ("removed", b"d", {b"d"}),
        ("removed_trees", b"d", {b"d", b"d/a", b"d/e/b"}),
        ("shut_out", b"d", {b"d", b"d/a", b"d/e/b"}),
        ("shut_out", b"", {b"", b"d", b"d/a", b"d/e/b", b"da"}),
    ],
)
def test_what_a_removal_covers(kind: str, path: bytes, covered: set[bytes]) -> None:
    changes = Changes()
    assert not changes.covers((1, path))
    getattr(changes, kind).append((1, path))
    paths = {b"", b"d", b"d/a", b"d/e/b", b"da"}
    assert {other for other in paths if changes.covers((1, other))} == covered
    assert not any(changes.covers((2, other)) for other in paths)


def test_two_works_for_one_file_are_read_one_after_the_other() -> None:
    pool, backlog = FakePool(), Backlog(time.monotonic, lambda: None)
    looker = Looker(FakeStore().real, backlog, FakePresence().real, FakeWatching().real, pool.real)
    handed = pool.submitted
    entry = Entry((1, b"a"), 1, 0.0)
    first, second, third = (Work(online_root(), b"a", 1, None, entry) for _ in range(3))
    looker.submit([first], bulk=False)
    looker.submit([second, third], bulk=False)  # two walks came by while it was read
    assert handed == [first]
    for done, after in ((first, second), (second, third)):
        looker.is_read(done)
        looker.retry()  # both are due at the same time
        assert handed[-1] is after and looker.expects(after), "a work that nobody expects would never end"
    looker.is_read(third)
    assert handed == [first, second, third] and not looker.retries
