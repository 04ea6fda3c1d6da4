"""The index file is opened, or put aside for a new one; a file that is not a livedex index is kept."""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from livedex_daemon.index_file.opener import open_store, put_aside, remove_damaged, remove_expired
from livedex_ipc.errors import Unavailable


def test_folders_are_kept_under_free_names(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    for number in range(3):
        index.mkdir()
        (index / f"inside{number}").touch()
        store, renewed = open_store(str(index))
        store.close()
        assert renewed and index.is_file()
        index.unlink()
    kept = [tmp_path / name for name in ("index.db.aside", "index.db.aside.1", "index.db.aside.2")]
    assert [os.listdir(folder) for folder in kept] == [["inside0"], ["inside1"], ["inside2"]]


@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_in_the_place_of_the_log_is_out_of_the_way(
    tmp_path: Path, make: Callable[[Path], object], suffix: str
) -> None:
    index = tmp_path / "index.db"
    open_store(str(index))[0].close()
    make(tmp_path / f"index.db{suffix}")
    store, renewed = open_store(str(index))
    with store.transaction():
        store.keep_root(1, b"/r", 1, 1, None)
    assert renewed and [root.path for root in store.roots()] == [b"/r"]
    store.close()
    assert (tmp_path / "index.db.aside").is_dir() == (make is Path.mkdir), "a folder is kept"


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


def test_a_database_of_another_program_is_kept(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    for number in (1, 2):
        with closing(apsw.Connection(str(index))) as db:
            db.pragma("journal_mode", "wal")
            db.execute(f"CREATE TABLE roots (name); INSERT INTO roots VALUES ('theirs {number}')")
        store, renewed = open_store(str(index))
        remove_damaged(str(index))
        remove_expired(str(index), time.time() + 1e6)
        assert renewed and not store.roots()
        store.close()
        with closing(apsw.Connection(str(tmp_path / f"index.db.aside.{number}"))) as db:
            assert db.execute("SELECT name FROM roots").get == f"theirs {number}"
        index.unlink()


def test_a_text_of_another_program_is_kept(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    index.write_text("précieux\n" * 200_000, encoding="utf-8")
    store, renewed = open_store(str(index))
    store.close()
    remove_damaged(str(index))
    assert renewed and (tmp_path / "index.db.aside.1").read_text(encoding="utf-8") == "précieux\n" * 200_000


@pytest.mark.parametrize("content", [b"", b"text\0" * 9, os.urandom(8192), b"text" * 300_000 + b"\xff"])
def test_what_may_be_left_of_an_index_is_not_kept(tmp_path: Path, content: bytes) -> None:
    index = tmp_path / "index.db"
    index.write_bytes(content)
    open_store(str(index))[0].close()
    remove_damaged(str(index))
    assert sorted(os.listdir(tmp_path)) == ["index.db"]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_file_in_the_place_of_the_journal_is_kept(tmp_path: Path, make: Callable[[Path], object]) -> None:
    index = tmp_path / "index.db"
    for number in (0, 1):
        make(tmp_path / "index.db-journal")
        store, renewed = open_store(str(index))
        store.close()
        assert renewed is False and index.is_file()
        assert os.path.lexists(tmp_path / ["index.db.aside", "index.db.aside.1"][number])


def test_an_index_whose_mark_is_damaged_is_not_kept(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    open_store(str(index))[0].close()
    with closing(apsw.Connection(str(index))) as db:
        db.pragma("application_id", 1)
    store, renewed = open_store(str(index))
    store.close()
    remove_damaged(str(index))
    assert renewed and sorted(os.listdir(tmp_path)) == ["index.db"]


def test_a_folder_in_the_place_of_the_damaged_copy_is_kept(tmp_path: Path) -> None:
    index, damaged = tmp_path / "index.db", tmp_path / "index.db.damaged"
    damaged.mkdir()
    index.write_bytes(b"garbage" * 1000)
    assert put_aside(str(index)) == str(damaged)
    assert damaged.read_bytes().startswith(b"garbage")
    assert (tmp_path / "index.db.aside").is_dir()
    remove_damaged(str(index))
    assert sorted(os.listdir(tmp_path)) == ["index.db.aside"]


def test_what_is_put_aside_is_one_file_and_its_log(tmp_path: Path) -> None:
    index = tmp_path / "index.db"
    for name in ("index.db.damaged", "index.db.damaged-wal", "index.db", "index.db-shm"):
        (tmp_path / name).write_text(f"was {name}")
    put_aside(str(index))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "index.db.damaged": "was index.db",
        "index.db.damaged-shm": "was index.db-shm",
    }


def test_an_index_of_a_newer_livedex_is_kept_for_a_day(tmp_path: Path) -> None:
    index, day = str(tmp_path / "index.db"), 86_400.0
    for name in ("index.db", "index.db-wal"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    put_aside(index, keep=True)
    kept_at = time.time()
    for now in (None, kept_at + day - 60):
        remove_expired(index, now)
        assert sorted(os.listdir(tmp_path)) == ["index.db.aside", "index.db.aside-wal"]
    remove_expired(index, kept_at + day + 60)
    assert os.listdir(tmp_path) == []
    (tmp_path / "index.db.aside").mkdir()
    remove_expired(index, kept_at + 2 * day)
    assert os.listdir(tmp_path) == ["index.db.aside"], "a folder may contain anything"


def test_an_index_that_cannot_be_replaced_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = tmp_path / "index.db"
    index.write_bytes(b"\xffgarbage" * 1000)

    def refuse(_old: str, _new: str) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(Unavailable, match=r"index\.db"):
        open_store(str(index))
    assert index.read_bytes().startswith(b"\xffgarbage")
