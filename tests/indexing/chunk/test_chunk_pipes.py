"""A pipe between the daemon and its child that fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator

import pytest

from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import ChunkJob, ChunkProcess, WorkerDied


@pytest.fixture
def process() -> Iterator[ChunkProcess]:
    made = ChunkProcess()
    yield made
    made.close()


def test_a_pipe_that_fails_blames_no_job(process: ChunkProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    job = ChunkJob(b"a.txt", b"some text", ChunkSettings())
    process.chunk([job], 20.0)
    with monkeypatch.context() as patch, pytest.raises(WorkerDied) as death:
        patch.setattr(os, "write", fail)
        process.chunk([job], 20.0)
    assert death.value.job is None and "Input/output error" in death.value.reason
    assert process.chunk([job], 20.0), "with a new child"


@pytest.mark.parametrize("call", ["read", "write"])
def test_a_pipe_that_is_ready_and_refuses_is_not_asked_all_the_time(
    process: ChunkProcess, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    calls = 0

    def refuse(*_: object) -> int:
        nonlocal calls
        calls += 1
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    job = ChunkJob(b"a.txt", b"some text", ChunkSettings())
    process.chunk([job], 20.0)
    with monkeypatch.context() as patch, pytest.raises(WorkerDied, match="timed out"):
        patch.setattr(os, call, refuse)
        process.chunk([job], 0.3)
    assert 0 < calls < 100
    assert process.chunk([job], 20.0), "with a new child"
