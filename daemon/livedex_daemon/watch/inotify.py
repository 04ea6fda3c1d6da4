"""Hears from the kernel that something below the roots may have changed, and passes on which path.

Invariant: a call of ``barrier`` is answered only after every event that the kernel queued before it was passed on,
and a loss of events is always reported, never swallowed.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import select
import threading
from collections.abc import Callable
from typing import Literal, Protocol

from watchdog.observers import inotify_c
from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD, Mask, WatchDescriptor

from livedex_indexing import relpath

log = logging.getLogger(__name__)

Barrier = Literal["exact", "best_effort"]
COOKIES = 16  # cookies under way at once; further barriers share the next one


class Sink(Protocol):
    """Who is told. Called from the watcher's own thread, in the kernel's order; it must be quick and never raise."""

    def path_changed(self, root_id: int, path: bytes, *, tree: bool) -> None: ...

    def root_changed(self, root_id: int) -> None: ...

    def outside_changed(self, path: bytes) -> None: ...

    def events_lost(self) -> None: ...


class Watcher(Protocol):
    """What the daemon asks of a source of events, whatever the platform."""

    barrier_kind: Barrier

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def alive(self) -> bool: ...

    def watch_folder(self, root_id: int, path: bytes, absolute: bytes) -> bool: ...

    def watch_outside(self, folder: bytes) -> bool: ...

    def unwatch(self, root_id: int, path: bytes) -> None: ...

    def caught_up(self) -> bool: ...

    def barrier(self, on_passed: Callable[[], None]) -> bool: ...


# Without IN_MODIFY writes to open files are lost, without IN_ATTRIB a chmod that denies or restores.
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
# Outside the roots what is edited is closed some time, and a log may be written there a thousand times a second.
# A folder that is a root's as well keeps what that one needs.
OUTSIDE_MASK = Mask(FOLDER_MASK & ~InotifyConstants.IN_MODIFY | InotifyConstants.IN_MASK_ADD)
COOKIE_MASK = Mask(InotifyConstants.IN_CLOSE_WRITE | InotifyConstants.IN_CLOSE_NOWRITE | InotifyConstants.IN_ONLYDIR)
_SELF = InotifyConstants.IN_DELETE_SELF | InotifyConstants.IN_MOVE_SELF | InotifyConstants.IN_UNMOUNT
_READ_ONLY = InotifyConstants.IN_CLOSE_NOWRITE
_LEFT = InotifyConstants.IN_MOVED_FROM | InotifyConstants.IN_DELETE
_ARRIVED = InotifyConstants.IN_CREATE | InotifyConstants.IN_MOVED_TO


class _Folder:
    """What one watch descriptor stands for: a folder of a root, a folder outside the roots, or both."""

    __slots__ = ("absolute", "outside", "path", "root_id", "wd")

    def __init__(self, wd: WatchDescriptor, absolute: bytes) -> None:
        self.wd = wd
        self.absolute = absolute
        self.root_id: int | None = None
        self.path = b""
        self.outside = False


class _Reading(InotifyFD):
    """watchdog's reading thread, of which others can tell whether it has passed on all that the kernel queued."""

    def __init__(self) -> None:
        super().__init__()
        self._idle = False  # it waits for events, and has passed on all that it read before
        self._queue = select.poll()
        self._queue.register(self._inotify_fd, select.POLLIN)

    def _check_inotify_fd(self) -> bool:
        """watchdog's wait for events: between what it read last and what it reads next."""
        self._idle = True
        try:
            return super()._check_inotify_fd()
        finally:
            self._idle = False

    def caught_up(self) -> bool:
        """Whether every event that was queued before the call was passed on. False where it is not, or just not yet.

        What is no longer queued was read with ``_idle`` unset, which is set again once it was passed on: so the queue
        comes first.
        """
        return not self._queue.poll(0) and self._idle


class InotifyWatcher:
    """One inotify descriptor for all roots and for the cookies: the kernel keeps one order for each descriptor.

    watchdog's ``InotifyFD`` reads it; the high-level observer is not used because it drops overflows, swallows the
    watch limit, holds unpaired renames back for 500 ms and watches ignored folders.
    """

    barrier_kind: Barrier = "exact"

    def __init__(self, sink: Sink, cookie_folder: str) -> None:
        """``cookie_folder``: a private folder of ours; no file is ever put into the user's tree."""
        self._sink = sink
        self._cookie_folder = os.fsencode(cookie_folder)
        self._cookie_wd: WatchDescriptor | None = None
        self._lock = threading.RLock()
        self._by_wd: dict[int, _Folder] = {}
        self._by_key: dict[tuple[int, bytes], _Folder] = {}
        self._outside: dict[bytes, _Folder] = {}
        self._names = itertools.cycle([b"%02d" % number for number in range(COOKIES)])
        self._cookies: dict[bytes, tuple[int, list[Callable[[], None]]]] = {}
        self._queued: list[Callable[[], None]] = []
        self._fd: _Reading | None = None
        self._id = inotify_c.CallbackId(id(self))

    def start(self) -> None:
        """Opens the descriptor and its reader thread. Raises OSError (EMFILE: no inotify instance is left)."""
        fd = _Reading()
        os.set_inheritable(fd._inotify_fd, False)  # watchdog leaves it open for whatever is started
        fd.daemon = True
        try:
            self._place_cookies(fd)
        except OSError:
            fd._close_resources()  # its own close() leaves them to the thread, which was not started
            raise
        self._fd = fd
        fd.start()

    def stop(self) -> None:
        with self._lock:
            fd, self._fd = self._fd, None
            self._by_wd.clear()
            self._by_key.clear()
            self._outside.clear()
            self._cookies.clear()
            self._queued.clear()
        if fd is not None:
            fd.stop()

    def alive(self) -> bool:
        return self._fd is not None and self._fd.is_alive()

    def _place_cookies(self, fd: InotifyFD) -> None:
        os.makedirs(self._cookie_folder, mode=0o700, exist_ok=True)
        for number in range(COOKIES):
            with contextlib.suppress(OSError):
                os.close(
                    os.open(self._cookie_folder + b"/%02d" % number, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
                )
        self._cookie_wd = fd.add_callback(self._cookie_folder, COOKIE_MASK, self, self._id)

    # -- placing watches: called by the worker, before it lists the folder

    def watch_folder(self, root_id: int, path: bytes, absolute: bytes) -> bool:
        """Watches one folder. False when no watch could be placed: the folder must be polled instead."""
        key = (root_id, path)
        with self._lock:
            try:
                folder = self._add(absolute, FOLDER_MASK)
            except FileNotFoundError:
                return True  # gone again, or not to be listed either: the folder above tells when that changes
            if folder is None:
                return False
            known = self._by_key.get(key)
            if known is not None and known is not folder:
                self._let_go(known)
            if folder.root_id is not None and (folder.root_id, folder.path) != key:
                self._by_key.pop((folder.root_id, folder.path), None)  # the folder was moved here
            folder.root_id, folder.path, folder.absolute = root_id, path, absolute
            self._by_key[key] = folder
            return True

    def watch_outside(self, folder: bytes) -> bool:
        """Watches a folder for its direct entries only, because a file in it decides what is indexed."""
        with self._lock:
            try:
                placed = self._add(folder, OUTSIDE_MASK)
            except FileNotFoundError:
                return True
            if placed is None:
                return False
            placed.outside = True
            self._outside[folder] = placed
            return True

    def _add(self, absolute: bytes, mask: Mask) -> _Folder | None:
        """None when a limit refuses the watch. Raises FileNotFoundError when no folder is there that may be listed."""
        if self._fd is None:
            return None
        try:
            wd = self._add_quietly(self._fd, absolute, mask)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES):
                raise FileNotFoundError(absolute) from error
            return None
        if wd == -1:  # watchdog stays silent on EACCES
            raise FileNotFoundError(absolute)
        folder = self._by_wd.get(wd)
        if folder is None:
            folder = self._by_wd[wd] = _Folder(wd, absolute)
        return folder

    def _add_quietly(self, fd: InotifyFD, absolute: bytes, mask: Mask) -> WatchDescriptor:
        # Adding our callback to a watch again is right (the kernel gives a moved folder its old descriptor), but
        # watchdog
        # warns with the repr of the watch each time; taking the callback out first keeps it quiet.
        wd = inotify_c.inotify_add_watch(fd._inotify_fd, absolute, mask)
        if wd == -1:
            InotifyFD._raise_error()
            return wd
        with fd._lock:
            watch = fd._watch_for_wd.get(wd)
            if watch is None:
                watch = fd._watch_for_wd[wd] = inotify_c.Watch(wd, mask, absolute)
            watch.callbacks[self._id] = self
        return wd

    def unwatch(self, root_id: int, path: bytes) -> None:
        """Takes the watches of a folder and of all below it away; events that are still queued for them are hints at
        most.
        """
        prefix = path + b"/" if path else b""
        with self._lock:
            if path and (root_id, path) not in self._by_key:
                return
            gone = [k for k in self._by_key if k[0] == root_id and (k[1] == path or k[1].startswith(prefix))]
            for key in gone:
                self._let_go(self._by_key.pop(key))

    def _let_go(self, folder: _Folder) -> None:
        folder.root_id = None
        if folder.outside:
            return
        self._by_wd.pop(folder.wd, None)
        if self._fd is not None:
            with contextlib.suppress(OSError):
                self._fd.remove_callbacks([(folder.wd, self._id)])

    def watched(self, root_id: int) -> int:
        """How many folders of a root have a watch."""
        with self._lock:
            return sum(1 for root, _ in self._by_key if root == root_id)

    # -- the barrier

    def caught_up(self) -> bool:
        """Whether all earlier events were passed on already, so that nothing needs to be waited for: what mostly is so,
        and takes microseconds to see, where a cookie goes through two other threads."""
        with self._lock:
            return self._fd is not None and self.alive() and self._fd.caught_up()

    def barrier(self, on_passed: Callable[[], None]) -> bool:
        """Calls ``on_passed`` once all earlier events were passed on. False when it cannot be set up."""
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
        """A descriptor whose closing is the event, and the kind of that event. None when none can be had."""
        opened = self._open_in_place(name) if self._cookie_wd is not None else None
        if opened is None and self._fd is not None:  # the folder is gone: it is made anew, and watched
            with contextlib.suppress(OSError):
                self._place_cookies(self._fd)
                opened = self._open_in_place(name)
        return opened

    def _open_in_place(self, name: bytes) -> tuple[int, int] | None:
        # Opened for writing, so that a reader of our folder (a backup) cannot answer for us; on a store that became
        # read-only a plain open has to do.
        path = self._cookie_folder + b"/" + name
        ways = ((os.O_WRONLY | os.O_CREAT, InotifyConstants.IN_CLOSE_WRITE), (os.O_RDONLY, _READ_ONLY))
        for flags, kind in ways:
            with contextlib.suppress(OSError):
                return os.open(path, flags | os.O_CLOEXEC, 0o600), kind
        return None

    # -- called by watchdog's reader thread

    def on_event(self, event: InotifyEvent) -> None:
        try:
            self._handle(event)
        except Exception:
            log.exception("watcher_event_failed")
            self._sink.events_lost()  # whatever it was about must be looked for

    def _handle(self, event: InotifyEvent) -> None:
        mask, name = event.mask, event.name
        if event.wd == self._cookie_wd:
            self._cookie_seen(name, mask)
            return
        with self._lock:
            folder = self._by_wd.get(event.wd)
            if folder is None:
                return
            root_id, path, outside = folder.root_id, folder.path, folder.outside
            absolute = folder.absolute
        if outside and name:
            self._sink.outside_changed(absolute + b"/" + name)
        elif outside:
            self._sink.outside_changed(absolute)
        if root_id is None:
            return
        if mask & _SELF or not name:
            self._folder_itself(root_id, path, mask)
            return
        child = relpath.join(path, name)
        is_folder = bool(mask & InotifyConstants.IN_ISDIR)
        if is_folder and mask & _LEFT:
            self.unwatch(root_id, child)  # moved elsewhere it would go on reporting under this name
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
            folder = self._by_wd.pop(wd, None)
            if folder is None:
                return
            root_id, path = folder.root_id, folder.path
            if root_id is not None and self._by_key.get((root_id, path)) is folder:
                del self._by_key[root_id, path]
            if folder.outside:
                self._outside.pop(folder.absolute, None)
        if folder.outside:
            self._sink.outside_changed(folder.absolute)
        if root_id is not None and not path:
            self._sink.root_changed(root_id)
        elif root_id is not None:
            self._sink.path_changed(root_id, path, tree=True)

    def on_queue_overflow(self) -> None:
        log.warning("watcher_overflow")
        self._sink.events_lost()
        with self._lock:
            passed = [on_passed for _, waiting in self._cookies.values() for on_passed in waiting] + self._queued
            self._cookies.clear()
            self._queued.clear()
        for (
            on_passed
        ) in passed:  # their cookies may be among what was lost; the repair is marked, so waiting goes on there
            on_passed()
