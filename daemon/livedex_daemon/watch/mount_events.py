"""Reports where a filesystem was mounted or unmounted: what a mount hides or shows raises no other event.

Invariant: after ``check`` returns, every mount whose system call had returned before the call has been reported. Only
Linux tells; elsewhere, and without /proc, the check of the roots every few seconds finds a root that was mounted over.
"""

from __future__ import annotations

import logging
import os
import select
import threading
from collections.abc import Callable

from livedex_indexing.disk.mounts import MOUNTINFO, Mount, mount_table

log = logging.getLogger(__name__)

RETRY_S = 1.0
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

    def start(self) -> None:
        """Read the table of mounts, and follow it from now on if there is one."""
        try:
            with self._lock:
                self._table = os.open(MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
                self._changed.register(self._table, CHANGED)
                self._changed.poll(0)
                self._mounts = mount_table(self._read())
            own = os.open(MOUNTINFO, os.O_RDONLY | os.O_CLOEXEC)
            self._wake_end, self._stop_end = os.pipe()
        except OSError as error:
            log.warning("mounts_not_followed", extra={"error": error.strerror})
            return
        self._thread = threading.Thread(target=self._follow, args=(own,), name="mounts", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            os.close(self._stop_end)
            thread.join()
            os.close(self._wake_end)
        with self._lock:
            if self._table is not None:
                os.close(self._table)
                self._table = None

    def check(self) -> None:
        """Report the changes so far. Takes a microsecond when there are none."""
        with self._lock:
            if self._table is None:
                return
            try:
                self._is_unread = bool(self._changed.poll(0)) or self._is_unread
                if self._is_unread:
                    self._compare()
                    self._is_unread = False
            except OSError:
                log.exception("mounts_unreadable")

    def _compare(self) -> None:
        mounts = mount_table(self._read())
        points = {mount.point for mount in mounts ^ self._mounts}
        if points:
            self._report(points)
        self._mounts = mounts

    def _read(self) -> bytes:
        assert self._table is not None
        os.lseek(self._table, 0, os.SEEK_SET)
        pieces = []
        while piece := os.read(self._table, 1 << 16):
            pieces.append(piece)
        return b"".join(pieces)

    def _follow(self, own: int) -> None:
        """Check whenever the table changes, until the other end of the pipe is closed."""
        waiting = select.poll()
        waiting.register(own, CHANGED)
        waiting.register(self._wake_end, select.POLLIN | select.POLLHUP)
        failed = False
        try:
            while True:
                try:
                    if any(fd == self._wake_end for fd, _ in waiting.poll(0 if failed else None)):
                        return
                    self.check()
                    failed = False
                except Exception:
                    log.exception("mounts_thread_failed")
                    failed = True
                    if select.select([self._wake_end], [], [], RETRY_S)[0]:
                        return
        finally:
            os.close(own)
