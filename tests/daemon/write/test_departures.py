"""Many paths that are gone cost few statements, and each of them ends as if it had gone alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from helpers.inspection_desk import Desk, row
from livedex_indexing.model import FileRow

FILES = 250
INODE = (1 << 63) + 5  # SQLite's integers are signed


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """The statements of all connections that are opened from now on."""
    ran: list[str] = []

    def note(_cursor: apsw.Cursor, sql: str, _values: object) -> bool:
        ran.append(sql)
        return True

    def trace(db: apsw.Connection) -> None:
        db.exec_trace = note

    apsw.connection_hooks.append(trace)
    yield ran
    apsw.connection_hooks.remove(trace)


@pytest.fixture
def desk(statements: list[str], tmp_path: Path) -> Iterator[Desk]:
    assert statements == []
    made = Desk(tmp_path)
    yield made
    made.store.close()


def test_many_files_that_are_gone_cost_few_statements(desk: Desk, statements: list[str]) -> None:
    desk.store.put_files(numbered(f"d/{n}.txt".encode(), n) for n in range(FILES))
    for n in range(FILES):
        desk.inspect(f"d/{n}.txt".encode())
    statements.clear()
    desk.inspector.depart()
    looked = len(statements)
    desk.store.remove_files(1, [path for _, path in desk.inspector.changes.removed])
    rows = {sql for sql in statements if sql.startswith("DELETE FROM")}  # each of them runs once for each row
    reads = [sql for sql in statements if sql not in rows]
    assert looked < 10 and len(reads) < 20
    assert desk.store.folders_below(1, b"") == []
    assert len(desk.inspector.finished) == FILES


def test_each_of_many_paths_ends_as_if_it_had_gone_alone(desk: Desk) -> None:
    """A file with a hard link that stays, a folder with files, both in one, and a path that the index does not know."""
    kept = desk.folder / "link.txt"
    kept.write_text("words\n")
    inode = os.stat(kept).st_ino
    rows = [numbered(b"twin.txt", inode), numbered(b"link.txt", inode), numbered(b"d/f.txt", INODE), numbered(b"e", 6)]
    desk.store.put_files([*rows, numbered(b"e/f.txt", 7), numbered(b"ef", 8)])
    for path in (b"twin.txt", b"d", b"e", b"never"):
        desk.inspect(path)
    desk.inspector.depart()
    changes = desk.inspector.changes
    assert changes.removed == [(1, b"twin.txt"), (1, b"d"), (1, b"e"), (1, b"never")]
    assert changes.removed_trees == [(1, b"d"), (1, b"e")]
    assert desk.backlog.pending_keys() == {(1, b"link.txt")}


def test_an_inode_that_files_share_is_known_whatever_its_number(desk: Desk) -> None:
    desk.store.put_files([numbered(b"a", INODE), numbered(b"b", INODE), numbered(b"c", 3), numbered(b"d", 4)])
    known = desk.store.known_paths(1, [b"a", b"c", b"d", b"gone"])
    assert (known.rows.keys(), known.folders, known.shared) == ({b"a", b"c", b"d"}, set(), {INODE})


def numbered(path: bytes, inode: int) -> FileRow:
    found = row(path)
    return found._replace(state=found.state._replace(ino=inode))


def test_a_removal_is_not_forgotten_while_the_root_cannot_be_examined(desk: Desk) -> None:
    desk.store.put_files([row(b"a.txt")])
    desk.inspect(b"a.txt")
    desk.presence.same = False
    desk.inspector.depart()
    assert not desk.inspector.changes
    assert desk.backlog.pending_keys() == {(1, b"a.txt")}
