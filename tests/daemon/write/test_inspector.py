"""An earlier decision is carried out only while it still holds, and one work at a time reads each file."""

from __future__ import annotations

import os
import time

import pytest

from helpers.fakes import FakePool, FakePresence, FakeStore, FakeWatching, online_root
from helpers.inspection_desk import Desk, row
from livedex_daemon.watch.backlog import Backlog, Entry, Waiter
from livedex_daemon.watch.root_table import Root
from livedex_daemon.watch.run_progress import RunProgress
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.inspector import Inspector
from livedex_daemon.write.walk import Work
from livedex_indexing.disk import tree
from livedex_indexing.ignore.external_files import Source


def test_a_folder_that_came_back_keeps_its_watch_and_is_looked_at_again(desk: Desk) -> None:
    desk.store.put_files([row(b"out/f.txt")])
    entry = desk.inspect(b"out")
    (desk.folder / "out").mkdir()
    desk.inspector.depart()
    assert (desk.unwatched, bool(desk.inspector.changes)) == ([], False)
    assert desk.inspector.finished == [entry] and desk.backlog.pending([(1, b"out")]) == 1


def test_a_file_that_is_gone_leaves_no_row_that_was_decided_before(desk: Desk) -> None:
    desk.inspector.changes.rows = [row(b"f.txt"), row(b"other.txt")]
    desk.inspect(b"f.txt")
    desk.inspector.depart()
    assert desk.inspector.changes.rows == [row(b"other.txt")]
    assert desk.inspector.changes.removed == [(1, b"f.txt")]


@pytest.mark.parametrize("dropped_before", [False, True])
def test_a_file_in_the_place_of_a_folder_leaves_no_row_below_that_was_decided_before(
    desk: Desk, dropped_before: bool
) -> None:
    (desk.folder / "d").mkdir()
    (desk.folder / "d" / "link").symlink_to("nowhere")
    desk.inspect(b"d", tree=True)
    if dropped_before:
        desk.inspector.changes.rows = [row(b"x.txt"), row(b"y.txt")]
        assert not desk.inspector.changes.may_have_rows_below((1, b"d"))
        desk.inspector.changes.drop_rows(lambda each: True)
    assert desk.inspector.walk_on()
    assert [each.path for each in desk.inspector.changes.rows] == [b"d/link"]
    (desk.folder / "d").rename(desk.folder.parent / "d")
    (desk.folder / "d").symlink_to("nowhere")
    desk.inspect(b"d")
    assert [each.path for each in desk.inspector.changes.rows] == [b"d"]


def test_a_file_with_a_row_leaves_no_rows_below_it(desk: Desk) -> None:
    """The path was a file, then a folder, then a file: a slow walk may have stored both before this look."""
    desk.store.put_files([row(b"d"), row(b"d/f.txt")])
    (desk.folder / "d").symlink_to("nowhere")
    desk.inspect(b"d")
    assert desk.inspector.changes.removed_trees == [(1, b"d")]


def test_a_folder_leaves_no_row_of_the_file_that_it_was_a_moment_ago(desk: Desk) -> None:
    (desk.folder / "d").symlink_to("nowhere")
    desk.inspect(b"d")
    assert [each.path for each in desk.inspector.changes.rows] == [b"d"]
    (desk.folder / "d").unlink()
    (desk.folder / "d").mkdir()
    desk.inspect(b"d")
    assert desk.inspector.changes.rows == []


def test_a_file_that_became_another_root_leaves_no_row(desk: Desk) -> None:
    desk.store.put_files([row(b"inner")])
    (desk.folder / "inner").mkdir()
    desk.root.nested = frozenset((b"inner",))
    desk.inspect(b"", tree=True)
    assert desk.inspector.walk_on()
    assert desk.inspector.changes.removed == [(1, b"inner")]


def test_a_root_that_goes_before_it_is_listed_stays_watched(desk: Desk) -> None:
    """The event that it went is queued, and no other watch reports that it is back."""
    desk.watching.followed = {b""}
    desk.inspect(b"", tree=True)
    desk.folder.rename(desk.folder.parent / "gone")
    assert desk.inspector.walk_on()
    assert desk.watching.unwatched == [] and desk.inspector.unreadable.open == {(1, b"")}


def test_a_path_is_looked_at_again_after_the_commit_of_its_removal(desk: Desk) -> None:
    desk.store.put_files([row(b"d/f.txt")])
    desk.inspect(b"d")
    desk.inspector.depart()
    assert not desk.inspector.is_busy((1, b"e")) and not desk.inspector.needs_commit
    assert desk.inspector.is_busy((1, b"d/f.txt")) and desk.inspector.needs_commit


def test_a_walk_waits_for_the_commit_of_what_others_removed(desk: Desk) -> None:
    (desk.folder / "d").mkdir()
    desk.inspect(b"d", tree=True)
    desk.inspector.changes.removed.append((1, b"gone"))
    assert not desk.inspector.walk_on() and desk.inspector.needs_commit
    assert desk.inspector.take_changes().removed == [(1, b"gone")]
    assert desk.inspector.walk_on() and not desk.inspector.needs_commit


def test_many_short_walks_share_a_slice(desk: Desk) -> None:
    """A storm of new folders makes a walk of each."""
    for name in (b"a", b"b", b"c"):
        (desk.folder / os.fsdecode(name)).mkdir()
        desk.inspect(name, tree=True)
    assert desk.inspector.walk_on() and len(desk.inspector.finished) == 3


@pytest.mark.parametrize(("rules", "path"), [("d/\n", b"d/f.txt"), ("*.log\n", b"f.log"), ("*.log\n", b"d/f.log")])
def test_a_walk_takes_out_what_was_stored_by_the_rules_of_before(desk: Desk, rules: str, path: bytes) -> None:
    """Another walk stores a file after this one began, and before it has read the ignore file."""
    (desk.folder / "d").mkdir()
    desk.store.put_files([row(b"stays.txt")])
    for name in (path, b"stays.txt"):
        (desk.folder / os.fsdecode(name)).touch()
    desk.inspect(b"", tree=True)
    desk.store.put_files([row(path)])
    (desk.folder / ".gitignore").write_text(rules)
    while desk.inspector.walk_on():
        pass
    assert any(desk.inspector.changes.covers((1, taken)) for taken in (path, os.path.dirname(path)) if taken)
    assert not desk.inspector.changes.covers((1, b"stays.txt"))


def test_a_walk_distinguishes_its_own_removals_from_as_many_of_others(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("livedex_daemon.write.inspector.WALK_S", -1.0)  # each folder is a separate slice
    desk.store.put_files([row(b"d/gone.txt")])
    (desk.folder / "d/e/f").mkdir(parents=True)
    os.utime(desk.folder / "d")
    entry = Entry((1, b"d"), 1, 0.0)
    entry.tree, entry.waiters = True, [Waiter(lambda: None)]  # for a waiter, a missing file counts at once
    desk.inspector.inspect(entry, desk.root)
    assert desk.inspector.walk_on() and desk.inspector.changes.removals() == (1, 0, 0)
    assert desk.inspector.walk_on(), "its own removal is in nobody's way"
    desk.inspector.take_changes()
    desk.inspector.changes.removed.append((1, b"d/e/f/other.txt"))
    assert not desk.inspector.walk_on() and desk.inspector.needs_commit


def test_a_file_in_the_place_of_a_folder_is_read_though_the_folder_is_gone(desk: Desk) -> None:
    """The work was submitted before the walk found that the folder of that name is gone."""
    desk.store.put_files([row(b"d/m/f.txt")])
    (desk.folder / "d").mkdir()
    (desk.folder / "d/m").touch()
    reading = Work(desk.root, b"d/m", 1, None, Entry((1, b"d/m"), 1, 0.0))
    desk.inspector.readings.submit([reading], bulk=False)
    desk.inspect(b"d", tree=True)
    assert desk.inspector.walk_on()
    assert desk.inspector.changes.removed_trees == [(1, b"d/m")] and not reading.cancelled


@pytest.mark.parametrize(
    ("kind", "path", "covered"),
    [
        ("removed", b"d", {b"d"}),
        ("removed_trees", b"d", {b"d", b"d/a", b"d/e/b"}),
        ("ignored", b"d", {b"d", b"d/a", b"d/e/b"}),
        ("ignored", b"", {b"", b"d", b"d/a", b"d/e/b", b"da"}),
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
    inspector = Inspector(FakeStore().real, backlog, FakePresence().real, FakeWatching().real, pool.real)
    handed = pool.submitted
    entry = Entry((1, b"a"), 1, 0.0)
    first, second, third = (Work(online_root(), b"a", 1, None, entry) for _ in range(3))
    inspector.readings.submit([first], bulk=False)
    inspector.readings.submit([second, third], bulk=False)  # two walks passed while it was read
    assert handed == [first]
    for done, after in ((first, second), (second, third)):
        inspector.readings.end(done)
        inspector.readings.retry()  # both are due at the same time
        assert handed[-1] is after and inspector.readings.expects(after), "a work that nobody expects would never end"
    inspector.readings.end(third)
    assert handed == [first, second, third] and not inspector.readings.waiting


def test_a_work_is_wanted_as_soon_as_one_behind_it_is() -> None:
    """On battery a file that nobody asked for waits; whoever asks for a folder around it would wait for it for ever."""
    root = online_root()
    root.first_indexed = True
    inspector = Inspector(
        FakeStore().real, Backlog(time.monotonic, lambda: None), FakePresence().real, FakeWatching().real,
        FakePool().real,
    )  # fmt: skip
    paused, wanted = (Work(root, b"d/a", 1, None, Entry((1, path), 1, 0.0)) for path in (b"d", b""))
    inspector.readings.submit([paused], bulk=True)
    inspector.readings.submit([wanted], bulk=True)
    assert not paused.is_wanted
    wanted.entry.wanted = True
    assert paused.is_wanted


def test_the_walks_of_a_root_that_leaves_end(desk: Desk) -> None:
    """They would take the watches of folders that are another root's by now."""
    (desk.folder / "d").mkdir()
    entry = desk.inspect(b"d", tree=True)
    desk.inspector.leave(2)
    assert not desk.inspector.finished
    desk.inspector.leave(1)
    assert desk.inspector.finished == [entry] and not desk.inspector.walk_on()


def test_other_names_of_a_changed_file_that_a_walk_finds_are_marked(desk: Desk) -> None:
    """A new folder has no watch yet: nothing reports what is written by a name in it."""
    file = desk.folder / "f.txt"
    file.touch()
    stat = tree.stat(desk.root.path, b"f.txt")
    assert stat is not None
    desk.store.put_files([row(b"f.txt")._replace(state=stat.state)])
    (desk.folder / "new").mkdir()
    os.link(file, desk.folder / "new/g.txt")
    (desk.folder / "new/g.txt").write_text("more")
    entry = Entry((1, b"new"), 1, 0.0)
    entry.tree, entry.waiters = True, [Waiter(lambda: None)]
    desk.inspector.inspect(entry, desk.root)
    assert desk.inspector.walk_on()
    assert desk.backlog.pending_keys() == {(1, b"f.txt")}
    assert desk.backlog.left(entry.waiters[0]), "who waits for the folder waits for it too"


def test_a_folder_that_goes_before_it_is_listed_is_let_go(desk: Desk) -> None:
    """By a link in its path the watch may have been placed on another folder."""
    (desk.folder / "real/deep").mkdir(parents=True)
    (desk.folder / "real/deep").rename(desk.folder / "other")
    desk.watching.followed = {b"real/deep"}
    desk.inspect(b"real", tree=True)

    def swap(_root: Root, path: bytes) -> None:
        if path == b"real/deep":
            (desk.folder / "real/deep").rmdir()

    (desk.folder / "real/deep").mkdir()
    desk.watching.on_watch = swap
    while desk.inspector.walk_on():
        pass
    assert desk.unwatched == [b"real/deep"]


def test_a_folder_that_is_shut_out_is_let_go(desk: Desk) -> None:
    (desk.folder / "gen").mkdir()
    (desk.folder / ".gitignore").write_text("gen/\n")
    desk.watching.followed = {b"gen"}
    desk.inspect(b".gitignore")
    assert desk.inspector.walk_on()
    assert desk.unwatched == [b"gen"]


@pytest.mark.parametrize("kind", ["link", "file"])
def test_the_rules_of_a_folder_go_when_something_else_takes_its_place(desk: Desk, kind: str) -> None:
    folder = desk.folder / "d"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / ".gitignore").write_text("x" * 5000)
    desk.inspect(b"d", tree=True)
    while desk.inspector.walk_on():
        pass
    assert list(desk.root.rules.faults()) == [str(folder / "inner" / ".gitignore")]
    folder.rename(desk.folder / "moved")
    folder.symlink_to("moved") if kind == "link" else folder.write_text("a file\n")
    desk.inspect(b"d")
    assert desk.root.rules.faults() == {}


def test_a_folder_that_was_let_in_again_meanwhile_keeps_its_watch(desk: Desk) -> None:
    """Two walks run at once: the later one admits the folder and watches it before the earlier one ends."""
    (desk.folder / "gen").mkdir()
    rules = desk.folder / ".gitignore"
    rules.write_text("gen/\n")
    desk.watching.followed = {b"gen"}

    def let_in() -> None:
        rules.unlink()
        desk.root.rules.invalidate(b"")

    desk.watching.on_end_of_walk = let_in
    desk.inspect(b".gitignore")
    assert desk.inspector.walk_on()
    assert desk.unwatched == []


def test_a_doubtful_outside_file_is_read_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    exclude = desk.folder / "a/.git/info/exclude"
    exclude.parent.mkdir(parents=True)
    exclude.write_text("*.q\n")
    real, frozen = Source.state, Source(os.fsencode(exclude), False, b"a").state()
    monkeypatch.setattr(Source, "state", lambda it: frozen if it.path == os.fsencode(exclude) else real(it))
    assert desk.root.rules.explain(b"a/x.q", False) is not None
    exclude.write_text("*.w\n")
    desk.inspect(b"a", tree=True)
    assert desk.root.rules.explain(b"a/x.q", False) is None
    assert desk.root.rules.explain(b"a/x.w", False) is not None


def written_by_event(desk: Desk, path: bytes) -> Entry:
    entry = Entry((1, path), 1, 0.0)
    entry.from_event = True
    desk.inspector.inspect(entry, desk.root)
    return entry


@pytest.mark.parametrize("searched", [False, True])
def test_a_file_that_is_being_read_is_examined_again_after_a_write_by_another_name(desk: Desk, searched: bool) -> None:
    """It may have been read before, and the index has no row yet that says that both are one file."""
    (desk.folder / "a.txt").write_text("before\n")
    desk.inspect(b"a.txt")
    os.link(desk.folder / "a.txt", desk.folder / "b.txt")
    with (desk.folder / "b.txt").open("a") as file:
        file.write("after\n")
    waiter = Waiter(lambda: None)
    entry = Entry((1, b"b.txt"), 1, 0.0)
    entry.from_event = True
    entry.waiters += [waiter] * searched
    desk.inspector.inspect(entry, desk.root)
    assert desk.backlog.pending([(1, b"a.txt")]) == 1
    assert waiter.left == searched, "the search waits for it, too"
    assert desk.backlog.pending([(1, b"b.txt")]) == 0


def test_a_decision_is_examined_again_after_a_write_by_another_name(desk: Desk) -> None:
    """As the row of a file that was moved with its folder: its bytes are not read."""
    (desk.folder / "b.txt").write_text("after\n")
    ino = (desk.folder / "b.txt").stat().st_ino
    moved, other = row(b"a.txt"), row(b"other.txt")
    desk.inspector.changes.rows = [moved._replace(state=moved.state._replace(ino=ino)), other]
    os.link(desk.folder / "b.txt", desk.folder.parent / "outside.txt")
    written_by_event(desk, b"b.txt")
    assert desk.backlog.pending([(1, b"a.txt")]) == 1
    assert desk.backlog.pending([(1, b"other.txt")]) == 0


def test_a_walk_that_finds_another_name_of_a_file_that_is_being_read_has_it_examined_again(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("before\n")
    desk.inspect(b"a.txt")
    (desk.folder / "d").mkdir()
    os.link(desk.folder / "a.txt", desk.folder / "d/b.txt")
    (desk.folder / "d/b.txt").write_text("after\n")
    desk.inspect(b"d", tree=True)
    assert desk.inspector.walk_on()
    assert desk.backlog.pending([(1, b"a.txt")]) == 1


def test_what_was_read_is_no_other_name_any_more(desk: Desk) -> None:
    (desk.folder / "a.txt").write_text("before\n")
    desk.inspect(b"a.txt")
    (work,) = desk.pool.submitted
    desk.inspector.readings.end(work)
    os.link(desk.folder / "a.txt", desk.folder / "b.txt")
    written_by_event(desk, b"b.txt")
    assert desk.backlog.pending([(1, b"a.txt")]) == 0


def test_a_run_counts_the_files_that_were_gone(desk: Desk) -> None:
    """A path that never was is none, and a folder counts for each file that the index has of it."""
    desk.store.put_files([row(b"d/a.txt"), row(b"d/e/b.txt"), row(b"f.txt")])
    counts = []
    for path in (b"never", b"d", b"f.txt"):
        entry = Entry((1, path), 1, 0.0)
        entry.tree, entry.progress = True, RunProgress()
        desk.inspector.inspect(entry, desk.root)
        desk.inspector.depart()
        counts.append(entry.progress.removed)
    assert counts == [0, 2, 1]
