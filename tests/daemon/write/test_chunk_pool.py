"""The pool: every work returns as one outcome, whatever happens to the child that had it."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from helpers.pool_parts import POLICY, collected, outcomes, works
from helpers.support import wait_until
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write import chunk_pool, worker_slot
from livedex_daemon.write.chunk_health import WorkerFault
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.outcomes import Failed, Gone, NoWorker, Outcome, Skipped, Unreadable
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkFailure, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.model import ChunkedContent


@pytest.mark.parametrize("bulk", [False, True])
def test_each_kind_of_file_has_its_outcome(make: Callable[..., Pool], root: Root, folder: Path, bulk: bool) -> None:
    (folder / "text.txt").write_text("some text\n")
    (folder / "binary.dat").write_bytes(b"a\0b")
    (folder / "large.txt").write_bytes(b"x" * (POLICY.max_file_size + 1))
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("text.txt")
    pool = make()
    names = ("text.txt", "binary.dat", "large.txt", "pipe", "link", "gone.txt")
    pool.submit(works(root, *names), bulk=bulk)
    found = {name: outcome.result for name, outcome in outcomes(pool, len(names)).items()}
    assert isinstance(found["text.txt"], ChunkedContent)
    assert found["binary.dat"] == Skipped("binary")
    assert found["large.txt"] == Skipped("too_large")
    assert found["pipe"] == Skipped("special")
    assert found["link"] == Skipped("symlink")
    assert found["gone.txt"] == Gone()
    assert (pool.files_read, pool.files_chunked) == (2, 1)


class Deadly(ChunkProcess):
    """A child that really dies, by SIGKILL, on one file."""

    def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
        super().chunk([ChunkJob(b"x.txt", b"x", POLICY.chunking)], timeout_s)  # so that it runs
        done: list[ChunkedContent | ChunkFailure] = []
        for number, job in enumerate(jobs):
            if b"killer" in job.data:
                assert self.pid is not None
                os.kill(self.pid, signal.SIGKILL)
                raise WorkerDied("killed by signal 9", number, done)
            done += super().chunk([job], timeout_s)
        return done


def test_a_file_that_kills_its_worker_twice_is_quarantined_alone(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_slot, "ChunkProcess", Deadly)
    names = [f"f{number}.txt" for number in range(12)]
    for name in names:
        (folder / name).write_text("killer\n" if name == "f5.txt" else f"fine {name}\n")
    pool = make()
    pool.submit(works(root, *names), bulk=True)
    found = outcomes(pool, len(names))
    failed = found.pop("f5.txt").result
    assert isinstance(failed, Failed)
    assert failed.stage == "quarantined"
    assert all(isinstance(outcome.result, ChunkedContent) for outcome in found.values())
    assert pool.worker_fault is None


def test_a_file_that_takes_its_time_holds_up_no_other(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, gate = threading.Event(), threading.Event()

    class Slow(ChunkProcess):
        def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
            if any(job.name == b"slow.txt" for job in jobs):
                begun.set()
                assert gate.wait(60)
            return super().chunk(jobs, timeout_s)

    monkeypatch.setattr(worker_slot, "ChunkProcess", Slow)
    monkeypatch.setattr(chunk_pool, "STUCK_S", 0.05)
    for name in ("slow.txt", "a.txt", "b.txt"):
        (folder / name).write_text(f"{name}\n")
    pool = make()
    try:
        pool.submit(works(root, "slow.txt"), bulk=False)
        assert begun.wait(60)
        pool.submit(works(root, "a.txt", "b.txt"), bulk=False)
        others: list[Outcome] = []
        while len(others) < 2:
            others += wait_until(lambda: pool.collect(10), 60, what="the others")
    finally:
        gate.set()
    assert {outcome.work.path for outcome in others} == {b"a.txt", b"b.txt"}
    assert isinstance(outcomes(pool, 1)["slow.txt"].result, ChunkedContent)


def test_a_file_that_grew_since_it_was_queued_holds_up_no_other(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()

    class Slow(ChunkProcess):
        def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
            if any(job.name == b"grown.txt" for job in jobs):
                assert gate.wait(60)
            return super().chunk(jobs, timeout_s)

    monkeypatch.setattr(worker_slot, "ChunkProcess", Slow)
    names = ("a.txt", "grown.txt", "b.txt")  # ten bytes each, as queued
    for name in names:
        (folder / name).write_text("words\n" * (chunk_pool.BATCH_BYTES // 6 if name == "grown.txt" else 1))
    pool = make()
    try:
        pool.submit(works(root, *names), bulk=False)
        others = collected(pool, 2)
    finally:
        gate.set()
    assert others.keys() == {"a.txt", "b.txt"}
    assert isinstance(outcomes(pool, 1)["grown.txt"].result, ChunkedContent)


class Faulty(ChunkProcess):
    """The daemon's side of a child fails on one file."""

    def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
        if any(b"faulty" in job.data for job in jobs):
            raise ValueError
        if any(b"memory" in job.data for job in jobs):
            raise MemoryError
        return super().chunk(jobs, timeout_s)


@pytest.mark.parametrize("bulk", [False, True])
def test_an_error_of_a_step_loses_no_work_and_ends_no_thread(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch, bulk: bool
) -> None:
    monkeypatch.setattr(worker_slot, "ChunkProcess", Faulty)
    names = [f"f{number}.txt" for number in range(12)]
    for name in names:
        (folder / name).write_text({"f5.txt": "faulty\n", "f7.txt": "memory\n"}.get(name, f"fine {name}\n"))
    pool = make()
    pool.submit(works(root, *names), bulk=bulk)
    found = outcomes(pool, len(names))
    assert found.pop("f5.txt").result == Failed("read", "ValueError")
    assert found.pop("f7.txt").result == Unreadable(errno.ENOMEM), "the system's error is not the file's"
    assert all(isinstance(outcome.result, ChunkedContent) for outcome in found.values())
    assert pool.threads_alive


def test_a_thread_that_ends_is_replaced_and_its_work_comes_back(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("a\n")
    ended: list[threading.ExceptHookArgs] = []
    monkeypatch.setattr(threading, "excepthook", ended.append)
    once = iter([GeneratorExit])  # not `ended`: the spare thread may take the work before the hook runs
    submitted = threading.Event()

    def known(_hash: bytes, _signature: bytes) -> bool:
        submitted.wait()  # it would replace a thread that has ended already
        for error in once:
            raise error
        return False

    pool = make(known)
    pool.submit(works(root, "a.txt"), bulk=False)
    submitted.set()
    wait_until(lambda: ended, what="the end of the thread")
    wait_until(lambda: not pool.threads_alive, what="its being noticed")
    pool.revive()
    assert pool.threads_alive
    assert isinstance(outcomes(pool, 1)["a.txt"].result, ChunkedContent)


def test_work_waits_while_no_thread_can_be_started(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    (folder / "a.txt").write_text("a\n")
    with monkeypatch.context() as short:
        short.setattr(threading.Thread, "start", refuse)
        pool = make()
        pool.submit(works(root, "a.txt"), bulk=False)
        assert not pool.threads_alive
        assert pool.worker_fault == WorkerFault("can't start new thread")
    pool.revive()
    assert isinstance(outcomes(pool, 1)["a.txt"].result, ChunkedContent)
    assert pool.threads_alive
    assert pool.worker_fault is None


def test_the_thread_for_edits_does_what_no_other_can_be_started_for(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    for name in ("edit.txt", "bulk.txt"):
        (folder / name).write_text(name)
    pool = make()
    pool.submit(works(root, "edit.txt"), bulk=False)
    assert "edit.txt" in outcomes(pool, 1)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    pool.submit(works(root, "bulk.txt"), bulk=True)
    assert isinstance(outcomes(pool, 1)["bulk.txt"].result, ChunkedContent)
    assert pool.worker_fault is not None


class Unstartable(ChunkProcess):
    def chunk(self, jobs: Sequence[ChunkJob], timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
        raise WorkerDied("exit status 1", None, [])


def test_a_worker_that_never_starts_blames_no_file(
    make: Callable[..., Pool], root: Root, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_slot, "ChunkProcess", Unstartable)
    names = [f"f{number}.txt" for number in range(5)]
    for name in names:
        (folder / name).write_text(name)
    pool = make()
    pool.submit(works(root, *names), bulk=False)
    assert {type(outcome.result) for outcome in outcomes(pool, 5).values()} == {NoWorker}
    assert pool.worker_fault == WorkerFault("exit status 1")
    assert not pool.other_version


def test_bulk_work_waits_until_it_may_run(make: Callable[..., Pool], root: Root, folder: Path) -> None:
    (folder / "bulk.txt").write_text("bulk\n")
    (folder / "edit.txt").write_text("edit\n")
    allowed: list[bool] = []
    pool = make(may_run=lambda: bool(allowed))
    pool.submit(works(root, "bulk.txt"), bulk=True)
    pool.submit(works(root, "edit.txt"), bulk=False)
    found: list[Outcome] = []
    wait_until(lambda: found or found.__iadd__(pool.collect(10)), what="the edit's outcome")
    assert [outcome.work.path for outcome in found] == [b"edit.txt"]
    assert pool.is_paused
    allowed.append(True)
    assert "bulk.txt" in outcomes(pool, 1)
    assert not pool.is_paused


def test_a_file_is_cut_as_its_signature_says_though_the_settings_change_meanwhile(
    make: Callable[..., Pool], root: Root, folder: Path
) -> None:
    (folder / "a.txt").write_text("".join(f"line {number}\n" for number in range(300)))

    def known(_hash: bytes, _signature: bytes) -> bool:
        pool.policy = POLICY._replace(chunking=ChunkSettings(chunk_size=100, overlap=0))
        return False

    pool = make(known)
    pool.submit(works(root, "a.txt"), bulk=False)
    outcome = outcomes(pool, 1)["a.txt"]
    assert outcome.plan == chunk_plan.choose(b"a.txt", b"line", POLICY.chunking)
    assert isinstance(outcome.result, ChunkedContent)
    assert len(outcome.result.chunks) < 10, "cut by the settings that were in force when it was signed"


def test_on_battery_only_what_someone_asked_for_is_read(make: Callable[..., Pool], root: Root, folder: Path) -> None:
    names = [f"f{number}.txt" for number in range(20)]
    for name in names:
        (folder / name).write_text(name)
    pool = make(may_run=lambda: False)
    submitted = works(root, *names)
    pool.submit(submitted, bulk=True)
    assert pool.is_paused
    submitted[7].entry.wanted = True
    submitted[9].marked_again = True
    pool.reconsider()
    assert set(collected(pool, 2)) == {"f7.txt", "f9.txt"}
    assert (pool.is_paused, pool.outstanding) == (True, len(names) - 2)
    root.first_indexed = False  # a user requested the first index
    pool.reconsider()
    assert len(collected(pool, len(names) - 2)) == len(names) - 2
    assert (pool.is_paused, pool.outstanding) == (False, 0)
