"""The table of mounts: what is reported, by which thread, and that its thread goes on after an error."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path

import pytest

from helpers.support import wait_until
from livedex_daemon.watch import mount_events
from livedex_daemon.watch.mount_events import MountEvents

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def open_tables() -> int:
    """The number of descriptors of the mount table in this process."""
    return sum(is_table(fd) for fd in os.listdir("/proc/self/fd"))


def is_table(fd: str) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{fd}").endswith("/mountinfo")
    except OSError:
        return False


def test_nothing_is_reported_while_nothing_is_mounted() -> None:
    reported: list[set[bytes]] = []
    events = MountEvents(reported.append)
    events.start()
    events.check()
    events.stop()
    assert reported == []
    events.check()  # it does nothing after it was stopped


def test_it_ends_and_leaves_no_descriptor() -> None:
    before = open_tables()
    events = MountEvents(lambda _points: None)
    events.start()
    assert "mounts" in {thread.name for thread in threading.enumerate()}
    events.stop()
    assert "mounts" not in {thread.name for thread in threading.enumerate()}
    assert open_tables() == before


def test_without_the_table_it_does_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(mount_events, "MOUNTINFO", tmp_path / "missing")
    events = MountEvents(lambda _points: None)
    events.start()
    events.check()
    events.stop()


def test_a_table_that_cannot_be_opened_for_a_moment_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What was mounted meanwhile is not known, so every mount is reported."""
    monkeypatch.setattr(mount_events, "RETRY_S", 0.0)
    (tmp_path / "mountinfo").write_bytes(b"1 20 0:50 / /mnt rw - tmpfs tmpfs rw\n")
    monkeypatch.setattr(mount_events, "MOUNTINFO", tmp_path / "mountinfo")
    reported: list[set[bytes]] = []
    events = MountEvents(reported.append)
    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:

        def refuse() -> tuple[int, int]:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        patch.setattr(os, "pipe", refuse)
        events.start()
        events.check()
        assert len(os.listdir("/proc/self/fd")) == before
    events.check()
    assert reported == [{b"/mnt"}]
    events.stop()


def test_its_thread_goes_on_after_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An ordinary file is always ready: the thread checks all the time."""
    table = tmp_path / "mountinfo"
    table.write_bytes(b"")
    monkeypatch.setattr(mount_events, "MOUNTINFO", table)
    monkeypatch.setattr(mount_events, "CHANGED", 1)
    monkeypatch.setattr(mount_events, "RETRY_S", 0.01)
    tries: list[set[bytes]] = []
    done = threading.Event()

    def report(points: set[bytes]) -> None:
        if not done.is_set():
            tries.append(points)
            raise ValueError("a defect of the receiver")

    events = MountEvents(report)
    events.start()
    try:
        for number in range(3):
            table.write_bytes(b"%d 20 0:50 / /mnt rw - tmpfs tmpfs rw\n" % number)
            wait_until(lambda number=number: len(tries) > number)  # type: ignore[misc]
    finally:
        done.set()
        events.stop()
    assert {point for points in tries for point in points} == {b"/mnt"}
