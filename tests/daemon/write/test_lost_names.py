"""Which file had a name is known once the name is lost: what its open descriptors write is reported under it."""

from __future__ import annotations

import os

import pytest

from helpers.fakes import FakeForgottenFiles
from helpers.inspection_desk import Desk, row
from livedex_daemon.watch.backlog import Entry, Waiter
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.commit import Committer
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import bare_row
from livedex_indexing.disk import tree


@pytest.mark.parametrize("now", ["file", "folder", "nothing"])
def test_a_name_that_is_lost_is_known_before_the_commit(desk: Desk, now: str) -> None:
    """A search does not wait for the commit of what lies outside its scope."""
    desk.store.put_files([row(b"f.txt")])
    if now == "file":
        (desk.folder / "f.txt").write_text("another file")
    elif now == "folder":
        (desk.folder / "f.txt").mkdir()
    desk.inspect(b"f.txt")
    desk.inspector.depart()
    assert desk.inspector.former_names.inodes_of((1, b"f.txt")) == (4,)


def test_a_name_that_is_read_while_its_folder_goes_leads_to_the_others(desk: Desk) -> None:
    """It is never stored, so no row says which file it was."""
    (desk.folder / "d").mkdir()
    (desk.folder / "d/f.txt").touch()
    desk.inspect(b"d/f.txt")
    (work,) = desk.pool.submitted
    assert work.state is not None
    (desk.folder / "d").rename(desk.folder.parent / "d")
    desk.inspect(b"d")
    desk.inspector.depart()
    assert desk.inspector.former_names.inodes_of((1, b"d/f.txt")) == (work.state.ino,)


@pytest.mark.parametrize("change", ["removed", "replaced", "replaced by a folder"])
def test_a_name_that_a_walk_finds_lost_leads_to_the_others_when_its_event_comes(desk: Desk, change: str) -> None:
    """The file was written by it after the walk had passed another name."""
    (desk.folder / "p").mkdir()
    (desk.folder / "q").mkdir()
    (desk.folder / "p/f.txt").touch()
    os.link(desk.folder / "p/f.txt", desk.folder / "q/f.txt")
    found = tree.stat(desk.root.path, b"p/f.txt")
    assert found is not None
    desk.store.put_files([row(path)._replace(state=found.state) for path in (b"p/f.txt", b"q/f.txt")])
    passed: list[bytes] = []

    def watch(_root: Root, path: bytes) -> None:
        if passed and path in (b"p", b"q"):
            written = desk.folder / os.fsdecode(path) / "f.txt"
            written.write_text("more")
            written.unlink()
            if change == "replaced":
                written.write_text("another file")
            elif change == "replaced by a folder":
                written.mkdir()
        passed.extend({path} & {b"p", b"q"})

    desk.watching.on_watch = watch
    entry = Entry((1, b""), 1, 0.0)
    entry.tree, entry.waiters = True, [Waiter(lambda: None)]
    desk.inspector.inspect(entry, desk.root)
    while entry.works and desk.inspector.walk_on():
        pass
    kept, lost = (name + b"/f.txt" for name in passed)
    if change == "replaced":
        work = next(work for work in desk.pool.submitted if work.path == lost)
        desk.inspector.changes.rows.append(bare_row(1, lost, tree.stat(desk.root.path, lost), "pending", None, 0.0))
        desk.inspector.readings.end(work)
    Committer(desk.store, FakeForgottenFiles().real, Roots([desk.root]), SearchPriority()).apply(
        desk.inspector.changes, [], desk.inspector.former_names
    )
    desk.commit()
    event = Entry((1, lost), 1, 0.0)
    event.from_event, event.waiters = True, [Waiter(lambda: None)]
    desk.inspector.inspect(event, desk.root)
    assert (1, kept) in {waiting.key for waiting in desk.backlog.left(event.waiters[0])}


@pytest.mark.parametrize("now", ["file", "folder"])
def test_what_was_written_by_a_name_just_before_it_was_replaced_is_looked_for(desk: Desk, now: str) -> None:
    """One event tells of both."""
    desk.store.put_files([row(b"f.txt"), row(b"kept.txt")])
    if now == "file":
        (desk.folder / "f.txt").write_text("another file")
    else:
        (desk.folder / "f.txt").mkdir()
    event = Entry((1, b"f.txt"), 1, 0.0)
    event.from_event, event.waiters = True, [Waiter(lambda: None)]
    desk.inspector.inspect(event, desk.root)
    assert [entry.key for entry in desk.backlog.left(event.waiters[0])] == [(1, b"kept.txt")]
