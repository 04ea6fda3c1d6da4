"""Files are read without blocking, without following links, and in one state."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from helpers.raw_entries import MIB, meanwhile, put
from helpers.support import wait_until
from livedex_indexing.disk import tree


def test_a_pipe_or_a_device_is_never_read(root: bytes, both_ways: str) -> None:
    os.mkfifo(os.path.join(root, b"pipe"))
    with pytest.raises(tree.NotRegular) as refused:
        tree.read_file(root, b"pipe", MIB)
    assert (refused.value.kind, refused.value.reason) == ("special", "special")
    assert tree.read_if_unchanged(root, b"pipe", (0, 0, 0, 0)) is None
    with pytest.raises(tree.NotRegular):
        tree.read_head(b"/dev", b"zero", 10)
    with pytest.raises(tree.NotRegular):
        tree.read_file(root, b"", MIB)


def test_a_pipe_that_is_passed_by_is_not_opened(root: bytes, both_ways: str) -> None:
    """A writer that waits for a reader must not be woken by livedex: the owner of a pipe notices an open."""
    path = os.path.join(root, b"pipe")
    os.mkfifo(path)
    about = threading.Event()

    def write() -> None:
        about.set()
        os.close(os.open(path, os.O_WRONLY))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        about.wait()
        for _ in range(3_000):  # long enough for the writer to be waiting by then, on a busy machine too
            with pytest.raises(tree.NotRegular):
                tree.read_file(root, b"pipe", MIB)
        writer.join(0.2)
        assert writer.is_alive(), "it goes on waiting for a reader"
    finally:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join(10)
        os.close(reader)


def test_a_file_that_turns_into_a_pipe_or_a_link_is_never_followed(
    root: bytes, both_ways: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = put(os.fsencode(tmp_path_factory.mktemp("outside")), b"x", b"outside")
    path, beside = put(root, b"d/f", b"inside"), os.path.join(root, b"beside")

    def swap(number: int) -> None:
        match number % 3:
            case 0:
                os.mkfifo(beside)
            case 1:
                os.symlink(outside, beside)
            case 2:
                put(root, b"beside", b"inside")
        os.rename(beside, path)

    with meanwhile(swap):
        for _ in range(3_000):
            with suppress(tree.NotRegular, tree.Vanished, tree.Unsettled):
                assert tree.read_file(root, b"d/f", MIB).data == b"inside"


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_swap_between_the_look_and_the_opening(
    root: bytes, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The moment that the race above may miss, caused on purpose: the read neither blocks nor follows."""
    path = put(root, b"f", b"inside")
    outside = put(os.fsencode(tmp_path_factory.mktemp("outside")), b"x", b"outside")
    real = os.stat

    def swap_after(*args: Any, **options: Any) -> os.stat_result:
        found = real(*args, **options)
        os.unlink(path)
        os.mkfifo(path) if kind == "pipe" else os.symlink(outside, path)
        return found

    monkeypatch.setattr(os, "stat", swap_after)
    with pytest.raises(tree.NotRegular if kind == "pipe" else tree.Vanished):
        tree.read_file(root, b"f", MIB)


def test_a_file_over_the_limit_is_not_read(root: bytes) -> None:
    path = put(root, b"sparse", b"")
    os.truncate(path, 100 << 30)
    with pytest.raises(tree.TooLarge) as refused:
        tree.read_file(root, b"sparse", 8 * MIB)
    assert refused.value.stat.size == 100 << 30
    put(root, b"exact", b"12345678")
    assert tree.read_file(root, b"exact", 8).data == b"12345678"
    assert tree.read_head(root, b"exact", 3).data == b"123"
    assert tree.read_head(root, b"exact", 99).data == b"12345678"
    put(root, b"empty", b"")
    assert tree.read_file(root, b"empty", 0).data == b""


def test_a_snapshot_is_no_mixture(root: bytes, both_ways: str) -> None:
    """A writer changes the whole file from all A to all B and back as fast as it can, in place and at the same size.

    A writer that is preempted inside its system call, during both of our stats, looks like one that has ended: the end
    of its write causes an event, and until then the row counts as unsettled. This is rare, and bounded here.
    """
    size = 256 * 1024
    versions = [letter * size for letter in (b"A", b"B")]
    put(root, b"f", versions[0])
    fd = os.open(os.path.join(root, b"f"), os.O_WRONLY)
    pure = unsettled = mixed = 0

    def read() -> bool:
        nonlocal pure, unsettled, mixed
        for _ in range(20):
            try:
                whole = tree.read_file(root, b"f", MIB).data in versions
                pure, mixed = pure + whole, mixed + (not whole)
            except tree.Unsettled:
                unsettled += 1
        return pure > 20 and unsettled > 20

    try:
        with meanwhile(lambda number: [os.pwrite(fd, versions[number % 2], 0)].clear()):
            wait_until(read, 60)
    finally:
        os.close(fd)
    assert mixed <= 2 + pure // 100


def test_a_write_between_two_looks_is_noticed(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size kept and the time reset: only the change time, which the kernel sets, shows the change."""
    path = put(root, b"f", b"A" * 100)
    monkeypatch.setattr(tree, "RECENT_NS", 0)  # so that a second read is no help
    real = os.pread

    def tampered(fd: int, length: int, offset: int) -> bytes:
        data = real(fd, length, offset)
        before = os.stat(path)
        put(root, b"f", b"B" * 100) if data.startswith(b"A") else put(root, b"f", b"A" * 100)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        return data

    monkeypatch.setattr(os, "pread", tampered)
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)


def test_a_young_file_is_read_twice(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two writes in one tick of the filesystem's clock leave the same state: only the bytes differ."""
    put(root, b"f", b"A" * 100)
    reads: list[bytes] = [b"A" * 100, b"B" * 100]
    monkeypatch.setattr(os, "pread", lambda fd, length, offset: reads.pop(0))
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)
    assert reads == []


def test_a_log_that_grows_is_taken_up_to_its_first_size(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(root, b"log", b"one\n")
    before = tree.stat(root, b"log")
    real = os.pread

    def growing(fd: int, length: int, offset: int) -> bytes:
        with Path(os.fsdecode(path)).open("ab") as log:
            log.write(b"more\n")
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", growing)
    snapshot = tree.read_file(root, b"log", MIB)
    assert snapshot.data == b"one\n"
    assert snapshot.stat == before  # the state of the first stat, so that the rest is noticed as a change
    assert before is not None
    assert tree.read_if_unchanged(root, b"log", before.state) is None


def test_a_log_that_is_rewritten_longer_is_unsettled(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(root, b"log", b"one\n" * 100)
    real = os.pread
    reads: list[bytes] = []

    def rewritten(fd: int, length: int, offset: int) -> bytes:
        found = real(fd, length, offset)
        if not reads:
            put(root, b"log", b"two\n" * 200)
        reads.append(found)
        return found

    monkeypatch.setattr(os, "pread", rewritten)
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"log", MIB)
    assert os.stat(path).st_size == 800


def test_a_file_cut_short_while_read_is_unsettled(root: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    path = put(root, b"f", b"A" * 100)
    real = os.pread

    def cut(fd: int, length: int, offset: int) -> bytes:
        os.truncate(path, 10)
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", cut)
    with pytest.raises(tree.Unsettled):
        tree.read_file(root, b"f", MIB)


def test_the_bytes_are_given_only_for_the_state_asked_for(root: bytes) -> None:
    path = put(root, b"f", b"one")
    state = tree.read_file(root, b"f", MIB).stat.state
    assert tree.read_if_unchanged(root, b"f", state) == b"one"
    assert tree.read_if_unchanged(root, b"f", (*state,)) == b"one"
    times = os.stat(path)
    put(root, b"f", b"two")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # same size, same mtime
    assert tree.read_if_unchanged(root, b"f", state) is None
    os.unlink(path)
    assert tree.read_if_unchanged(root, b"f", state) is None


def test_a_writer_is_not_held_up(root: bytes) -> None:
    """Reading takes no lock or lease that a writer would notice."""
    path = put(root, b"f", b"0" * MIB)
    writes = []

    def write(number: int) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        writes.append(os.pwrite(fd, b"%d" % (number % 10), 0))
        os.close(fd)

    with meanwhile(write):
        for _ in range(50):
            tree.read_head(root, b"f", MIB)
        wait_until(lambda: len(writes) > 50)
