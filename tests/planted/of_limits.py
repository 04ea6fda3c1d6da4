"""Defects of the bounds of time, memory and bytes of each request."""

from __future__ import annotations

from planted.defect import Defect

PLACING = "tests/daemon/watch/test_inotify_placing.py"

DEFECTS: tuple[Defect, ...] = (
    Defect(
        "lock-kept-in-the-call",
        "the watcher's lock is held while a watch is placed on a file system that may hang",
        "livedex_daemon/watch/inotify.py",
        (
            (
                "                    wd = fd.watch(absolute, mask, self, self._id)",
                "                    with self._lock:\n"
                "                        wd = fd.watch(absolute, mask, self, self._id)",
            ),
        ),
        f"{PLACING}::test_a_call_that_hangs_delays_no_barrier",
    ),
    Defect(
        "watch-that-ended-is-kept",
        "a watch that ended while it was placed counts as placed",
        "livedex_daemon/watch/inotify.py",
        (("                    if wd not in placing.ended:", "                    if True:"),),
        f"{PLACING}::test_a_moved_folder_whose_old_name_ends_its_watch_is_watched_again",
    ),
    Defect(
        "unwatched-too-early",
        "a folder that moves away while its watch is placed is watched from then on",
        "livedex_daemon/watch/inotify.py",
        (("                    placing.void = True", "                    pass"),),
        f"{PLACING}::test_a_folder_that_moves_away_while_it_is_placed_is_heard_of_no_more",
    ),
    Defect(
        "remote-watched",
        "watches are placed on remote file systems, where the call may hang",
        "livedex_daemon/watch/event_source.py",
        (("        if watcher is None or root.is_remote(path):", "        if watcher is None:"),),
        "tests/daemon/watch/test_event_source.py::test_what_lies_on_a_remote_file_system_gets_no_watch",
    ),
)
