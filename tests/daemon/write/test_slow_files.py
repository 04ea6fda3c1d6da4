"""Edited files that take long to be cut: they hold up no others, and none of them waits for ever for another."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import CUTS_SLOWLY, with_code
from helpers.pool_parts import collected, outcomes, works
from helpers.support import wait_until
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write import chunk_pool, worker_slot
from livedex_daemon.write.chunk_pool import Pool
from livedex_indexing.chunk.chunk_process import ChunkProcess
from livedex_indexing.model import ChunkedContent


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which a test lets a slow file go on; all that still wait do so at the end."""
    folder = tmp_path / "slow"
    folder.mkdir()
    for name, value in with_code(tmp_path / "seam", CUTS_SLOWLY).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SLOW", str(folder))
    monkeypatch.setattr(chunk_pool, "STUCK_S", 0.2)
    monkeypatch.setattr(worker_slot, "time_limit", lambda _size: 600.0)  # none is given up for its slowness
    return folder


def names_of(pool: Pool, count: int) -> set[str]:
    return set(collected(pool, count))


def test_a_child_that_does_not_end_holds_up_nothing(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing, gate = threading.Event(), threading.Event()

    class Lingers(ChunkProcess):
        def close(self) -> None:
            closing.set()
            assert gate.wait(60)
            super().close()

    monkeypatch.setattr(worker_slot, "ChunkProcess", Lingers)
    for name in ("slow.txt", "a.txt", "b.txt"):
        (folder / name).write_text(f"{name}\n")
    pool = make()
    try:
        pool.submit(works(root, "slow.txt"), bulk=False)
        wait_until((slow / "begun-slow.txt").exists, 60, what="the slow file")
        pool.submit(works(root, "a.txt"), bulk=False)
        assert names_of(pool, 1) == {"a.txt"}
        (slow / "slow.txt").touch()
        assert names_of(pool, 1) == {"slow.txt"}
        assert closing.wait(60), "the spare thread has nothing to do"
        pool.submit(works(root, "b.txt"), bulk=False)
        assert names_of(pool, 1) == {"b.txt"}
        assert not gate.is_set()
    finally:
        gate.set()


def test_edits_share_a_child_while_a_file_takes_its_time(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine the start of a child takes seconds, and a search waits for it."""
    children: list[ChunkProcess] = []

    class Counted(ChunkProcess):
        def __init__(self, *, nice: int = 0, gives_way: Callable[[float], bool] | None = None) -> None:
            super().__init__(nice=nice, gives_way=gives_way)
            children.append(self)

    monkeypatch.setattr(worker_slot, "ChunkProcess", Counted)
    (folder / "slow.txt").write_text("slow\n")
    pool = make()
    pool.submit(works(root, "slow.txt"), bulk=False)
    wait_until((slow / "begun-slow.txt").exists, 60, what="the slow file")
    for number in range(8):
        (folder / f"{number}.txt").write_text(f"{number}\n")
        pool.submit(works(root, f"{number}.txt"), bulk=False)
        assert names_of(pool, 1) == {f"{number}.txt"}
    assert len(children) == 2
    (slow / "slow.txt").touch()
    assert names_of(pool, 1) == {"slow.txt"}
    wait_until(lambda: [child.pid is None for child in children] == [False, True], 20, what="the end of the second")


def test_two_files_that_take_their_time_hold_up_no_other(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path
) -> None:
    names = ("slow1.txt", "slow2.txt", "a.txt", "b.txt")
    for name in names:
        (folder / name).write_text(f"{name}\n")
    pool = make()
    for name in names[:2]:
        pool.submit(works(root, name), bulk=False)
        wait_until((slow / f"begun-{name}").exists, 60, what=name)
    for name in names[2:]:
        pool.submit(works(root, name), bulk=False)
        assert names_of(pool, 1) == {name}
    for name in names[:2]:
        (slow / name).touch()
    found = outcomes(pool, 2)
    assert all(isinstance(outcome.result, ChunkedContent) for outcome in found.values())
    assert all(outcome.work.deaths == 0 for outcome in found.values()), "no file is blamed for having given way"


def test_a_file_that_takes_its_time_holds_up_none_of_its_batch(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path
) -> None:
    for name in ("slow.txt", "b.txt", "longer.txt"):
        (folder / name).write_text(f"{name}\n")
    pool = make()
    pool.submit(works(root, "slow.txt", "b.txt", "longer.txt"), bulk=False)
    assert names_of(pool, 2) == {"b.txt", "longer.txt"}
    (slow / "slow.txt").touch()
    assert isinstance(outcomes(pool, 1)["slow.txt"].result, ChunkedContent)


def test_files_that_gave_way_wait_for_each_other_in_turn(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path
) -> None:
    names = ("slow1.txt", "slow2.txt", "slow3.txt", "slow4.txt", "z.txt")
    for name in names:
        (folder / name).write_text(f"{name}\n")
    pool = make()
    pool.submit(works(root, *names), bulk=False)
    assert names_of(pool, 1) == {"z.txt"}
    for name in ("slow3.txt", "slow2.txt", "slow4.txt", "slow1.txt"):
        (slow / name).touch()
        assert names_of(pool, 1) == {name}


def test_a_file_that_gave_way_does_not_wait_for_mains_power(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path
) -> None:
    for name in ("slow.txt", "b.txt"):
        (folder / name).write_text(f"{name}\n")
    pool = make(may_run=lambda: False)
    pool.submit(works(root, "slow.txt", "b.txt"), bulk=False)
    assert names_of(pool, 1) == {"b.txt"}
    (slow / "slow.txt").touch()
    assert isinstance(outcomes(pool, 1)["slow.txt"].result, ChunkedContent)


def test_files_that_gave_way_hold_up_no_bulk_work(
    make: Callable[..., Pool], root: Root, folder: Path, slow: Path
) -> None:
    for name in ("slow1.txt", "slow2.txt", "b.txt", "bulk.txt"):
        (folder / name).write_text(f"{name}\n")
    pool = make()
    pool.submit(works(root, "slow1.txt", "slow2.txt", "b.txt"), bulk=False)
    assert names_of(pool, 1) == {"b.txt"}
    wait_until((slow / "begun-slow2.txt").exists, 60, what="the second slow file")
    pool.submit(works(root, "bulk.txt"), bulk=True)
    assert names_of(pool, 1) == {"bulk.txt"}
    for name in ("slow1.txt", "slow2.txt"):
        (slow / name).touch()
    assert set(outcomes(pool, 2)) == {"slow1.txt", "slow2.txt"}
