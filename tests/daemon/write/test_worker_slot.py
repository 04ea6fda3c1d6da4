"""The slot of a child: what its answers and its deaths mean for the files of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from helpers.pool_parts import jobs
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write import worker_slot
from livedex_daemon.write.chunk_health import ChunkHealth, WorkerFault
from livedex_daemon.write.outcomes import Failed, Job, NoWorker, Unreadable
from livedex_daemon.write.worker_slot import WorkerSlot
from livedex_indexing.chunk.chunk_process import GAVE_WAY, ChunkFailure, ChunkJob, WorkerDied
from livedex_indexing.model import ChunkedContent
from livedex_indexing.store.forgotten_files import ForgottenFiles

Answer = Callable[[Sequence[ChunkJob]], list[ChunkedContent | ChunkFailure]]


class ScriptedProcess:
    """A child that does what a function says, without a process."""

    answer: Answer

    def __init__(self, *, nice: int = 0, gives_way: Callable[[float], bool]) -> None:
        self.nice = nice
        self.gives_way = gives_way

    def chunk(self, asked: Sequence[ChunkJob], _timeout_s: float) -> list[ChunkedContent | ChunkFailure]:
        return type(self).answer(asked)

    def close(self) -> None: ...


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[ScriptedProcess]]:
    class Process(ScriptedProcess):
        pass

    monkeypatch.setattr(worker_slot, "ChunkProcess", Process)
    yield Process


@pytest.fixture
def batch(root: Root, folder: Path, marks: ForgottenFiles) -> list[Job]:
    for name in ("a.txt", "b.txt", "c.txt"):
        (folder / name).write_text(f"{name}\n")
    return jobs(root, marks, "a.txt", "b.txt", "c.txt")


def cut(asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
    return [ChunkFailure("chunk", job.name.decode()) for job in asked]


def dies_at(name: bytes, reason: str) -> Answer:
    def answer(asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        names = [job.name for job in asked]
        if name not in names:
            return cut(asked)
        raise WorkerDied(reason, names.index(name), cut(asked[: names.index(name)]))

    return answer


def test_each_job_is_answered_in_order(scripted: type[ScriptedProcess], batch: list[Job]) -> None:
    scripted.answer = staticmethod(cut)
    step = WorkerSlot(0, ChunkHealth()).chunk(batch)
    assert [outcome.result for outcome in step.outcomes] == [
        Failed("chunk", "a.txt"), Failed("chunk", "b.txt"), Failed("chunk", "c.txt"),
    ]  # fmt: skip
    assert (step.retry, step.others, step.chunked) == ([], [], 3)


def test_the_second_death_on_a_file_quarantines_it_alone(scripted: type[ScriptedProcess], batch: list[Job]) -> None:
    scripted.answer = staticmethod(dies_at(b"b.txt", "killed by signal 11"))
    slot = WorkerSlot(0, ChunkHealth())
    step = slot.chunk(batch)
    assert [outcome.work.path for outcome in step.outcomes] == [b"a.txt"]
    assert step.retry == [batch[1]]
    assert step.others == [batch[2].work]
    (outcome,) = slot.chunk(step.retry).outcomes
    assert outcome.result == Failed("quarantined", "chunk: the worker ended twice on it (killed by signal 11)")
    assert outcome.content_hash == batch[1].content_hash


def test_a_child_that_cannot_load_what_it_needs_blames_no_file(
    scripted: type[ScriptedProcess], batch: list[Job]
) -> None:
    scripted.answer = lambda asked: [ChunkFailure("read", "ModuleNotFoundError") for _ in asked]
    assert {type(outcome.result) for outcome in WorkerSlot(0, ChunkHealth()).chunk(batch).outcomes} == {Unreadable}


def test_a_file_that_gives_way_is_blamed_for_nothing(scripted: type[ScriptedProcess], batch: list[Job]) -> None:
    scripted.answer = staticmethod(dies_at(b"b.txt", GAVE_WAY))
    step = WorkerSlot(0, ChunkHealth()).chunk(batch)
    assert [outcome.work.path for outcome in step.outcomes] == [b"a.txt"]
    assert (step.slow, step.others, step.retry) == ([batch[1].work], [batch[2].work], [])
    assert batch[1].work.deaths == 0


def test_a_child_that_was_never_ready_blames_no_file(scripted: type[ScriptedProcess], batch: list[Job]) -> None:
    def never_ready(_asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        raise WorkerDied("exit status 1", None, [])

    scripted.answer = staticmethod(never_ready)
    health = ChunkHealth()
    step = WorkerSlot(0, health).chunk(batch)
    assert [outcome.result for outcome in step.outcomes] == [NoWorker("exit status 1")] * 3
    assert health.fault == WorkerFault("exit status 1")


def test_a_slot_rests_after_a_failed_start(scripted: type[ScriptedProcess], batch: list[Job]) -> None:
    starts: list[int] = []

    def never_ready(asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        starts.append(len(asked))
        raise WorkerDied("another", None, [], other_version=True)

    scripted.answer = staticmethod(never_ready)
    now = [100.0]
    health = ChunkHealth(lambda: now[0])
    slot = WorkerSlot(0, health)
    for _ in range(3):
        assert [outcome.result for outcome in slot.chunk(batch).outcomes] == [NoWorker("another")] * 3
    assert (len(starts), health.fault) == (1, WorkerFault("another", True))
    now[0] = health.retry_at
    scripted.answer = staticmethod(cut)
    assert slot.chunk(batch).chunked == 3
    assert health.fault is None


def test_an_end_that_any_file_causes_is_the_installations_fault(
    scripted: type[ScriptedProcess], batch: list[Job]
) -> None:
    def broken(_asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        raise WorkerDied("exit status 1", 0, [])

    scripted.answer = staticmethod(broken)
    health = ChunkHealth()
    slot = WorkerSlot(0, health)
    step = slot.chunk(batch[:1])
    assert step.retry == batch[:1]
    (outcome,) = slot.chunk(step.retry).outcomes
    assert outcome.result == NoWorker("exit status 1")
    assert health.fault == WorkerFault("exit status 1")
    assert batch[0].work.deaths == 0


def test_an_end_that_only_one_file_causes_is_that_files_fault(
    scripted: type[ScriptedProcess], batch: list[Job]
) -> None:
    def ends_on_a(asked: Sequence[ChunkJob]) -> list[ChunkedContent | ChunkFailure]:
        if any(b"a.txt" in job.data for job in asked):
            raise WorkerDied("exit status 1", 0, [])
        return cut(asked)

    scripted.answer = staticmethod(ends_on_a)
    health = ChunkHealth()
    slot = WorkerSlot(0, health)
    (outcome,) = slot.chunk(slot.chunk(batch[:1]).retry).outcomes
    assert outcome.result == Failed("quarantined", "chunk: the worker ended twice on it (exit status 1)")
    assert health.fault is None
