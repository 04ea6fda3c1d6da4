"""The writer's own VFS for its files: a thread that waits for a disk or a lock delays no other."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from helpers.support import wait_until
from livedex_indexing.store import page_checksums
from livedex_indexing.store.index_store import IndexUnwritable, Store


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """Another thread at work: what it has done so far."""
    done = 0
    ended = threading.Event()

    def work() -> None:
        nonlocal done
        while not ended.wait(0.001):
            done += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield lambda: done
    finally:
        ended.set()
        thread.join()


def test_others_go_on_while_the_writer_waits_for_a_lock() -> None:
    with counting() as done:
        before = done()
        assert apsw.VFS.xSleep(page_checksums.WRITER_VFS, 1) >= 1, "the one of SQLite, which holds the interpreter"
        assert page_checksums.WRITER_VFS.xSleep(300_000) == 300_000
        assert done() > before + 2


def test_others_go_on_while_the_disk_syncs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Store.open(str(tmp_path / "index.db"))) as store, counting() as done:
        store.put_root(b"/r", 1, 1)
        assert store.checkpoint()
        store.put_root(b"/s", 1, 1)
        passed: list[int] = []

        def slow(descriptor: int) -> None:
            before = done()
            wait_until(lambda: done() > before + 2, what="the other thread")
            os.fsync(descriptor)
            passed.append(descriptor)

        monkeypatch.setattr(page_checksums, "sync", slow)
        assert store.checkpoint()
        assert len(passed) == 2, "the log, then the file"


def test_a_sync_that_failed_is_remembered_until_there_is_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    path = tmp_path / "link" / "index.db"
    (tmp_path / "real").mkdir()
    path.parent.symlink_to(tmp_path / "real")
    with closing(Store.open(str(path))) as store:
        store.put_root(b"/r", 1, 1)
        assert store.replaced_or_lost() is None
        with monkeypatch.context() as patch:
            patch.setattr(page_checksums, "sync", fail)
            with pytest.raises(IndexUnwritable):
                store.checkpoint()
            with pytest.raises(IndexUnwritable):
                store.replaced_or_lost()
        assert store.replaced_or_lost() == "unsynced"
        path.rename(path.with_name("aside"))
        store.reopen()
        assert store.replaced_or_lost() is None


def test_no_descriptor_is_left(tmp_path: Path) -> None:
    before = len(os.listdir("/dev/fd"))
    for _ in range(3):
        Store.open(str(tmp_path / "index.db")).close()
    assert len(os.listdir("/dev/fd")) == before


def test_a_file_to_which_a_reader_holds_up_pages_is_neither_truncated_nor_damaged(tmp_path: Path) -> None:
    """The log is checkpointed up to what a reader needs: the first page may refer to pages that come with the rest of
    it.
    """
    path = str(tmp_path / "index.db")
    names = [b"/root%d" % number * 40 for number in range(100)]
    with closing(Store.open(path)) as store, closing(apsw.Connection(path)) as reader:
        store.put_root(b"/r", 1, 1)
        assert store.checkpoint()
        assert store.damaged_pages(1, 10_000) == []
        for name in names:
            store.put_root(name, 1, 1)
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM roots").get == 101
        for name in names:
            store.put_root(name, 2, 2)
        assert not store.checkpoint()
        assert store.replaced_or_lost() is None
        assert store.damaged_pages(1, 10_000) is None, "it cannot be known now"
        reader.execute("ROLLBACK")
        assert store.damaged_pages(1, 10_000) == []
        assert store.checkpoint()
        assert store.replaced_or_lost() is None
        os.truncate(path, os.path.getsize(path) // 2)
        assert store.replaced_or_lost() == "truncated"


def test_a_file_cut_short_is_noticed_while_its_log_has_pages(tmp_path: Path) -> None:
    path = str(tmp_path / "index.db")
    with closing(Store.open(path)) as store:
        for number in range(100):
            store.put_root(b"/root%d" % number * 40, 1, 1)
        assert store.checkpoint()
        store.put_root(b"/r", 1, 1)
        assert store.replaced_or_lost() is None
        os.truncate(path, os.path.getsize(path) // 2)
        assert store.replaced_or_lost() == "truncated"


@pytest.mark.parametrize("left", [0, 1, 5_000])
def test_a_log_cut_short_is_noticed(tmp_path: Path, left: int) -> None:
    path = str(tmp_path / "index.db")
    with closing(Store.open(path)) as store:
        for number in range(10):
            store.put_root(b"/root%d" % number, 1, 1)
        assert store.checkpoint()
        os.truncate(f"{path}-wal", 0)
        assert store.replaced_or_lost() is None, "nothing needs what it had"
        store.put_root(b"/r", 1, 1)
        assert store.replaced_or_lost() is None
        os.truncate(f"{path}-wal", left)
        assert store.replaced_or_lost() == "truncated"
