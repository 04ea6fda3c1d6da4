"""Watches folders with inotify and reports each path that may have changed.

Invariant: a barrier is passed only after every event that the kernel queued before it has been reported. A loss of
events is always reported. The lock is never held during a call that a file system can delay.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import threading
from collections.abc import Callable, Collection

from watchdog.observers import inotify_c
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, Mask, WatchDescriptor

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.inotify_reader import InotifyReader
from livedex_daemon.watch.mount_events import MountEvents
from livedex_daemon.watch.watched_folders import WatchedFolders
from livedex_daemon.watch.watcher import Barrier, Sink
from livedex_indexing import relpath
from livedex_indexing.relpath import is_within
from livedex_ipc import thread_start

log = logging.getLogger(__name__)

COOKIES = 16  # file names for cookies; when half of them are in use, further barriers share the next one
_OPEN = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO in the place of a cookie would wait for a reader


# IN_MODIFY reports writes to files that stay open, IN_ATTRIB a chmod that denies or restores access.
FOLDER_MASK = Mask(
    InotifyConstants.IN_MODIFY
    | InotifyConstants.IN_ATTRIB
    | InotifyConstants.IN_CLOSE_WRITE
    | InotifyConstants.IN_CREATE
    | InotifyConstants.IN_DELETE
    | InotifyConstants.IN_MOVE
    | InotifyConstants.IN_DELETE_SELF
    | InotifyConstants.IN_MOVE_SELF
    | InotifyConstants.IN_ONLYDIR
    | InotifyConstants.IN_DONT_FOLLOW
)
# Outside the roots the close of an edited file is enough; a log there may be written a thousand times a second.
# IN_MASK_ADD: a folder that also belongs to a root keeps the events that the root needs.
OUTSIDE_MASK = Mask(FOLDER_MASK & ~InotifyConstants.IN_MODIFY | InotifyConstants.IN_MASK_ADD)
COOKIE_MASK = Mask(InotifyConstants.IN_CLOSE_WRITE | InotifyConstants.IN_CLOSE_NOWRITE | InotifyConstants.IN_ONLYDIR)
_SELF = InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF | InotifyConstants.IN_UNMOUNT
_READ_ONLY = InotifyConstants.IN_CLOSE_NOWRITE
_LEFT = InotifyConstants.IN_MOVED_FROM | InotifyConstants.IN_DELETE
_ARRIVED = InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO


class _Placing:
    """A watch that is being placed: the kernel may know it already, ``InotifyWatcher`` does not yet.

    ``ended``: descriptors that ended meanwhile. ``cancelled``: the folder was unwatched meanwhile.
    """

    __slots__ = ("cancelled", "ended", "key")

    def __init__(self, key: Key | None) -> None:
        self.key = key
        self.ended: set[int] = set()
        self.cancelled = False


class InotifyWatcher:
    """One inotify descriptor for all roots and for the cookies: the kernel orders events per descriptor.

    ``InotifyReader`` reads it. watchdog's high-level observer is not used: it drops overflows, swallows the watch
    limit, delays unpaired renames by 500 ms and watches ignored folders.
    """

    barrier_kind: Barrier = "exact"

    def __init__(self, sink: Sink, cookie_folder: str) -> None:
        """``cookie_folder`` is private to livedex; no file is ever created in the user's tree."""
        self._sink = sink
        self._cookie_folder = os.fsencode(cookie_folder)
        self._cookie_wd: WatchDescriptor | None = None
        self._cookie_fd: int | None = None  # the folder that is watched, though another one may be at its path now
        self._lock = threading.RLock()
        self._folders = WatchedFolders(self._let_go)
        self._placings: list[_Placing] = []
        self._names = itertools.cycle([b"%02d" % number for number in range(COOKIES)])
        self._cookies: dict[bytes, tuple[int, list[Callable[[], None]]]] = {}
        self._queued: list[Callable[[], None]] = []
        self._fd: InotifyReader | None = None
        self._id = inotify_c.CallbackId(id(self))
        self._mounts = MountEvents(sink.mounts_changed)

    def start(self) -> None:
        """Open the descriptor and start its reader thread.

        Raises OSError (EMFILE: no inotify instance is left; EAGAIN: no thread).
        """
        fd = InotifyReader()
        try:
            self._place_cookies(fd)
        except OSError:
            fd.release()
            self._close_cookies()
            raise
        try:
            thread_start.start(fd)
        except RuntimeError as error:
            fd.release()
            self._close_cookies()
            raise OSError(errno.EAGAIN, str(error)) from error
        self._fd = fd
        self._mounts.start()

    def stop(self) -> None:
        with self._lock:
            fd, self._fd = self._fd, None
            self._folders.clear()
            self._cookies.clear()
            self._queued.clear()
            self._close_cookies()
        self._mounts.stop()
        if fd is not None:
            fd.stop()

    def alive(self) -> bool:
        return self._fd is not None and self._fd.is_alive()

    def _place_cookies(self, fd: InotifyReader) -> None:
        os.makedirs(self._cookie_folder, mode=0o700, exist_ok=True)
        folder = os.open(self._cookie_folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._close_cookies()
        self._cookie_fd = folder
        for number in range(COOKIES):
            with contextlib.suppress(OSError):
                os.close(os.open(b"%02d" % number, os.O_CREAT | os.O_WRONLY | _OPEN, 0o600, dir_fd=folder))
        self._cookie_wd = fd.watch(self._cookie_folder, COOKIE_MASK, self, self._id)

    def _close_cookies(self) -> None:
        folder, self._cookie_fd = self._cookie_fd, None
        if folder is not None:
            os.close(folder)

    # -- placing watches: called by the worker, before it lists the folder

    def watch_folder(self, root_id: int, path: bytes, absolute: bytes) -> bool:
        """Watch one folder. Return False if no watch could be placed: the folder must then be polled."""
        key = (root_id, path)
        return self._place(absolute, FOLDER_MASK, key, lambda wd: self._folders.add(wd, key))

    def watch_outside(self, folder: bytes) -> bool:
        """Watch the direct entries of a folder that contains a rule file. Return False if no watch could be placed."""
        return self._place(folder, OUTSIDE_MASK, None, lambda wd: self._folders.add_outside(wd, folder))

    def unwatch_outside(self, folder: bytes) -> None:
        with self._lock:
            self._folders.remove_outside(folder)

    def _place(self, absolute: bytes, mask: Mask, key: Key | None, register: Callable[[WatchDescriptor], None]) -> bool:
        """Place a watch, then ``register`` it under the lock. Return False if a limit refuses it.

        The lock is free during the call: on a file system that hangs the call may last for ever, and barriers need the
        lock. Events that arrive before the registration are lost, which is harmless: the caller lists the folder after
        this, and sees what they reported.
        """
        placing = _Placing(key)
        with self._lock:
            self._placings.append(placing)
        try:
            while True:
                placing.ended.clear()
                fd = self._fd
                if fd is None:
                    return False
                try:
                    wd = fd.watch(absolute, mask, self, self._id)
                except OSError as error:
                    # Gone, or not listable: the parent folder's watch reports when that changes.
                    return error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES)
                with self._lock:
                    if wd not in placing.ended:  # a moved folder keeps its descriptor, which its old name may end
                        if not placing.cancelled:
                            register(wd)
                        self._folders.let_go_unused(wd)
                        return True
        finally:
            with self._lock:
                self._placings.remove(placing)

    def unwatch(self, root_id: int, path: bytes) -> None:
        """Remove the watches of a folder and of all folders below it. Events still queued for them are ignored."""
        with self._lock:
            for placing in self._placings:
                if placing.key is not None and placing.key[0] == root_id and is_within(placing.key[1], path):
                    placing.cancelled = True
            if not path or self._folders.watched_of(root_id, [path]):
                self.unwatch_all(root_id, frozenset((path,)))

    def watched_of(self, root_id: int, folders: Collection[bytes]) -> list[bytes]:
        """Return those of the folders that have a watch."""
        with self._lock:
            return self._folders.watched_of(root_id, folders)

    def unwatch_all(self, root_id: int, folders: frozenset[bytes]) -> None:
        """Remove the watches of a set of folders and of all folders below them."""
        with self._lock:
            self._folders.remove_below(root_id, folders)

    def _let_go(self, wd: WatchDescriptor) -> None:
        self._has_ended(wd)
        if self._fd is not None:
            with contextlib.suppress(OSError):
                self._fd.remove_callbacks([(wd, self._id)])

    def _has_ended(self, wd: WatchDescriptor) -> None:
        """Tell the watches that are being placed that the kernel no longer reports a descriptor, or soon will not."""
        for placing in self._placings:
            placing.ended.add(wd)

    def watched(self, root_id: int) -> int:
        """Return the number of folders of a root that have a watch."""
        with self._lock:
            return self._folders.count(root_id)

    # -- the barrier

    def caught_up(self) -> bool:
        """Return True if all earlier events have been reported, so that there is nothing to wait for.

        That is the usual case and takes microseconds; a cookie passes through two threads. It reports mounts, too.
        """
        self._mounts.check()
        with self._lock:
            return self._fd is not None and self.alive() and self._fd.caught_up()

    def barrier(self, on_passed: Callable[[], None]) -> bool:
        """Call ``on_passed`` once all earlier events have been reported. Return False if that cannot be set up."""
        with self._lock:
            if not self.alive():
                return False
            if len(self._cookies) >= COOKIES // 2:
                self._queued.append(on_passed)
                return True
            return self._touch([on_passed])

    def _touch(self, waiting: list[Callable[[], None]]) -> bool:
        name = next(self._names)
        while name in self._cookies:
            name = next(self._names)
        opened = self._open_cookie(name)
        if opened is None:
            return False
        handle, kind = opened
        self._cookies[name] = (kind, waiting)
        os.close(handle)
        return True

    def _open_cookie(self, name: bytes) -> tuple[int, int] | None:
        """Open a file whose close is the event. Return its descriptor and that event's mask; None on failure."""
        opened = self._open_in_place(name) if self._cookie_wd is not None else None
        if opened is None and self._fd is not None:  # the folder is gone: create it again and watch it
            with contextlib.suppress(OSError):
                self._place_cookies(self._fd)
                opened = self._open_in_place(name)
        return opened

    def _open_in_place(self, name: bytes) -> tuple[int, int] | None:
        # Open it for writing, so that another program that reads our folder (a backup) does not pass the barrier. On a
        # file system that became read-only, only a read-only open is possible.
        if self._cookie_fd is None:
            return None
        ways = ((os.O_WRONLY | os.O_CREAT, InotifyConstants.IN_CLOSE_WRITE), (os.O_RDONLY, _READ_ONLY))
        for flags, kind in ways:
            with contextlib.suppress(OSError):
                return os.open(name, flags | _OPEN, 0o600, dir_fd=self._cookie_fd), kind
        return None

    # -- called by watchdog's reader thread

    def on_event(self, event: InotifyEvent) -> None:
        try:
            self._handle(event)
        except Exception:
            log.exception("watcher_event_failed")
            self._sink.events_lost()  # the change is unknown, so all roots must be compared

    def _handle(self, event: InotifyEvent) -> None:
        mask, name = event.mask, event.name
        if event.wd == self._cookie_wd:
            self._cookie_seen(name, mask)
            return
        with self._lock:
            folder = self._folders.get(event.wd)
            names, outside = (folder.names, folder.outside) if folder is not None else ((), ())
        for absolute in outside:
            self._sink.outside_changed(relpath.absolute(absolute, name) if name else absolute)
        for root_id, path in names:
            if mask & _SELF or not name:
                self._folder_itself(root_id, path, mask)
            else:
                self._entry_changed(root_id, relpath.join(path, name), mask)

    def _entry_changed(self, root_id: int, child: bytes, mask: int) -> None:
        is_folder = bool(mask & InotifyConstants.IN_ISDIR)
        if is_folder and mask & _LEFT:
            if mask & InotifyConstants.IN_DELETE:
                with self._lock:
                    self._folders.deleted((root_id, child))
            self.unwatch(root_id, child)  # once moved, it would still report under this name
        tree = is_folder and bool(mask & (_ARRIVED | _LEFT))
        self._sink.path_changed(root_id, child, tree=tree)

    def _folder_itself(self, root_id: int, path: bytes, mask: int) -> None:
        if not path:
            if mask & (_SELF | InotifyConstants.IN_ATTRIB):
                self._sink.root_changed(root_id)
        elif mask & _SELF:
            self._sink.path_changed(root_id, path, tree=True)

    def _cookie_seen(self, name: bytes, mask: int) -> None:
        with self._lock:
            waiting = self._cookies.get(name)
            if waiting is None or not mask & waiting[0]:
                return
            del self._cookies[name]
            queued, self._queued = self._queued, []
            if queued and not self._touch(queued):
                self._queued = queued
        for on_passed in waiting[1]:
            on_passed()

    def on_watch_deleted(self, wd: WatchDescriptor) -> None:
        if wd == self._cookie_wd:
            self._cookie_wd = None
            return
        with self._lock:
            self._has_ended(wd)
            folder = self._folders.ended(wd)
        if folder is None:
            return
        for absolute in folder.outside:
            self._sink.outside_changed(absolute)
        for root_id, path in folder.names:
            if path:
                self._sink.path_changed(root_id, path, tree=True)
            else:
                self._sink.root_changed(root_id)

    def on_queue_overflow(self) -> None:
        log.warning("watcher_overflow")
        self._sink.events_lost()
        with self._lock:
            passed = [on_passed for _, waiting in self._cookies.values() for on_passed in waiting] + self._queued
            self._cookies.clear()
            self._queued.clear()
        for on_passed in passed:  # cookies may be lost too; the repair is already marked, so searches wait for that
            on_passed()
