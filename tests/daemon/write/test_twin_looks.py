"""Many names of one file that change at once cost one look at its names, not one for each."""

from __future__ import annotations

import os

import pytest

from helpers.inspection_desk import Desk, row
from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark, Waiter
from livedex_daemon.write.walk import bare_row
from livedex_indexing.disk.listed_names import ListedNames
from livedex_indexing.disk.tree import describe
from livedex_indexing.model import FileRow

NAMES = [f"{number}.txt" for number in range(40)]


@pytest.fixture
def indexed(desk: Desk) -> Desk:
    """Forty names of a file are indexed, and the file has been written since."""
    file = desk.folder / "kept.txt"
    file.write_text("before\n")
    for name in NAMES:
        os.link(file, desk.folder / name)
    state = describe(file.stat()).state
    rows = [
        FileRow(1, name.encode(), state, "skipped", "binary", None, None, None, None, 0.0, True)
        for name in (*NAMES, "kept.txt")
    ]
    with desk.store.transaction():
        desk.store.put_files(rows)
    file.write_text("after it\n")
    return desk


def reported(desk: Desk, names: list[str]) -> list[Entry]:
    """Return the entries of names that the system reported, taken in one turn."""
    for name in names:
        desk.backlog.mark((1, name.encode()), Mark(now=True, from_event=True))
    return desk.backlog.take(100, desk.inspector.is_busy)


def waiting(desk: Desk, *names: str) -> Waiter:
    return desk.backlog.wait([(1, name.encode()) for name in names], lambda: None)


def test_each_name_is_looked_at_once_though_all_are_gone(indexed: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    marks: list[bytes] = []
    mark = Backlog.mark_twin

    def mark_twin(self: Backlog, key: Key, of: Entry | None = None) -> None:
        marks.append(key[1])
        mark(self, key, of)

    monkeypatch.setattr(Backlog, "mark_twin", mark_twin)
    for name in NAMES:
        (indexed.folder / name).unlink()
    waiter = waiting(indexed, *NAMES)
    for entry in reported(indexed, NAMES):
        entry.add(waiter)
        waiter.left += 1
        indexed.inspector.inspect(entry, indexed.root)
    indexed.inspector.depart()
    assert marks == [b"kept.txt"]


def test_names_that_go_in_many_turns_are_not_all_looked_at_in_each(
    indexed: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bytes] = []
    names_of = ListedNames.stat

    def stat(self: ListedNames, root: bytes, path: bytes, *rest: float) -> object:
        looks.append(path)
        return names_of(self, root, path, *rest)

    monkeypatch.setattr(ListedNames, "stat", stat)
    for name in NAMES:
        (indexed.folder / name).unlink()
        indexed.backlog.mark((1, name.encode()), Mark(now=True, from_event=True))
    while any(indexed.store.file(1, name.encode()) for name in NAMES):
        for entry in indexed.backlog.take(4, indexed.inspector.is_busy):
            indexed.inspector.inspect(entry, indexed.root)
        indexed.inspector.depart()
        indexed.store.remove_files(1, [path for _, path in indexed.inspector.changes.removed])
        finished = indexed.inspector.finished
        indexed.commit()
        indexed.backlog.done(finished)
    assert len(looks) <= 4 * len(NAMES)
    assert {work.path for work in indexed.pool.submitted} == {b"kept.txt"}


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_search_that_waits_for_a_later_name_waits_for_the_others(indexed: Desk, is_gone: bool) -> None:
    """It may have been written by that name just before."""
    names = NAMES[:2]
    for name in names if is_gone else ():
        (indexed.folder / name).unlink()
    for name in names:
        indexed.backlog.mark((1, name.encode()), Mark(now=True, from_event=True))
    first, second = waiting(indexed, names[0]), waiting(indexed, names[1], "kept.txt")
    for entry in indexed.backlog.take(100, indexed.inspector.is_busy):
        indexed.inspector.inspect(entry, indexed.root)
    indexed.inspector.depart()
    late = waiting(indexed, "kept.txt")
    indexed.backlog.done([entry for entry in indexed.backlog.left(second) if entry.key[1] == names[1].encode()])
    for waiter in (first, second, late):
        assert (1, b"kept.txt") in [entry.key for entry in indexed.backlog.left(waiter)]


def test_the_next_turn_looks_again(indexed: Desk) -> None:
    """The names of the first turn may have been examined before the write of the second."""
    (first,) = reported(indexed, NAMES[:1])
    indexed.inspector.inspect(first, indexed.root)
    indexed.inspector.depart()
    waiting(indexed, *NAMES, "kept.txt")
    taken = indexed.backlog.take(100, lambda _key: False)
    assert {entry.key[1] for entry in taken} == {b"kept.txt", *(name.encode() for name in NAMES[1:])}
    indexed.backlog.done([*taken, first])
    (second,) = reported(indexed, NAMES[1:2])
    indexed.inspector.inspect(second, indexed.root)
    assert len(indexed.backlog.pending_keys()) == len(NAMES) + 1


def test_files_that_could_not_be_read_are_no_names_of_one_file(desk: Desk) -> None:
    names = NAMES[:3]
    for name in names:
        (desk.folder / name).write_text("in a bad sector\n")
    with desk.store.transaction():
        desk.store.put_files(bare_row(1, name.encode(), None, "failed", "read: EIO", 0.0) for name in names[:2])
    desk.inspector.changes.rows.append(bare_row(1, names[2].encode(), None, "failed", "read: EIO", 0.0))
    (first,) = reported(desk, names[:1])
    desk.inspector.inspect(first, desk.root)
    assert desk.backlog.pending_keys() == {first.key}


def test_names_of_a_file_that_was_replaced_do_not_mark_each_other_for_ever(desk: Desk) -> None:
    """Their rows still name the former file, for as long as the new one cannot be read."""
    names = NAMES[:2]
    with desk.store.transaction():
        desk.store.put_files(row(name.encode()) for name in names)
    (desk.folder / names[0]).write_text("in a bad sector\n")
    os.link(desk.folder / names[0], desk.folder / names[1])
    (entry,) = reported(desk, names[:1])
    for _ in names:
        desk.inspector.inspect(entry, desk.root)
        desk.inspector.readings.cancel(1, lambda _path: True)
        desk.backlog.done([entry])
        waiting(desk, *names)
        taken = desk.backlog.take(100, lambda _key: False)
        if not taken:
            break
        (entry,) = taken
    assert not desk.backlog.pending_keys()
