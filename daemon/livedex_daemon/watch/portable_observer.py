"""Watches folders where there is no inotify (macOS): watchdog's public observers, one recursive watch per root.

Invariant: every event is reported. The order of events is not exact here, so a barrier is a best effort; the check of
the hits ensures that no stale text is served.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Collection

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

from livedex_daemon.watch.watcher import Barrier, Sink
from livedex_indexing.relpath import is_below, relative
from livedex_ipc import thread_start

log = logging.getLogger(__name__)

BARRIER_S = 0.25  # wait at most this long for a cookie


class ObserverWatcher:
    """Watches whole roots; folders below need no watch of their own."""

    barrier_kind: Barrier = "best_effort"

    def __init__(self, sink: Sink, cookie_folder: str, make: Callable[[], BaseObserver] = Observer) -> None:
        self._sink = sink
        self._cookie_folder = os.fsencode(os.path.realpath(cookie_folder))
        self._observer = make()
        self._lock = threading.Lock()
        self._roots: dict[int, tuple[bytes, ObservedWatch]] = {}
        self._outside: dict[bytes, ObservedWatch] = {}
        self._cookies: dict[bytes, Callable[[], None]] = {}
        self._number = 0

    def start(self) -> None:
        os.makedirs(self._cookie_folder, mode=0o700, exist_ok=True)
        self._observer.schedule(
            _Handler(self._cookie_seen, self._sink.events_lost), os.fsdecode(self._cookie_folder), recursive=False
        )
        self._observer.start()

    def stop(self) -> None:
        self._observer.stop()

    def alive(self) -> bool:
        """Return False if the observer's thread or one of its emitters has ended."""
        return self._observer.is_alive() and all(emitter.is_alive() for emitter in self._observer.emitters)

    def watch_folder(self, root_id: int, path: bytes, absolute: bytes) -> bool:
        """Watch the whole root when ``path`` is empty; for a folder below, return whether its root is watched."""
        if path:
            return root_id in self._roots
        with self._lock:
            known = self._roots.pop(root_id, None)
            if known is not None:
                with contextlib.suppress(KeyError):
                    self._observer.unschedule(known[1])
            handler = _Handler(lambda changed: self._root_event(root_id, absolute, changed), self._sink.events_lost)
            try:
                watch = self._observer.schedule(handler, os.fsdecode(absolute), recursive=True)
            except OSError:
                return False
            self._roots[root_id] = (absolute, watch)
            return True

    def watch_outside(self, folder: bytes) -> bool:
        with self._lock:
            if folder in self._outside:
                return True
            try:
                handler = _Handler(self._sink.outside_changed, self._sink.events_lost)
                self._outside[folder] = self._observer.schedule(handler, os.fsdecode(folder), recursive=False)
            except OSError:
                return False
            return True

    def unwatch_outside(self, folder: bytes) -> None:
        with self._lock:
            watch = self._outside.pop(folder, None)
            if watch is not None:
                with contextlib.suppress(KeyError):
                    self._observer.unschedule(watch)

    def watched_of(self, root_id: int, folders: Collection[bytes]) -> list[bytes]:
        """Return none of the folders: one watch serves the whole root."""
        return []

    def unwatch_all(self, root_id: int, folders: frozenset[bytes]) -> None:
        """Do nothing: one watch serves the whole root."""

    def unwatch(self, root_id: int, path: bytes) -> None:
        if path:
            return
        with self._lock:
            known = self._roots.pop(root_id, None)
            if known is not None:
                with contextlib.suppress(KeyError):
                    self._observer.unschedule(known[1])

    def caught_up(self) -> bool:
        """Always False: this cannot be known here."""
        return False

    def barrier(self, on_passed: Callable[[], None]) -> bool:
        """Call ``on_passed`` once the cookie's event arrives, or after ``BARRIER_S``. False if there is no cookie."""
        once = _Once(on_passed)
        with self._lock:
            self._number += 1
            name = b"%d" % self._number
            self._cookies[name] = once
        try:
            flags = os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO there would wait for a reader
            os.close(os.open(self._cookie_folder + b"/" + name, flags, 0o600))
            os.unlink(self._cookie_folder + b"/" + name)
        except OSError:
            return False
        timer = threading.Timer(BARRIER_S, self._cookie_seen, [self._cookie_folder + b"/" + name])
        timer.daemon = True
        thread_start.start(timer)
        return True

    def _cookie_seen(self, path: bytes) -> None:
        with self._lock:
            waiting = self._cookies.pop(os.path.basename(path), None)
        if waiting is not None:
            waiting()

    def _root_event(self, root_id: int, root: bytes, path: bytes) -> None:
        if path == root:
            self._sink.root_changed(root_id)
        elif is_below(path, root):
            # The system may merge events, so always compare the whole folder.
            self._sink.path_changed(
                root_id, relative(root, path), tree=os.path.isdir(path) or not os.path.lexists(path)
            )


class _Once:
    def __init__(self, action: Callable[[], None]) -> None:
        self._action = action
        self._lock = threading.Lock()
        self._called = False

    def __call__(self) -> None:
        with self._lock:
            if self._called:
                return
            self._called = True
        self._action()


class _Handler(FileSystemEventHandler):
    def __init__(self, on_path: Callable[[bytes], None], on_loss: Callable[[], None]) -> None:
        self._on_path = on_path
        self._on_loss = on_loss

    def on_any_event(self, event: FileSystemEvent) -> None:
        if event.event_type in ("opened", "closed_no_write"):
            return
        for path in (event.src_path, event.dest_path):
            if path:
                try:
                    self._on_path(os.fsencode(path))
                except Exception:  # it would end the thread that all other events need
                    log.exception("watcher_event_failed")
                    self._on_loss()
