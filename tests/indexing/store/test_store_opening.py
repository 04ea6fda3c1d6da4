"""Opening a store: an index that is unsound or of another version is refused or created, and left as it was."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.store_rig import Opened, Rig
from livedex_indexing.store import database
from livedex_indexing.store.database import IndexOlder
from livedex_indexing.store.index_store import IndexDamaged, IndexNewer, IndexUnwritable, Store


def test_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        rig = Rig(tmp_path / "index.db")
        rig.put(b"a", "one")
        modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
        assert modes == {"index.db": 0o600, "index.db-wal": 0o600, "index.db-shm": 0o600}
        rig.store.close()
        (tmp_path / "index.db").chmod(0o644)
        Opened(rig.path).close()
        assert stat.S_IMODE((tmp_path / "index.db").stat().st_mode) == 0o600
    finally:
        os.umask(before)


def test_opening_an_index_writes_nothing(rig: Rig) -> None:
    rig.put(b"a", "one")
    log = Path(f"{rig.path}-wal")
    before = log.read_bytes()
    with closing(database.open_writer(rig.path)):
        assert log.read_bytes() == before


def _foreign(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE mine (x)")
    db.close()


def _truncated(path: Path) -> None:
    with Opened(str(path)) as store, store.transaction():
        store.put_root(b"/r", 1, 1)
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(b"garbage" * 1000), id="garbage"),
        pytest.param(lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 9000), id="header alone"),
        pytest.param(_foreign, id="foreign"),
        pytest.param(_truncated, id="truncated"),
        pytest.param(lambda path: path.mkdir(), id="folder"),
        pytest.param(os.mkfifo, id="pipe"),
    ],
)
def test_what_is_no_index_is_refused_and_left_as_it_was(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    path = tmp_path / "index.db"
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(IndexDamaged, match=r"index\.db"):
        Store.open(str(path))
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_index_of_a_newer_schema_is_refused_byte_for_byte(rig: Rig) -> None:
    rig.put(b"a", "one")
    rig.store.close()
    db = apsw.Connection(rig.path)
    db.pragma("user_version", 99)
    db.close()
    before = Path(rig.path).read_bytes()
    with pytest.raises(IndexNewer, match="99"):
        Store.open(rig.path)
    assert Path(rig.path).read_bytes() == before


def test_an_index_of_an_older_schema_is_to_be_rebuilt(rig: Rig) -> None:
    rig.store.close()
    db = apsw.Connection(rig.path)
    db.pragma("user_version", 1)
    db.close()
    with pytest.raises(IndexOlder, match="older"):
        Store.open(rig.path)


def test_an_empty_file_becomes_an_index(tmp_path: Path) -> None:
    (tmp_path / "index.db").touch()
    with Opened(str(tmp_path / "index.db")) as store:
        assert store.integrity() == []


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(IndexUnwritable, match=r"none/index\.db"):
        Store.open(str(tmp_path / "none" / "index.db"))


def test_a_lock_of_another_program_is_said(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_MS", 1)
    with Opened(rig.path) as store, closing(apsw.Connection(rig.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(IndexUnwritable, match="locked"):
            store.put_root(b"/s", 1, 3)
        other.execute("ROLLBACK")
        assert store.put_root(b"/s", 1, 3) > 0


def test_a_copy_taken_at_any_moment_opens_sound(rig: Rig, tmp_path: Path) -> None:
    """As after kill -9: the file and its log, without a clean close."""
    for number in range(20):
        rig.put(b"f%d" % number, f"text {number}")
        copy = tmp_path / f"at{number}"
        copy.mkdir()
        for suffix in ("", "-wal"):
            shutil.copy(rig.path + suffix, copy / f"index.db{suffix}")
        with Opened(str(copy / "index.db")) as store:
            assert store.integrity() == []
            assert len(store.folder(rig.root, b"")) == number + 1


def test_integrity_names_what_is_wrong(rig: Rig) -> None:
    rig.put(b"a", "one")
    rig.put(b"b", "two")
    with closing(database.open_writer(rig.path)) as db:
        db.execute("DELETE FROM postings WHERE rowid = 1")
        db.execute("DELETE FROM paths WHERE rowid = 2")
        db.execute("INSERT INTO dead VALUES (2)")
        db.execute("DELETE FROM exact WHERE rowid = 1")
    faults = " / ".join(rig.store.integrity())
    assert "chunks without postings: 1" in faults
    assert "files without words of their path: 2" in faults
    assert "contents without their words: 1" in faults
    assert "chunks wrongly alive or dead: 2" in faults
