"""Chooses the source of events, turns its reports into marks, and keeps an eye on files outside the roots that matter.

Invariant: whatever the source reports becomes a mark in the backlog or a reload; it decides nothing else.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable

from livedex_daemon.process.locations import Locations
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.inotify import Watcher
from livedex_daemon.watch.root_table import Root, RootTable
from livedex_indexing.relpath import is_below, is_within

log = logging.getLogger(__name__)

REVIVE_EVERY_S = 10.0
REPAIR_REST_S = 1.0  # before a further walk when events were lost again while a loss was being repaired,
REPAIR_REST_FACTOR = 5  # or so many times the length of the last one; a fresh search does not wait for it
HAS_INOTIFY: bool = sys.platform == "linux"


class Watching:
    """The sink of the watcher; its methods are called on the watcher's thread, the worker's and the loop's; so each
    looks once which watcher there is."""

    def __init__(
        self, backlog: Backlog, locations: Locations, roots: Callable[[], RootTable], on_config: Callable[[], None]
    ) -> None:
        self.watcher: Watcher | None = None
        self._backlog = backlog
        self._cookies = locations.cookie_dir
        self._config = os.fsencode(os.path.abspath(locations.config_path))
        self._config_target = self._config
        self._roots = roots
        self._on_config = on_config
        self._observer = "auto"
        self._sources: dict[int, set[bytes]] = {}  # files outside the roots on which their rules rest
        self._tried_at = 0.0

    def start(self, observer: str) -> None:
        """``observer``: ``auto``, ``native`` or ``polling``."""
        self._observer = observer
        if observer == "polling":
            return
        self._tried_at = time.monotonic()
        watcher = _native(self, self._cookies)
        try:
            watcher.start()
        except OSError as error:
            log.warning("watcher_unavailable", extra={"error": error.strerror})
            return
        for root in self._roots():  # first, so that no search takes its word for what it was not there to see
            self._backlog.mark((root.id, b""), tree=True, now=True)
        self.watcher = watcher
        self._sources.clear()  # to be watched anew
        self._watch_config()

    def stop(self) -> None:
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            watcher.stop()

    def revive(self) -> bool:
        """Starts a source of events that ended or could not be had before. True when there is another one, or none any
        more."""
        watcher = self.watcher
        if self._observer == "polling" or (watcher is not None and watcher.alive()):
            return False
        if watcher is None and time.monotonic() - self._tried_at < REVIVE_EVERY_S:
            return False
        self.stop()
        self.start(self._observer)
        return watcher is not None or self.watcher is not None

    # -- placing watches

    def watch(self, root: Root, path: bytes) -> None:
        watcher = self.watcher
        if watcher is None:
            return
        if watcher.watch_folder(root.id, path, root.absolute(path)):
            root.watch_again(path)
        else:
            root.poll(path)

    def retry(self, root: Root) -> None:
        """Tries to watch what could not be watched before; stops at the first that still cannot be."""
        watcher, polled = self.watcher, root.polled
        if watcher is None:
            return
        for path in sorted(root.refused):
            if not watcher.watch_folder(root.id, path, root.absolute(path)):
                break
            # There may be more inside that can be watched now, and what changed until now: marked before its events are
            # all that a search waits for.
            self._backlog.mark((root.id, path), tree=True)
            root.watch_again(path)
        if root.polled != polled:
            self._watch_config()

    def unwatch(self, root_id: int, path: bytes) -> None:
        watcher = self.watcher
        if watcher is not None:
            watcher.unwatch(root_id, path)

    def watch_outside(self, root: Root) -> None:
        """Watches what the root's rules rest on outside of it: ignore files above it, the repository's, the user's."""
        sources = root.rules.outside_sources()
        if sources == self._sources.get(root.id):
            return
        self._sources[root.id] = sources
        self._watch_beside(sources)

    def forget_root(self, root_id: int) -> None:
        self._sources.pop(root_id, None)
        self.unwatch(root_id, b"")

    def _watch_config(self) -> None:
        self._config_target = os.path.realpath(self._config)
        self._watch_beside({self._config, self._config_target})

    def _watch_beside(self, files: Iterable[bytes]) -> None:
        watcher = self.watcher
        if watcher is not None:
            for folder in {_nearest_folder(file) for file in files}:
                watcher.watch_outside(folder)

    # -- Sink

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None:
        self._backlog.mark((root_id, path), tree=tree, heard=True)

    def root_changed(self, root_id: int) -> None:
        self._backlog.mark((root_id, b""), tree=True)

    def outside_changed(self, path: bytes) -> None:
        # Of everything that happens in these folders: a log beside them may be written a thousand times a second.
        if path in (self._config, self._config_target) or is_below(self._config, path):
            self._watch_config()
            self._on_config()
        for root_id, sources in list(self._sources.items()):
            if any(is_within(source, path) for source in sources):
                self._backlog.mark((root_id, b""), tree=True)

    def events_lost(self) -> None:
        for root in self._roots():
            root.overflows += 1
            again = root.state == "recovering"
            if root.state == "online":
                root.state = "recovering"
            if again:
                rest = max(REPAIR_REST_S, REPAIR_REST_FACTOR * root.walk_s)
                self._backlog.mark((root.id, b""), tree=True, rest_s=rest)
            else:
                self._backlog.mark((root.id, b""), tree=True, now=True)


def _native(sink: Watching, cookies: str) -> Watcher:
    if HAS_INOTIFY:
        from livedex_daemon.watch.inotify import InotifyWatcher

        return InotifyWatcher(sink, cookies)
    from livedex_daemon.watch.portable_observer import ObserverWatcher

    return ObserverWatcher(sink, cookies)


def _nearest_folder(path: bytes) -> bytes:
    """The folder of ``path``, or the nearest one above it that exists: there its coming would be seen."""
    folder = os.path.dirname(path)
    while len(folder) > 1 and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder or b"/"
