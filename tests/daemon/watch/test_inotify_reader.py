"""The adapter to watchdog's inotify thread: what livedex relies on although no public name of watchdog promises it."""

from __future__ import annotations

import errno
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from watchdog.observers.inotify_c import CallbackId, InotifyConstants, InotifyEvent, Mask, WatchDescriptor

from helpers.support import wait_until
from livedex_daemon.watch.inotify_reader import InotifyReader

WAIT_S = 10.0
MASK = Mask(InotifyConstants.IN_CREATE | InotifyConstants.IN_ONLYDIR)
OURS = CallbackId(1)


class Recorded:
    """A callback that keeps the names it gets, and can be made to wait before it does."""

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self.deleted: list[int] = []
        self.reached = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def on_event(self, event: InotifyEvent) -> None:
        self.reached.set()
        assert self.go_on.wait(WAIT_S)
        self.names.append(event.name)

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        self.deleted.append(wd)

    def on_queue_overflow(self) -> None:
        raise AssertionError("nothing overflows here")


def open_descriptors() -> set[int]:
    return {number for number in map(int, os.listdir("/proc/self/fd")) if is_open(number)}  # without the listing's own


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


@pytest.fixture
def callback() -> Recorded:
    return Recorded()


@pytest.fixture
def reader() -> Iterator[InotifyReader]:
    reader = InotifyReader()
    reader.start()
    yield reader
    reader.stop()
    reader.join(WAIT_S)


def test_events_come_on_the_thread_and_then_it_has_caught_up(
    reader: InotifyReader, callback: Recorded, tmp_path: Path
) -> None:
    reader.watch(os.fsencode(tmp_path), MASK, callback, OURS)
    (tmp_path / "file").touch()
    wait_until(reader.caught_up)
    assert callback.names == [b"file"]


def test_it_has_not_caught_up_while_an_event_is_being_passed_on(
    reader: InotifyReader, callback: Recorded, tmp_path: Path
) -> None:
    callback.go_on.clear()
    reader.watch(os.fsencode(tmp_path), MASK, callback, OURS)
    (tmp_path / "folder").mkdir()
    assert callback.reached.wait(WAIT_S)
    assert not reader.caught_up()
    callback.go_on.set()
    wait_until(reader.caught_up)


def test_a_folder_can_be_watched_again_in_silence(reader: InotifyReader, callback: Recorded, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first = reader.watch(os.fsencode(tmp_path), MASK, callback, OURS)
        assert reader.watch(os.fsencode(tmp_path), MASK, callback, OURS) == first
    (tmp_path / "file").touch()
    wait_until(reader.caught_up)
    assert callback.names == [b"file"], "a callback that is added twice is called once"


def test_a_callback_that_is_taken_out_ends_the_watch(reader: InotifyReader, callback: Recorded, tmp_path: Path) -> None:
    wd = reader.watch(os.fsencode(tmp_path), MASK, callback, OURS)
    reader.remove_callbacks([(wd, OURS)])
    (tmp_path / "file").touch()
    wait_until(reader.caught_up)
    assert callback.names == []


def test_a_deleted_folder_ends_its_watch(reader: InotifyReader, callback: Recorded, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    wd = reader.watch(os.fsencode(folder), MASK, callback, OURS)
    folder.rmdir()
    wait_until(lambda: callback.deleted == [wd])


@pytest.mark.parametrize(("name", "number"), [("none", errno.ENOENT), ("file", errno.ENOTDIR)])
def test_what_cannot_be_watched_raises(
    reader: InotifyReader, callback: Recorded, tmp_path: Path, name: str, number: int
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OSError) as caught:
        reader.watch(os.fsencode(tmp_path / name), MASK, callback, OURS)
    assert caught.value.errno == number


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
def test_a_folder_that_is_closed_to_us_raises(reader: InotifyReader, callback: Recorded, tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o000)
    with pytest.raises(PermissionError):
        reader.watch(os.fsencode(folder), MASK, callback, OURS)


def test_no_descriptor_is_left_open_or_inherited() -> None:
    before = open_descriptors()
    reader = InotifyReader()
    opened = open_descriptors() - before
    assert len(opened) == 3 and not any(os.get_inheritable(number) for number in opened)
    reader.release()
    assert open_descriptors() == before


def test_a_started_reader_closes_what_it_opened() -> None:
    before = open_descriptors()
    reader = InotifyReader()
    reader.start()
    wait_until(reader.caught_up)
    reader.stop()
    reader.join(WAIT_S)
    assert not reader.is_alive() and open_descriptors() == before
