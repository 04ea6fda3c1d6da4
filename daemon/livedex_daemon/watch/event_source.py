"""Chooses the watcher for this platform, turns its reports into marks, and watches rule files outside the roots.

Invariant: every report becomes a mark in the backlog or a reload of the configuration; nothing else is decided here.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Callable, Iterable

from livedex_daemon.process.locations import Locations
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.watch.watcher import Watcher
from livedex_indexing.relpath import is_within

log = logging.getLogger(__name__)

REVIVE_EVERY_S = 10.0
REPAIR_REST_S = 1.0  # pause before another walk if events were lost again while a loss was being repaired,
REPAIR_REST_FACTOR = 5  # or this many times the length of the last walk; a fresh search cuts the pause short
HAS_INOTIFY: bool = sys.platform == "linux"


class EventSource:
    """The watcher's sink. Methods run on the watcher's, the worker's and the loop's thread, so each reads
    ``self.watcher`` once."""

    def __init__(self, backlog: Backlog, locations: Locations, roots: Roots, on_config: Callable[[], None]) -> None:
        self.watcher: Watcher | None = None
        self._backlog = backlog
        self._cookies = locations.cookie_dir
        self._config = os.fsencode(os.path.abspath(locations.config_path))
        self._config_target = self._config
        self._roots = roots
        self._on_config = on_config
        self._observer = "auto"
        self._sources: dict[int, set[bytes]] = {}  # root id to the files outside the root that its rules depend on
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
        for root in self._roots:  # first, so that no search trusts the watcher for the time before it started
            self._backlog.mark((root.id, b""), tree=True, now=True)
        self.watcher = watcher
        self._sources.clear()  # the new watcher has no watches yet
        self._watch_config()

    def stop(self) -> None:
        watcher, self.watcher = self.watcher, None
        if watcher is not None:
            watcher.stop()

    def revive(self) -> bool:
        """Restart a watcher that ended or could not be started. Return True if there is now another one, or none."""
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
        """Watch a folder, unless it is on a remote file system, which is polled and may hang."""
        watcher = self.watcher
        if watcher is None or root.is_remote(path):
            return
        if watcher.watch_folder(root.id, path, root.absolute(path)):
            root.watch_again(path)
        else:
            root.poll(path)

    def retry(self, root: Root) -> None:
        """Try again to watch the folders that were refused; stop at the first that still is."""
        watcher, polled = self.watcher, root.polled
        if watcher is None:
            return
        for path in sorted(root.refused):
            if not watcher.watch_folder(root.id, path, root.absolute(path)):
                break
            # Folders inside it may be watchable now, and it may have changed while unwatched: mark it before searches
            # rely on its events alone.
            self._backlog.mark((root.id, path), tree=True)
            root.watch_again(path)
        if root.polled != polled:
            self._watch_config()

    def unwatch(self, root_id: int, path: bytes) -> None:
        watcher = self.watcher
        if watcher is not None:
            watcher.unwatch(root_id, path)

    def watch_outside(self, root: Root) -> None:
        """Watch the files outside the root that its rules depend on: those above it, the repository's, the user's."""
        sources = root.rules.outside_sources()
        if sources == self._sources.get(root.id):
            return
        self._sources[root.id] = sources
        self._watch_folders_of(sources)

    def forget_root(self, root_id: int) -> None:
        self._sources.pop(root_id, None)
        self.unwatch(root_id, b"")

    def _watch_config(self) -> None:
        self._config_target = os.path.realpath(self._config)
        self._watch_folders_of({self._config, self._config_target})

    def _watch_folders_of(self, files: Iterable[bytes]) -> None:
        watcher = self.watcher
        if watcher is not None:
            for folder in {_nearest_folder(file) for file in files}:
                watcher.watch_outside(folder)

    # -- Sink

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None:
        self._backlog.mark((root_id, path), tree=tree, from_event=True)

    def root_changed(self, root_id: int) -> None:
        self._backlog.mark((root_id, b""), tree=True)

    def outside_changed(self, path: bytes) -> None:
        # Any change in these folders arrives here, such as a log that is written a thousand times a second.
        if path in (self._config, self._config_target) or self._config.startswith(path + b"/"):
            self._watch_config()
            self._on_config()
        for root_id, sources in list(self._sources.items()):
            if any(is_within(source, path) for source in sources):
                self._backlog.mark((root_id, b""), tree=True)

    def events_lost(self) -> None:
        for root in self._roots:
            root.overflows += 1
            again = root.state == "recovering"
            if root.state == "online":
                root.state = "recovering"
            if again:
                rest = max(REPAIR_REST_S, REPAIR_REST_FACTOR * root.walk_s)
                self._backlog.mark((root.id, b""), tree=True, rest_s=rest)
            else:
                self._backlog.mark((root.id, b""), tree=True, now=True)


def _native(sink: EventSource, cookies: str) -> Watcher:
    if HAS_INOTIFY:
        from livedex_daemon.watch.inotify import InotifyWatcher

        return InotifyWatcher(sink, cookies)
    from livedex_daemon.watch.portable_observer import ObserverWatcher

    return ObserverWatcher(sink, cookies)


def _nearest_folder(path: bytes) -> bytes:
    """Return the folder of ``path``, or the nearest existing one above it, where its creation would be seen."""
    folder = os.path.dirname(path)
    while len(folder) > 1 and not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder or b"/"
