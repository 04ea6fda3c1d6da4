"""The lock of the daemon's home, for the life of the daemon.

Invariant: one daemon runs for a home. A folder is locked besides the file, so that no second daemon starts when the
file is removed; a file or a folder that was removed is locked again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import stat
import threading
import time
from collections.abc import Callable

from livedex_daemon.process.tick import tick
from livedex_ipc.errors import Unavailable
from livedex_ipc.paths import make_missing, remedy_for

log = logging.getLogger(__name__)


class HomeLock:
    def __init__(self, path: str, folder: str) -> None:
        """Lock the file ``path``, which tells others the process id, and ``folder``, which must exist.

        Raise Unavailable with the pid of the daemon that has the lock, or if there can be no lock.
        """
        self._path, self._folder = path, folder
        self._locked: dict[str, int] = {}  # by path: the descriptor
        self._one_at_a_time = threading.Lock()
        try:
            self._lock_folder()
            self._lock_file()
        except BlockingIOError as error:
            self.release()
            raise _refused(path) from error
        except OSError as error:
            self.release()
            raise _no_lock(error.filename or path, error) from error

    async def keep(self, give_way: Callable[[], None]) -> None:
        """Lock at every tick what is new at the two paths, until cancelled.

        Call ``give_way`` once another daemon has the home, as after the data folder was removed.
        """
        while True:
            await tick()
            try:
                self.renew()
            except BlockingIOError:
                log.error("home_taken", extra={"path": self._folder})
                give_way()
                return
            except OSError:  # it is tried again
                continue

    def release(self) -> None:
        while self._locked:
            with contextlib.suppress(OSError):
                os.close(self._locked.popitem()[1])

    def renew(self) -> None:
        """Lock what is new at the two paths; a folder that is gone is made again. Call it from any thread.

        Raise BlockingIOError if another daemon has the folder; OSError if nothing can be locked now.
        """
        with self._one_at_a_time:
            if not self._is_ours(self._folder):
                make_missing(self._folder)
                self._lock_folder()
            if not self._is_ours(self._path):
                with contextlib.suppress(BlockingIOError):  # by a command, for a moment: it looks for the daemon's pid
                    self._lock_file()

    def _is_ours(self, path: str) -> bool:
        try:
            there = os.lstat(path)
        except FileNotFoundError:
            return False
        return path in self._locked and os.path.samestat(there, os.fstat(self._locked[path]))

    def _lock_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # NFS locks no folder: the file's lock must do
            pass
        self._put(self._folder, descriptor)

    def _lock_file(self) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.ENXIO, "Not a regular file")
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise
        self._put(self._path, descriptor)
        with contextlib.suppress(OSError):  # on a full disk the pid is not known; the lock holds
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)

    def _put(self, path: str, descriptor: int) -> None:
        former = self._locked.pop(path, None)
        self._locked[path] = descriptor
        if former is not None:
            os.close(former)


def _refused(path: str) -> Unavailable:
    pid = _read_pid(path)
    return Unavailable(
        f"a livedex daemon runs for this home already, as process {pid}; `livedex down` stops it",
        {"pid": int(pid) if pid.isdigit() else None},
    )


def _read_pid(path: str) -> str:
    # The other daemon writes its pid right after it takes the lock, and again at its next tick if the file is gone.
    for _ in range(50):
        with contextlib.suppress(OSError), open(path, "rb", opener=_without_waiting) as file:
            text = file.read(32).decode("ascii", "replace").strip()
            if text:
                return text
        time.sleep(0.01)
    return "unknown"


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)  # a FIFO would wait for somebody who writes to it


def _no_lock(path: str, error: OSError) -> Unavailable:
    displaced = error.errno in (errno.EISDIR, errno.ELOOP, errno.ENXIO)
    usual = "move it away" if displaced else "make its folder writable, or set LIVEDEX_HOME to another one"
    return Unavailable(f"{path} cannot be locked: {error.strerror}; {remedy_for(error, usual)}", {"path": path})
