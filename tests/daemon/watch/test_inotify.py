"""The inotify watcher: what it reports, and that a barrier comes after everything that happened before it."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from helpers.watched_folder import WAIT_S, Sink, pass_barrier
from livedex_daemon.watch.inotify import COOKIES, InotifyWatcher


def side_by_side(count: int, work: Callable[[int], None]) -> None:
    """Run ``work(number)`` in that many threads at once; a failure in one of them fails here."""
    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(work, number) for number in range(count)]:
            done.result()


def catch_up(watcher: InotifyWatcher) -> None:
    """Check without a pause: the first moment at which the watcher has caught up counts."""
    ends = time.monotonic() + WAIT_S
    while not watcher.caught_up():
        assert time.monotonic() < ends, "it never catches up"


def test_every_change_is_reported_before_the_barrier(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    for number in range(300):
        (root / f"file{number}").write_text("x")
        pass_barrier(watcher)
        assert (1, b"file%d" % number, False) in sink.paths


def test_concurrent_barriers_each_come_after_their_own_writes(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    def write(writer: int) -> None:
        for number in range(40):
            name = f"w{writer}-{number}"
            (root / name).write_text("x")
            pass_barrier(watcher)
            assert (1, name.encode(), False) in sink.paths, f"{name}: answered before its event"

    side_by_side(COOKIES + 4, write)


def test_not_one_event_of_thousands_is_lost(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    """A rename causes one event for each of its two names, and nothing else reports it."""
    outside = root.parent / "outside"
    outside.mkdir()
    names = [f"f{number}" for number in range(3000)]
    for name in names:
        (outside / name).touch()
    for name in names:
        (outside / name).rename(root / name)
    pass_barrier(watcher)
    assert {path for _, path, _ in sink.paths} == {name.encode() for name in names}
    assert sink.lost == 0


def test_a_barrier_comes_after_what_is_still_being_passed_on(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    sink.held, passed = threading.Event(), threading.Event()
    (root / "file").touch()
    assert watcher.barrier(passed.set)
    assert not passed.wait(0.3), "it came by another way than the event before it"
    sink.held.set()
    assert passed.wait(WAIT_S)
    assert (1, b"file", False) in sink.paths


def test_every_change_is_reported_before_it_has_caught_up(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    for number in range(2000):
        (root / f"file{number}").write_text("x")
        catch_up(watcher)
        assert (1, b"file%d" % number, False) in sink.paths


def test_each_thread_finds_its_own_changes_noticed(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    def write(writer: int) -> None:
        for number in range(200):
            name = f"w{writer}-{number}"
            (root / name).write_text("x")
            catch_up(watcher)
            assert (1, name.encode(), False) in sink.paths, name

    side_by_side(4, write)


def test_it_has_not_caught_up_with_what_is_still_being_passed_on(
    watcher: InotifyWatcher, sink: Sink, root: Path
) -> None:
    sink.held = threading.Event()
    (root / "folder").mkdir()  # one event: the queue is empty once it is read
    assert sink.reached.wait(WAIT_S)
    assert not watcher.caught_up()
    sink.held.set()
    catch_up(watcher)


@pytest.mark.parametrize("how", ["append", "truncate", "rename", "delete", "chmod", "link", "open file"])
def test_kinds_of_change(watcher: InotifyWatcher, sink: Sink, root: Path, how: str) -> None:
    file = root / "file"
    file.write_text("x")
    pass_barrier(watcher)
    sink.paths.clear()
    held = file.open("a")
    if how == "append":
        with file.open("a") as opened:
            opened.write("y")
    elif how == "truncate":
        os.truncate(file, 0)
    elif how == "rename":
        file.rename(root / "other")
    elif how == "delete":
        file.unlink()
    elif how == "chmod":
        file.chmod(0)
    elif how == "link":
        os.link(file, root / "second")
    else:
        held.write("z")
        held.flush()
    pass_barrier(watcher)
    heard = {path for _, path, _ in sink.paths}
    assert heard & {b"file", b"second"}
    if how == "rename":
        assert {b"file", b"other"} <= heard
    held.close()


def test_a_new_folder_is_reported_as_a_tree(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    (root / "new").mkdir()
    pass_barrier(watcher)
    assert (1, b"new", True) in sink.paths


def test_a_folder_that_moves_away_is_reported_no_more(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    (root / "sub" / "deep").mkdir(parents=True)
    for path in (b"sub", b"sub/deep"):
        watcher.watch_folder(1, path, os.path.join(os.fsencode(root), path))
    away = root.parent / "away"
    (root / "sub").rename(away)
    pass_barrier(watcher)
    assert (1, b"sub", True) in sink.paths
    assert watcher.watched(1) == 1
    sink.paths.clear()
    (away / "deep" / "file").write_text("x")
    pass_barrier(watcher)
    assert sink.paths == []


def test_a_folder_moved_inside_reports_under_its_new_name(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    (root / "old").mkdir()
    watcher.watch_folder(1, b"old", os.fsencode(root / "old"))
    (root / "old").rename(root / "new")
    watcher.watch_folder(1, b"new", os.fsencode(root / "new"))
    pass_barrier(watcher)
    sink.paths.clear()
    (root / "new" / "file").write_text("x")
    pass_barrier(watcher)
    assert {path for _, path, _ in sink.paths} == {b"new/file"}


def test_a_folder_with_two_names_reports_under_both(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    """As by a bind mount; a link in a path makes the kernel do the same."""
    (root / "one" / "deep").mkdir(parents=True)
    (root / "two").symlink_to("one")
    for path in (b"one/deep", b"two/deep"):
        assert watcher.watch_folder(1, path, os.path.join(os.fsencode(root), path))
    pass_barrier(watcher)

    def reported() -> set[bytes]:
        sink.paths.clear()
        (root / "one/deep/file").write_text("x")
        pass_barrier(watcher)
        return {path for _, path, _ in sink.paths}

    assert reported() == {b"one/deep/file", b"two/deep/file"}
    watcher.unwatch(1, b"two/deep")
    assert reported() == {b"one/deep/file"}, "the folder has a name left"
    watcher.unwatch(1, b"one/deep")
    assert reported() == set()


def test_the_root_itself_is_reported_when_it_goes(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    root.rename(root.parent / "elsewhere")
    pass_barrier(watcher)
    assert 1 in sink.roots


def test_what_is_written_outside_is_reported_once_it_is_closed(
    watcher: InotifyWatcher, sink: Sink, tmp_path: Path
) -> None:
    """A log file next to the configuration does not wake the daemon."""
    log = tmp_path / "log"
    log.touch()
    assert watcher.watch_outside(os.fsencode(tmp_path))
    with log.open("w") as file:
        for _ in range(100):
            file.write("line\n")
            file.flush()
        pass_barrier(watcher)
        assert sink.outside == []
    pass_barrier(watcher)
    assert sink.outside == [os.fsencode(log)]


@pytest.mark.parametrize("outside_first", [True, False])
def test_a_folder_of_a_root_that_is_outside_as_well_reports_all(
    watcher: InotifyWatcher, sink: Sink, root: Path, outside_first: bool
) -> None:
    folder = root / "d"
    folder.mkdir()
    (folder / "f").touch()
    ways = [
        lambda: watcher.watch_outside(os.fsencode(folder)),
        lambda: watcher.watch_folder(1, b"d", os.fsencode(folder)),
    ]
    for way in ways if outside_first else reversed(ways):
        assert way()
    with (folder / "f").open("w") as file:
        file.write("x")
        file.flush()
        pass_barrier(watcher)
        assert (1, b"d/f", False) in sink.paths


def test_outside_folders_report_their_direct_entries(watcher: InotifyWatcher, sink: Sink, tmp_path: Path) -> None:
    folder = tmp_path / "outside"
    folder.mkdir()
    assert watcher.watch_outside(os.fsencode(folder))
    (folder / "ignore").write_text("x")
    pass_barrier(watcher)
    assert os.fsencode(folder / "ignore") in sink.outside
    assert sink.paths == []


def test_a_folder_that_is_not_there_needs_no_watch(watcher: InotifyWatcher, root: Path) -> None:
    assert watcher.watch_folder(1, b"none", os.fsencode(root / "none"))
    assert watcher.watched(1) == 1


def test_cookies_survive_their_folder_being_deleted(watcher: InotifyWatcher, tmp_path: Path) -> None:
    cookies = tmp_path / "cookies"
    for file in cookies.iterdir():
        file.unlink()
    cookies.rmdir()
    answered = threading.Event()
    for _ in range(50):
        if watcher.barrier(answered.set) and answered.wait(0.2):
            return
    pytest.fail("no barrier after the cookies' folder was deleted")


def test_barriers_do_not_wait_for_the_reader_of_a_fifo(watcher: InotifyWatcher, tmp_path: Path) -> None:
    for file in (tmp_path / "cookies").iterdir():
        file.unlink()
        os.mkfifo(file)
    for _ in range(3):
        pass_barrier(watcher)
    watcher.stop()
    watcher.start()
    pass_barrier(watcher)


def test_cookies_survive_another_folder_in_place_of_theirs(watcher: InotifyWatcher, tmp_path: Path) -> None:
    """A copy of livedex's folder was put in its place: what is written there raises no event here."""
    shutil.copytree(tmp_path / "cookies", tmp_path / "copy")
    (tmp_path / "cookies").rename(tmp_path / "moved")
    (tmp_path / "copy").rename(tmp_path / "cookies")
    pass_barrier(watcher)
    shutil.rmtree(tmp_path / "moved")
    pass_barrier(watcher)


def test_an_overflow_is_reported_and_releases_barriers(watcher: InotifyWatcher, sink: Sink) -> None:
    watcher.on_queue_overflow()
    assert sink.lost == 1


def test_nothing_is_reported_after_stop(watcher: InotifyWatcher, sink: Sink, root: Path) -> None:
    watcher.stop()
    assert not watcher.alive()
    assert sink.paths == [] and sink.roots == []
    assert not watcher.barrier(lambda: None)
    assert not watcher.caught_up()
