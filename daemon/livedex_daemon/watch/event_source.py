"""Chooses the watcher for this platform, turns its reports into marks, and watches rule files outside the roots.

Invariant: every report becomes a mark in the backlog or a reload of the configuration; nothing else is decided here.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence

from livedex_daemon.process.locations import Locations
from livedex_daemon.watch.backlog import Backlog, Key, Mark
from livedex_daemon.watch.outside_files import OutsideFiles
from livedex_daemon.watch.root_table import MOST_POLLED, Root, Roots
from livedex_daemon.watch.watcher import Sink, Watcher
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.ignore.external_files import Source
from livedex_indexing.relpath import few_at_or_above, is_below, is_within, relative

log = logging.getLogger(__name__)

REVIVE_EVERY_S = 10.0
REPAIR_REST_S = 1.0  # pause before another walk if events were lost again while a loss was being repaired,
REPAIR_REST_FACTOR = 5  # or this many times the length of the last walk; a fresh search cuts the pause short
FOLLOW_TRIES = 20  # one finds the sources, one proves them; more only while they change
_EVENT, _TREE_EVENT = Mark(from_event=True), Mark(tree=True, from_event=True)  # made once: storms have thousands
HAS_INOTIFY: bool = sys.platform == "linux"
make_watcher: Callable[[Sink, str], Watcher]
# At once, not at the first use: after an upgrade that would load a module of the new version.
if HAS_INOTIFY:
    from livedex_daemon.watch.inotify import InotifyWatcher

    make_watcher = InotifyWatcher
else:
    from livedex_daemon.watch.portable_observer import ObserverWatcher

    make_watcher = ObserverWatcher


class EventSource:
    """The watcher's sink. Methods run on the watcher's, the worker's and the loop's thread, so each reads
    ``self.watcher`` once."""

    def __init__(self, backlog: Backlog, locations: Locations, roots: Roots, on_config: Callable[[], None]) -> None:
        self.watcher: Watcher | None = None
        self.is_forbidden = False  # to watch anything, by the system
        self._backlog = backlog
        self._cookies = locations.cookie_dir
        self._config = Source(os.fsencode(os.path.abspath(locations.config_path)), True, b"")
        self._outside: dict[int, OutsideFiles] = {}  # by root id
        self._outside_config = OutsideFiles()
        self._outside_config.follow(b"/", [self._config], lambda _folder: None)
        self._roots = roots
        self._on_config = on_config
        self._observer = "auto"
        self._watched_outside: set[bytes] = set()
        self._lock = threading.Lock()  # of the watches outside the roots
        self._tried_at = 0.0

    def start(self, observer: str) -> None:
        """``observer``: ``auto``, ``native`` or ``polling``."""
        self._observer = observer
        REMOTE.renew()
        if observer == "polling":
            return
        self._tried_at = time.monotonic()
        watcher = make_watcher(self, self._cookies)
        try:
            watcher.start()
        except OSError as error:
            self.is_forbidden = error.errno in (errno.EPERM, errno.ENOSYS)
            log.warning("watcher_unavailable", extra={"error": error.strerror})
            return
        for root in self._roots:  # first, so that no search trusts the watcher for the time before it started
            self._backlog.mark((root.id, b""), Mark(tree=True, now=True))
        self.watcher = watcher
        self.is_forbidden = False
        self._outside.clear()  # the new watcher has no watches yet
        self._watched_outside.clear()
        self._outside_config = OutsideFiles()
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
        """Try again to watch the folders that were refused; stop at the first that a limit of watches still refuses."""
        watcher, polled = self.watcher, root.polled
        if watcher is None:
            return
        placed: list[bytes] = []
        for path in sorted(path for path in root.refused if not root.is_too_long(path)):
            if not watcher.watch_folder(root.id, path, root.absolute(path)):
                break
            placed.append(path)
        # Folders inside may be watchable now, and any may have changed while unwatched: mark them before searches rely
        # on their events alone.
        for path in few_at_or_above(frozenset(placed), MOST_POLLED):
            self._backlog.mark((root.id, path), Mark(tree=True))
        for path in placed:
            root.watch_again(path)
        if root.polled != polled:
            self._watch_config()

    def unwatch(self, root: Root, path: bytes) -> None:
        """Neither watch nor poll this folder, which is gone, and those below it any more."""
        self._unwatch(root.id, path)
        if root.was_polled(path):
            root.stop_polling((path,))

    def _unwatch(self, root_id: int, path: bytes) -> None:
        watcher = self.watcher
        if watcher is not None:
            watcher.unwatch(root_id, path)

    def followed_of(self, root: Root, folders: Sequence[bytes]) -> list[bytes]:
        """Return those of the folders that are watched or polled."""
        watcher = self.watcher
        watched = watcher.watched_of(root.id, folders) if watcher is not None else []
        polled = root.refused | root.remote
        return watched + [path for path in folders if path in polled] if polled else watched

    def let_go(self, root: Root, folders: Sequence[bytes]) -> None:
        """Neither watch nor poll these folders and those below them any more."""
        watcher = self.watcher
        if watcher is not None:
            watcher.unwatch_all(root.id, frozenset(folders))
        root.stop_polling(folders)

    def ignore_files_of(self, ino: int, dev: int | None) -> list[Key]:
        """Return the ignore files of all roots that have this inode, on this device if it is known."""
        return [(root.id, path) for root in self._roots for path in root.rules.inodes.files_with(ino, dev)]

    def watch_outside(self, root: Root) -> set[bytes]:
        """Watch the files outside the root that its rules depend on: those above it, the repository's, the user's.

        Return the folders whose rules changed before they were watched, so that no event reported it.
        """
        outside = self._outside.setdefault(root.id, OutsideFiles())
        changed: set[bytes] = set()
        watch, tries = self._outside_watches(), 0
        while tries < FOLLOW_TRIES and (outside.version != root.rules.outside_version or outside.is_touched):
            tries += 1
            sources = root.rules.outside_sources()
            outside.version = root.rules.outside_version
            if outside.follow(root.path, sources, watch):
                changed |= root.rules.outside_changed()
        if tries:
            self._let_go_outside()
        return changed

    def forget_root(self, root_id: int) -> None:
        self._outside.pop(root_id, None)
        self._unwatch(root_id, b"")
        self._let_go_outside()

    def _watch_config(self) -> None:
        watch = self._outside_watches()
        with self._lock:
            for _ in range(FOLLOW_TRIES):
                self._outside_config.follow(b"/", [self._config], watch)
                if not self._outside_config.is_touched:
                    break

    def _outside_watches(self) -> Callable[[bytes], None]:
        """Return a function that watches a folder outside the roots with the present watcher, if there is one."""
        watcher = self.watcher

        def watch(folder: bytes) -> None:
            if watcher is not None and not REMOTE.holds(folder):  # there the call may hang; the root check compares
                self._watched_outside.add(folder)
                watcher.watch_outside(folder)

        return watch

    def _let_go_outside(self) -> None:
        """Remove the watches outside the roots that no rule depends on any more."""
        watcher = self.watcher
        with self._lock:
            wanted = self._outside_config.folders.union(*(outside.folders for outside in self._outside.values()))
            for folder in self._watched_outside - wanted:
                self._watched_outside.discard(folder)
                if watcher is not None:
                    watcher.unwatch_outside(folder)

    # -- Sink

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None:
        self._backlog.mark((root_id, path), _TREE_EVENT if tree else _EVENT)

    def root_changed(self, root_id: int) -> None:
        self._backlog.mark((root_id, b""), Mark(tree=True))

    def outside_changed(self, path: bytes) -> None:
        # Any change in these folders arrives here, such as a log that is written a thousand times a second.
        if self._outside_config.touch(path):
            self._watch_config()
            self._on_config()
        for root_id, outside in list(self._outside.items()):
            for folder in outside.touch(path):
                self._backlog.mark((root_id, folder), _TREE_EVENT)

    def mounts_changed(self, points: set[bytes]) -> None:
        """Compare the folders of the changed mount points, and each root at or below one."""
        REMOTE.renew()
        for root in self._roots:
            for point in points:
                if is_below(point, root.path):
                    folder = relative(root.path, os.path.dirname(point))
                    self._backlog.mark((root.id, folder), _TREE_EVENT)
                elif is_within(root.path, point):
                    self._backlog.mark((root.id, b""), _TREE_EVENT)

    def events_lost(self) -> None:
        for root in self._roots:
            root.overflows += 1
            again = root.state == "recovering"
            if root.state == "online":
                root.state = "recovering"
            if again:
                rest = max(REPAIR_REST_S, REPAIR_REST_FACTOR * root.walk_s)
                self._backlog.mark((root.id, b""), Mark(tree=True, rest_s=rest))
            else:
                self._backlog.mark((root.id, b""), Mark(tree=True, now=True))
