"""The reports of an inotify watcher about a folder, and the wait until it has reported everything."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from livedex_daemon.watch.inotify import InotifyWatcher

WAIT_S = 10.0


class Sink:
    def __init__(self) -> None:
        self.paths: list[tuple[int, bytes, bool]] = []
        self.roots: list[int] = []
        self.outside: list[bytes] = []
        self.lost = 0
        self.reached = threading.Event()
        self.held: threading.Event | None = None  # what it waits for before it takes a path

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None:
        self.reached.set()
        if self.held is not None:
            self.held.wait(WAIT_S)
        self.paths.append((root_id, path, tree))

    def root_changed(self, root_id: int) -> None:
        self.roots.append(root_id)

    def outside_changed(self, path: bytes) -> None:
        self.outside.append(path)

    def mounts_changed(self, points: set[bytes]) -> None: ...

    def events_lost(self) -> None:
        self.lost += 1


def pass_barrier(watcher: InotifyWatcher) -> None:
    passed = threading.Event()
    assert watcher.barrier(passed.set)
    assert passed.wait(WAIT_S)
