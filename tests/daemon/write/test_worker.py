"""Calls submitted to the worker's thread end: they are made, or refused once the thread has ended."""

from __future__ import annotations

import errno
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.fakes import online_root
from helpers.worker_rig import worker_rig
from livedex_daemon.watch.root_table import Root, Roots, RootTable
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.worker import Worker
from livedex_indexing.model import FileRow
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_ipc.errors import Unavailable

WAIT_S = 10


@pytest.fixture
def roots() -> Roots:
    return Roots()


@pytest.fixture
def worker(tmp_path: Path, roots: Roots) -> Iterator[Worker]:
    """A worker over an empty index; its thread is not started."""
    with worker_rig(tmp_path, roots) as rig:
        yield rig.worker


def test_a_submitted_call_is_made_on_the_workers_thread(worker: Worker) -> None:
    worker.start()
    assert worker.submit(lambda: threading.current_thread().name).result(WAIT_S) == "worker"


def test_calls_that_wait_at_the_end_fail(worker: Worker) -> None:
    worker.start()
    reached, end = threading.Event(), threading.Event()

    def hold() -> None:
        reached.set()
        end.wait(WAIT_S)

    worker.submit(hold)
    reached.wait(WAIT_S)
    waiting = worker.submit(lambda: None)
    assert not worker.stop(0.01)
    with pytest.raises(Unavailable):
        waiting.result(0)
    end.set()
    assert worker.stop()


def test_calls_after_the_end_fail(worker: Worker) -> None:
    worker.start()
    assert worker.stop()
    with pytest.raises(Unavailable):
        worker.submit(lambda: None).result(0)


def test_a_call_whose_caller_has_gone_is_dropped(worker: Worker) -> None:
    done: list[str] = []
    gone = worker.submit(lambda: done.append("gone"))
    after = worker.submit(lambda: done.append("after"))
    gone.cancel()
    worker.start()
    after.result(WAIT_S)
    assert (done, worker.turn_fault) == (["after"], None)


def test_calls_of_a_thread_that_fails_fail(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread as a whole fails, not one turn, which would be tried again."""
    monkeypatch.setattr("livedex_daemon.write.worker.translated", lambda _path: sys.exit())
    waiting = worker.submit(lambda: None)
    worker.start()
    with pytest.raises(Unavailable):
        waiting.result(WAIT_S)
    assert not worker.alive()
    monkeypatch.undo()
    assert worker.submit(lambda: "again").result(WAIT_S) == "again"


def test_a_content_that_is_collected_before_the_commit_releases_nobody(
    tmp_path: Path, root: Root, folder: Path, marks: ForgottenFiles
) -> None:
    """The pool sees that the index has the content; then the content is collected as garbage; then the outcome is
    stored.
    """
    looks: list[bytes] = []

    def known(content_hash: bytes, _signature: bytes) -> bool:
        looks.append(content_hash)
        return len(looks) == 1

    root.state = "online"
    rows: list[FileRow | None] = []
    released = threading.Event()
    with worker_rig(tmp_path, Roots([root]), FileReader(known, marks), forgotten=marks) as (worker, store, backlog):
        store.put_root(root.path, 1, 1)
        (folder / "a.txt").write_text("words\n")
        backlog.mark((1, b"a.txt"))

        def release() -> None:  # on the worker's thread
            rows.append(store.file(1, b"a.txt"))
            released.set()

        backlog.wait(None, release)
        worker.start()
        assert released.wait(WAIT_S * 3)
        (row,) = rows
        assert row is not None and row.status == "indexed"
        assert len(looks) == 2


def test_no_search_waits_for_a_file_of_a_root_that_has_gone(worker: Worker, roots: Roots) -> None:
    """A search could not read the files of a root that was unmounted meanwhile."""
    present, gone = online_root(b"/r", 1), online_root(b"/g", 2)
    gone.state = "missing"
    roots.replace(RootTable([present, gone]))
    worker.start()
    worker.could_not_read({(root_id, b"f.txt"): errno.EIO for root_id in (1, 2, 3)})
    worker.submit(lambda: None).result(WAIT_S)
    assert worker.unreadable.open == {(1, b"f.txt")}
