"""Reads inotify events on a thread: every private name of watchdog that livedex uses is in this module.

Invariant: ``caught_up`` is true only when every event that was queued before the call has been passed on. A new
release of watchdog can break this module only; ``tests/daemon/watch/test_inotify_reader.py`` detects that.
"""

from __future__ import annotations

import errno
import logging
import os
import select

from watchdog.observers import inotify_c
from watchdog.observers.inotify_c import CallbackId, InotifyFD, Mask, WatchCallback, WatchDescriptor

log = logging.getLogger(__name__)


class InotifyReader(InotifyFD):
    """watchdog's reader thread, which can also report that it has caught up with the kernel's queue."""

    def __init__(self) -> None:
        """Open the inotify descriptor. Raises OSError (EMFILE: no inotify instance is left)."""
        super().__init__()
        self.daemon = True
        os.set_inheritable(self._inotify_fd, False)  # watchdog lets child processes inherit it
        self._idle = False  # waiting for events, after all earlier events were passed on
        self._queue = select.poll()
        self._queue.register(self._inotify_fd, select.POLLIN)

    def _check_inotify_fd(self) -> bool:
        """watchdog waits for events here, between passing on one read and starting the next."""
        self._idle = True
        try:
            return super()._check_inotify_fd()
        finally:
            self._idle = False

    def run(self) -> None:
        """Read events until the descriptor is closed. After a failure the daemon replaces this thread."""
        try:
            super().run()
        except BaseException:
            log.exception("watcher_failed")

    def caught_up(self) -> bool:
        """Return True if every event that was queued before the call has been passed on. False if unsure.

        The queue is checked first: an event leaves it while ``_idle`` is unset, and ``_idle`` is set again only after
        the event was passed on.
        """
        return not self._queue.poll(0) and self._idle

    def watch(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
        """Watch ``path``, or change the mask of its watch. Raises OSError (ENOSPC: the watch limit is reached).

        The kernel gives a moved folder its old descriptor, so a callback may be added to a watch again. watchdog's
        ``add_callback`` warns each time, with the repr of the watch, and says nothing of EACCES.
        """
        wd = inotify_c.inotify_add_watch(self._inotify_fd, path, mask)
        if wd == -1:
            self._raise_error()
            # A folder that may be read must be polled; one that may not raises an event once that changes.
            code = errno.EPERM if os.access(path, os.R_OK | os.X_OK) else errno.EACCES
            raise PermissionError(code, os.strerror(code), path)
        with self._lock:
            watch = self._watch_for_wd.get(wd)
            if watch is None:
                watch = self._watch_for_wd[wd] = inotify_c.Watch(wd, mask, path)
            watch.callbacks[id_] = callback
        return wd

    def release(self) -> None:
        """Close the descriptors of a reader that was never started; ``close`` leaves that to the thread."""
        self._close_resources()
