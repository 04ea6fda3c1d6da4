"""Reports where a filesystem was mounted or unmounted: what a mount hides or shows raises no other event.

Invariant: after ``check`` returns, every mount whose system call had returned before the call has been reported. Only
Linux tells; elsewhere, and without /proc, the check of the roots every few seconds finds a root that was mounted over.
"""

from __future__ import annotations

import errno
import logging
import os
import select
import threading
import time
from collections.abc import Callable

from livedex_indexing.disk.mounts import MOUNTINFO, Mount, mount_table
from livedex_ipc import thread_start

log = logging.getLogger(__name__)

RETRY_S = 1.0
_NO_TABLE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM)  # and there will be none
CHANGED = select.POLLPRI | select.POLLERR  # what poll() says of the table once for each time it changed


class MountEvents:
    """Calls ``report`` with the changed mount points, on its own thread or on that of ``check``.

    ``check`` has a descriptor of its own: the kernel tells each descriptor of a change once.
    """

    def __init__(self, report: Callable[[set[bytes]], None]) -> None:
        self._report = report
        self._lock = threading.Lock()
        self._table: int | None = None
        self._changed = select.poll()
        self._mounts: frozenset[Mount] = frozenset()
        self._is_unread = False  # a change was seen and could not be read yet
        self._stop_end, self._wake_end = -1, -1
        self._thread: threading.Thread | None = None
        self._try_again_at: float | None = None

    def start(self) -> None:
        """Read the table of mounts, and follow it from now on; if that fails for a moment, ``check`` tries again."""
        with self._lock:
            mounts = self._begin()
            if mounts is not None:
                self._mounts = mounts

    def _begin(self) -> frozenset[Mount] | None:
        """Open the table and start the thread; return the mounts, None if there is no table, or none for now."""
        self._try_again_at = None
        opened: list[int] = []
        try:
            table = os.open(MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
            opened.append(table)
            own = os.open(MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
            opened.append(own)
            changed = select.poll()
            changed.register(table, CHANGED)
            changed.poll(0)
            mounts = mount_table(_read(table))
            wake_end, stop_end = os.pipe()
            opened += (wake_end, stop_end)
            thread = threading.Thread(target=self._follow, args=(own, wake_end), name="mounts", daemon=True)
            thread_start.start(thread)
        except (OSError, RuntimeError) as error:  # RuntimeError: no further thread
            for descriptor in opened:
                os.close(descriptor)
            log.warning("mounts_not_followed", extra={"error": str(error)})
            if getattr(error, "errno", None) not in _NO_TABLE:
                self._try_again_at = time.monotonic() + RETRY_S
            return None
        self._table, self._changed, self._thread = table, changed, thread
        self._wake_end, self._stop_end = wake_end, stop_end
        return mounts

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            os.close(self._stop_end)
            thread.join()
            os.close(self._wake_end)
        with self._lock:
            self._try_again_at = None
            if self._table is not None:
                os.close(self._table)
                self._table = None

    def check(self) -> None:
        """Report the changes so far. Takes a microsecond when there are none."""
        with self._lock:
            if self._table is None:
                self._begin_again()
                return
            try:
                self._is_unread = bool(self._changed.poll(0)) or self._is_unread
                if self._is_unread:
                    self._compare()
                    self._is_unread = False
            except OSError:
                log.exception("mounts_unreadable")

    def _begin_again(self) -> None:
        """Try again what ``start`` could not do. What was mounted meanwhile is not known: report every mount."""
        if self._try_again_at is None or time.monotonic() < self._try_again_at:
            return
        mounts = self._begin()
        if mounts is not None:
            self._report({mount.point for mount in mounts})
            self._mounts = mounts

    def _compare(self) -> None:
        assert self._table is not None
        mounts = mount_table(_read(self._table))
        points = {mount.point for mount in mounts ^ self._mounts}
        if points:
            self._report(points)
        self._mounts = mounts

    def _follow(self, own: int, wake_end: int) -> None:
        """Check whenever the table changes, until the other end of the pipe is closed."""
        waiting = select.poll()
        waiting.register(own, CHANGED)
        waiting.register(wake_end, select.POLLIN | select.POLLHUP)
        failed = False
        try:
            while True:
                try:
                    if any(fd == wake_end for fd, _ in waiting.poll(0 if failed else None)):
                        return
                    self.check()
                    failed = False
                except Exception:
                    log.exception("mounts_thread_failed")
                    failed = True
                    if select.select([wake_end], [], [], RETRY_S)[0]:
                        return
        finally:
            os.close(own)


def _read(table: int) -> bytes:
    os.lseek(table, 0, os.SEEK_SET)
    pieces = []
    while piece := os.read(table, 1 << 16):
        pieces.append(piece)
    return b"".join(pieces)
