"""Many names of one file that change at once cost one look at its names, not one for each."""

from __future__ import annotations

import os

import pytest

from helpers.inspection_desk import Desk
from livedex_daemon.watch.backlog import Entry, Mark, Waiter
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
    looks: list[bytes] = []
    names_of = ListedNames.stat

    def stat(self: ListedNames, root: bytes, path: bytes, *rest: float) -> object:
        looks.append(path)
        return names_of(self, root, path, *rest)

    monkeypatch.setattr(ListedNames, "stat", stat)
    for name in NAMES:
        (indexed.folder / name).unlink()
    waiter = waiting(indexed, *NAMES)
    for entry in reported(indexed, NAMES):
        entry.add(waiter)
        waiter.left += 1
        indexed.inspector.inspect(entry, indexed.root)
    indexed.inspector.depart()
    assert len(looks) <= 3 * len(NAMES)
    assert indexed.pool.submitted[0].path == b"kept.txt"


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
    assert first.left == 1
    assert (1, b"kept.txt") in [entry.key for entry in indexed.backlog.left(second)]
    assert late.left == 1


def test_the_next_turn_looks_again(indexed: Desk) -> None:
    (first,) = reported(indexed, NAMES[:1])
    indexed.inspector.inspect(first, indexed.root)
    indexed.inspector.depart()
    indexed.inspector.readings.abandon()
    indexed.pool.submitted.clear()
    (second,) = reported(indexed, NAMES[1:2])
    indexed.inspector.inspect(second, indexed.root)
    assert len(indexed.pool.submitted) == len(NAMES) + 1
