"""What the system cannot say of a path, or may not, is no decision about it."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from helpers.inspection_desk import Desk, row
from livedex_daemon.watch.backlog import Entry, Waiter
from livedex_daemon.write.walk import Work, bare_row
from livedex_indexing.disk import beneath, tree


def fail(monkeypatch: pytest.MonkeyPatch, name: str, code: int) -> None:
    def failing(*_args: object, **_named: object) -> object:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, failing)


def test_a_file_that_cannot_be_described_keeps_its_row(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store.put_files([row(b"f.txt")])
    with monkeypatch.context() as patch:
        fail(patch, "stat", errno.EIO)
        entry = desk.inspect(b"f.txt")
    desk.inspector.depart()
    assert desk.inspector.finished == [entry] and not desk.inspector.changes
    assert desk.inspector.unreadable.open == {(1, b"f.txt")}


def test_a_folder_that_cannot_be_listed_keeps_all_that_is_in_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store.put_files([row(b"d/f.txt"), row(b"d/e/g.txt")])
    (desk.folder / "d/e").mkdir(parents=True)
    with monkeypatch.context() as patch:
        fail(patch, "scandir", errno.EMFILE)
        desk.inspect(b"d", tree=True)
        assert desk.inspector.walk_on()
    assert not desk.inspector.changes and (1, b"d") in desk.inspector.unreadable.open
    desk.inspect(b"d", tree=True)
    while desk.inspector.walk_on():
        pass
    assert desk.inspector.unreadable.open, "listed, but nothing of it is committed"
    desk.commit()
    assert not desk.inspector.unreadable.open


def test_a_walk_that_outlives_its_root_reports_no_error(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The removal of the root has dropped its errors: one recorded later would stay together with ``missing``."""
    desk.inspect(b"", tree=True)
    with monkeypatch.context() as patch:
        fail(patch, "scandir", errno.EIO)
        desk.root.state = "missing"
        assert desk.inspector.walk_on()
    assert not desk.inspector.unreadable.open and not desk.inspector.changes


def test_a_look_before_a_failure_does_not_prove_that_a_folder_can_be_read(desk: Desk) -> None:
    (desk.folder / "d").mkdir()
    desk.inspect(b"d", tree=True)
    desk.inspector.unreadable.failed((1, b"d"), errno.EIO, tree=True)  # another inspection, which finds more to do
    assert desk.inspector.walk_on()
    desk.commit()
    assert desk.inspector.unreadable.open == {(1, b"d")}


def test_an_unreadable_file_that_is_ignored_now_is_in_doubt_until_that_is_committed(desk: Desk) -> None:
    desk.store.put_files([row(b"f.txt")])
    (desk.folder / "f.txt").touch()
    desk.inspector.unreadable.failed((1, b"f.txt"), errno.EIO)
    (desk.folder / ".gitignore").write_text("f.txt\n")
    desk.inspect(b"f.txt")
    assert desk.inspector.changes.ignored and desk.inspector.unreadable.open
    desk.commit()
    assert not desk.inspector.unreadable.open


def test_a_missing_file_is_not_removed_while_a_second_look_fails(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store.put_files([row(b"f.txt")])
    desk.inspect(b"f.txt")
    with monkeypatch.context() as patch:
        fail(patch, "stat", errno.EIO)
        desk.inspector.depart()
    assert not desk.inspector.changes and desk.backlog.pending([(1, b"f.txt")]) == 1


def test_an_unknown_rule_lets_nothing_in(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an ignore file cannot be read, it is unknown what it excludes."""
    (desk.folder / "d").mkdir()
    (desk.folder / "d/.gitignore").write_text("private.txt\n")
    (desk.folder / "d/private.txt").write_text("p")
    with monkeypatch.context() as patch:
        fail(patch, "pread", errno.EIO)
        desk.inspect(b"d", tree=True)
        assert desk.inspector.walk_on()
    assert not desk.inspector.changes and (1, b"d") in desk.inspector.unreadable.open


@contextmanager
def closed(*folders: bytes, to_list: bool = False) -> Iterator[None]:
    """Let folders deny access; ``to_list``: only their listing, so that who knows a name in them may open it."""
    real = beneath.folder

    def deny(root: bytes, path: bytes, *, listing: bool = False) -> AbstractContextManager[int]:
        if path in folders and (listing or not to_list):
            raise PermissionError(errno.EACCES, "no")
        return real(root, path, listing=listing)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tree, "folder", deny)
        yield


def walk_all(desk: Desk) -> None:
    while desk.inspector.walk_on():
        pass


@pytest.mark.parametrize("start", [b"d/e", b""])
def test_a_folder_in_one_that_denies_access_has_no_row(desk: Desk, start: bytes) -> None:
    (desk.folder / "d" / "e").mkdir(parents=True)
    desk.inspect(start, tree=True)
    with closed(b"d", b"d/e"), pytest.MonkeyPatch.context() as patch:
        if not start:  # the walk has listed the folder just before
            real = tree.listing
            patch.setattr(tree, "listing", lambda root, path: [] if path == b"d" else real(root, path))
            desk.store.put_files([row(b"d/e/g.txt")])
        walk_all(desk)
    assert desk.inspector.changes.rows == []


def test_searches_wait_for_a_folder_that_only_seemed_to_be_in_a_closed_one(desk: Desk) -> None:
    """No walk may have found the other one closed, which then says nothing of it."""
    (desk.folder / "d" / "e").mkdir(parents=True)
    walked = desk.inspect(b"d/e", tree=True)
    walked.waiters.append(Waiter(lambda: None))
    with closed(b"d", b"d/e"):
        walk_all(desk)
    (again,) = desk.backlog.left(walked.waiters[0])
    assert (again.key, again.tree) == ((1, b"d/e"), True)


def test_no_row_of_a_folder_outlives_a_walk_that_can_list_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another walk has found the folder closed since this one listed the folder above."""
    (desk.folder / "d").mkdir()
    real = tree.listing

    def listing(root: bytes, path: bytes) -> list[tuple[bytes, os.stat_result]]:
        if path == b"d":
            desk.store.put_files([bare_row(1, b"d", None, "failed", "denied", 0.0)])
            desk.inspector.unreadable.deny((1, b"d"))
        return real(root, path)

    monkeypatch.setattr(tree, "listing", listing)
    desk.inspect(b"", tree=True)
    walk_all(desk)
    assert (1, b"d") in desk.inspector.changes.removed


def test_what_is_read_in_a_folder_that_denies_access_is_dropped_each_time(desk: Desk) -> None:
    """The folder's row says so already; two readings of one file may be on their way."""
    (desk.folder / "d").mkdir()
    (desk.folder / "d" / "f.txt").write_text("text")
    desk.store.put_files([bare_row(1, b"d", None, "failed", "denied", 0.0)])
    works = [Work(desk.root, b"d/f.txt", 4, None, Entry((1, b"d/f.txt"), 1, 0.0)) for _ in range(2)]
    desk.inspector.readings.submit(works, bulk=False)
    desk.inspect(b"d", tree=True)
    desk.inspector.changes.removed.clear()  # as a walk of the folder above finds it
    with closed(b"d"):
        walk_all(desk)
    assert all(work.cancelled for work in works)


def test_no_search_waits_for_what_is_in_a_folder_that_denies_access(desk: Desk) -> None:
    """A search could not read a file in it, and says so before or after the folder is looked at."""
    (desk.folder / "d" / "e").mkdir(parents=True)
    (desk.folder / "d" / "e" / "f.txt").write_text("text")
    path = (1, b"d/e/f.txt")
    for looks_at in (b"d", b"d/e/f.txt"):
        desk.inspector.unreadable.failed(path, errno.EACCES)
        with closed(b"d", b"d/e"):
            desk.inspect(looks_at, tree=True)
            walk_all(desk)
        desk.store.put_files(desk.inspector.changes.rows)
        desk.commit()
        assert desk.inspector.unreadable.open == set(), looks_at


def test_a_folder_that_cannot_be_listed_hides_what_could_be_opened_in_it(desk: Desk) -> None:
    (desk.folder / "d" / "e").mkdir(parents=True)
    (desk.folder / "d" / "f.txt").write_text("text")
    desk.store.put_files([row(b"d/f.txt")])
    desk.inspect(b"d", tree=True)
    desk.inspect(b"d/e", tree=True)
    with closed(b"d", to_list=True):
        walk_all(desk)
        assert [found.path for found in desk.inspector.changes.rows] == [b"d"], "e was not walked"
        desk.store.put_files(desk.inspector.changes.rows)
        desk.commit()
        desk.inspect(b"d/f.txt")
        walk_all(desk)
        assert desk.inspector.changes.removed_trees == [(1, b"d")], "the folder has its row, and yet one is below"
    desk.commit()
    desk.inspect(b"d/f.txt")
    walk_all(desk)
    assert not desk.inspector.unreadable.denied, "it can be listed again"


def test_the_folder_that_denies_access_is_named_for_what_is_in_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.store.put_files([row(b"d/f.txt")])
    (desk.folder / "d").mkdir()
    real = os.open

    def deny(path: bytes, *args: int, **named: int) -> int:
        if path == b"d":
            raise PermissionError(errno.EACCES, "no")
        return real(path, *args, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", deny)
        desk.inspect(b"d/f.txt")
        assert not desk.inspector.finished, "its entry waits for the walk"
        assert desk.inspector.walk_on()
    (denied,) = desk.inspector.changes.rows
    assert (denied.path, denied.status, denied.reason) == (b"d", "failed", "denied")
    assert desk.inspector.changes.removed_trees == [(1, b"d")] and (1, b"d") in desk.inspector.unreadable.denied
