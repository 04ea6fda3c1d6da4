"""A chunk process that is ended in the middle of a file, because others would wait for it."""

from __future__ import annotations

import pytest

from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunk_process import GAVE_WAY, ChunkJob, ChunkProcess, WorkerDied
from livedex_indexing.model import ChunkedContent

SMALL = ChunkJob(b"a.md", b"# Title\n\nwords\n", ChunkSettings())
SLOW = ChunkJob(b"slow.c", b"int f(int a) { return a + 1; }\n" * 30_000, ChunkSettings())  # two seconds of work
LONG_S = 60.0


def test_one_gives_way_in_the_middle_of_a_file_and_keeps_the_answers_before() -> None:
    asked: list[float] = []

    def gives_way(took_s: float) -> bool:
        asked.append(took_s)
        return took_s > 0.1

    process = ChunkProcess(gives_way=gives_way)
    try:
        with pytest.raises(WorkerDied) as died:
            process.chunk([SMALL, SLOW, SMALL], LONG_S)
        assert (died.value.reason, died.value.job, len(died.value.results)) == (GAVE_WAY, 1, 1)
        assert max(asked) < 2, "only a file's own time counts, not that of the start"
        assert isinstance(process.chunk([SMALL], LONG_S)[0], ChunkedContent)
    finally:
        process.close()
