"""A pending row that no work will read is marked at the next idle check."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.fakes import online_root
from helpers.store_rig import Rig
from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.upkeep.pending_rows import PendingRows
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Roots, RootTable
from livedex_daemon.write.unsettled import UnsettledFiles


class World:
    """A store with pending rows, and nothing else to do."""

    def __init__(self, path: Path) -> None:
        self.rig = Rig(path)
        self.root = online_root(b"/r", self.rig.root)
        self.backlog = Backlog(lambda: 0.0, lambda: None)
        self.files = UnsettledFiles()
        self.conversions = Conversions()
        roots = Roots()
        roots.replace(RootTable([self.root]))
        self.rows = PendingRows(self.rig.store, self.backlog, roots, self.files, self.conversions)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "index.db")
    made.rig.put(b"indexed.txt", "words")
    return made


def take_all(world: World) -> set[bytes]:
    world.rows.mark()
    world.backlog.wait(None, lambda: None)  # a search waits, so that it need not settle
    taken = world.backlog.take(9, lambda _key: False)
    world.backlog.done(taken)
    return {entry.key[1] for entry in taken}


def test_a_row_that_nothing_works_on_is_marked_once(world: World) -> None:
    world.rig.put_pending(b"d/lost.txt")
    world.rig.put_pending(b"lost.txt")
    assert take_all(world) == {b"d/lost.txt", b"lost.txt"}
    assert take_all(world) == set(), "no generation since"
    world.rig.put(b"other.txt", "more words")
    assert take_all(world) == {b"d/lost.txt", b"lost.txt"}


def test_not_while_there_is_work(world: World) -> None:
    world.rig.put_pending(b"lost.txt")
    world.backlog.mark((world.rig.root, b"other.txt"), Mark(now=True))
    (entry,) = world.backlog.take(9, lambda _key: False)
    world.rows.mark()
    assert world.backlog.pending() == 1, "it may be what the work is about"
    world.backlog.done([entry])
    assert take_all(world) == {b"lost.txt"}


def test_not_what_is_unsettled_or_of_a_root_that_is_gone(world: World) -> None:
    world.rig.put_pending(b"changing.txt")
    world.files.add((world.rig.root, b"changing.txt"))
    assert take_all(world) == set()
    world.rig.put_pending(b"lost.txt")
    world.root.state = "missing"
    assert take_all(world) == set()
