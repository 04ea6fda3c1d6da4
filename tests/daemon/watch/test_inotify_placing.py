"""Placing a watch may take long on a slow file system: nothing else waits, and later changes are kept apart."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from watchdog.observers import inotify_c

from helpers.support import wait_until
from helpers.watched_folder import WAIT_S, Sink, pass_barrier
from livedex_daemon.watch.inotify import InotifyWatcher


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as threads:
        yield threads


def after_the_call(monkeypatch: pytest.MonkeyPatch, path: Path, action: Callable[[], None]) -> None:
    """The first ``inotify_add_watch`` of ``path`` returns only after ``action``; the kernel has the watch by then."""
    place = inotify_c.inotify_add_watch
    left = [os.fsencode(path)]

    def placed(fd: int, folder: bytes, mask: int) -> int:
        wd: int = place(fd, folder, mask)
        if folder in left:
            left.remove(folder)
            action()
        return wd

    monkeypatch.setattr(inotify_c, "inotify_add_watch", placed)


def test_a_call_that_hangs_delays_no_barrier(
    watcher: InotifyWatcher, sink: Sink, root: Path, monkeypatch: pytest.MonkeyPatch, threads: ThreadPoolExecutor
) -> None:
    hung, ends = threading.Event(), threading.Event()

    def hang() -> None:
        hung.set()
        ends.wait(WAIT_S)

    (root / "share").mkdir()
    after_the_call(monkeypatch, root / "share", hang)
    placing = threads.submit(watcher.watch_folder, 1, b"share", os.fsencode(root / "share"))
    try:
        assert hung.wait(WAIT_S)
        (root / "file").touch()
        threads.submit(pass_barrier, watcher).result(WAIT_S / 2)
        assert (1, b"file", False) in sink.paths
        wait_until(lambda: threads.submit(watcher.caught_up).result(WAIT_S / 2), what="catching up")
        threads.submit(watcher.unwatch, 1, b"elsewhere").result(WAIT_S / 2)
        assert not placing.done()
    finally:
        ends.set()
    assert placing.result(WAIT_S)
    assert watcher.watched(1) == 2


def test_a_moved_folder_whose_old_name_ends_its_watch_is_watched_again(
    watcher: InotifyWatcher, sink: Sink, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel gives the moved folder its old descriptor, and the event of its old name then removes that.

    The folder has its new name from the start, so that the reader's own event cannot come first.
    """
    (root / "new").mkdir()
    assert watcher.watch_folder(1, b"old", os.fsencode(root / "new"))
    after_the_call(monkeypatch, root / "new", lambda: watcher.unwatch(1, b"old"))
    assert watcher.watch_folder(1, b"new", os.fsencode(root / "new"))
    pass_barrier(watcher)
    sink.paths.clear()
    (root / "new" / "file").write_text("x")
    pass_barrier(watcher)
    assert (1, b"new/file", False) in sink.paths


def test_a_folder_that_moves_away_while_it_is_placed_is_reported_no_more(
    watcher: InotifyWatcher, sink: Sink, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = root.parent / "away"

    def move() -> None:
        (root / "sub").rename(away)
        pass_barrier(watcher)  # the reader has unwatched it by now

    (root / "sub").mkdir()
    after_the_call(monkeypatch, root / "sub", move)
    assert watcher.watch_folder(1, b"sub", os.fsencode(root / "sub"))
    assert watcher.watched(1) == 1
    sink.paths.clear()
    (away / "file").write_text("x")
    pass_barrier(watcher)
    assert sink.paths == []


def test_a_folder_that_ends_while_it_is_placed_needs_no_watch(
    watcher: InotifyWatcher, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "sub").mkdir()
    assert watcher.watch_folder(1, b"sub", os.fsencode(root / "sub"))

    def end() -> None:
        (root / "sub").rmdir()
        pass_barrier(watcher)

    after_the_call(monkeypatch, root / "sub", end)
    assert watcher.watch_folder(1, b"sub", os.fsencode(root / "sub"))
    assert watcher.watched(1) == 1
