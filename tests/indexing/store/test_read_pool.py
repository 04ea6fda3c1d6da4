"""The readers of an index: the end of a search leaves nothing behind in the reader that the next one gets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import apsw
import pytest

from helpers.store_rig import Rig
from livedex_indexing.store.read_pool import ReadPool
from livedex_ipc.errors import Cancelled

OFTEN = 2_000  # SQLite asks a BEGIN or a COMMIT whether to end only once in some hundreds
COUNT = "SELECT count(*) FROM files"


@pytest.fixture
def pool(rig: Rig) -> Iterator[ReadPool]:
    made = ReadPool(rig.path)
    yield made
    made.close()


def test_a_snapshot_ends_when_its_search_is_cancelled_in_it(rig: Rig, pool: ReadPool) -> None:
    for _ in range(OFTEN):
        cancelled = threading.Event()
        with pool.connection(cancelled=cancelled.is_set) as reader, reader.snapshot():
            assert reader.one(COUNT) == 0
            cancelled.set()
    rig.put(b"a.txt", "walrus")
    with pool.connection() as reader:
        assert reader.one(COUNT) == 1, "the reader still has the snapshot of an earlier search"


def test_a_snapshot_that_begins_too_late_ends_as_cancelled(pool: ReadPool) -> None:
    for _ in range(OFTEN):
        with suppress(Cancelled), pool.connection(cancelled=lambda: True) as reader, reader.snapshot():
            reader.check()


def test_a_cancelled_search_runs_no_further_statement_however_short(pool: ReadPool) -> None:
    cancelled = threading.Event()
    with pool.connection(cancelled=cancelled.is_set) as reader, reader.snapshot():
        assert reader.one(COUNT) == 0
        cancelled.set()
        with pytest.raises(Cancelled), reader.without_deadline():
            reader.one(COUNT)


def test_a_lack_of_memory_in_sqlite_is_one_of_python(pool: ReadPool) -> None:
    """Who makes the answer of it knows nothing of SQLite."""

    def rows() -> Iterator[tuple[int]]:
        raise apsw.NoMemError
        yield (1,)

    with pool.connection() as reader, pytest.raises(MemoryError):
        reader.fill("CREATE TEMP TABLE IF NOT EXISTS t AS SELECT ?", rows())
