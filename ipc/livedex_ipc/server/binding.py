"""Binds the daemon's socket in the file system, and removes it at the end.

Invariant: only a dead socket of our own is ever removed; any other file, folder or link at that path is left alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from livedex_ipc.errors import Conflict, Unavailable
from livedex_ipc.paths import check_length, make_missing, remedy_for

BACKLOG = 512  # connections waiting to be accepted
LOCK_S = 5.0  # how long to wait for another daemon that is binding in the same folder

Identity = tuple[int, int]  # device and inode of the socket's file


def bind(path: str) -> socket.socket:
    """Return a listening socket at ``path``, mode 0600; a missing folder is made 0700, whatever the umask.

    Raises InvalidParams when the path is too long, Conflict when a daemon already answers there or the path is not our
    own socket, Unavailable when the folder cannot be used.
    """
    check_length(path)
    folder = os.path.dirname(os.path.abspath(path))
    try:
        make_missing(folder)
        with _locked(folder):
            _clear(path)
            return _listen(path)
    except OSError as error:
        remedy = remedy_for(error, "make its folder writable, or set LIVEDEX_SOCKET to another path")
        raise Unavailable(f"no socket at {path}: {error.strerror}; {remedy}", {"path": path}) from error


def identity(path: str) -> Identity | None:
    """Return the identity of the socket at ``path``, to notice its removal or replacement; None if there is none."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISSOCK(info.st_mode) else None


def unbind(path: str, bound: Identity) -> None:
    """Remove the socket's file if it is still the one that was bound. Never call it for an inherited socket.

    A file that cannot be removed stays: the next daemon finds that nothing answers there, and replaces it.
    """
    if identity(path) == bound:
        with suppress(OSError):
            os.unlink(path)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Lock the folder, so that two daemons cannot probe and remove each other's socket at the same time."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # In a folder of another user (/tmp) anyone could keep the lock forever.
        if os.fstat(descriptor).st_uid == os.geteuid():
            deadline = time.monotonic() + LOCK_S
            while not _try_lock(descriptor):
                if time.monotonic() > deadline:
                    raise Unavailable(f"another process holds the lock on {folder}", {"path": folder})
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clear(path: str) -> None:
    """Remove our own dead socket from ``path``. Raises Conflict for anything else at that path."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(info.st_mode):
        raise Conflict(f"{path} is not a socket: move it away or set LIVEDEX_SOCKET", {"path": path})
    if info.st_uid != os.geteuid():
        raise Conflict(f"{path} belongs to uid {info.st_uid}: set LIVEDEX_SOCKET to another path", {"path": path})
    if _answers(path):
        raise Conflict(f"a daemon answers on {path} already", {"path": path})
    os.unlink(path)


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except OSError as error:
            # EAGAIN: its queue is full, so a process listens.
            return error.errno not in (errno.ECONNREFUSED, errno.ENOENT)
        return True


def _listen(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(path)
        os.chmod(path, 0o600)  # before listen(): until then no one can connect, whatever mode the umask left
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock
