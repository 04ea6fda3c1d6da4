"""Takes the daemon's place on the file system: binds its socket, and gives it back.

Invariant: nothing is removed but a socket of ours that nobody answers on; a file, folder or link in its place stays.
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
from livedex_ipc.paths import check_length, make_private

BACKLOG = 512  # connections that wait to be accepted
LOCK_S = 5.0  # for another daemon that is binding in the same folder

Identity = tuple[int, int]  # device and inode of the socket's file


def bind(path: str) -> socket.socket:
    """A listening socket at ``path``, 0600 in a folder that is made 0700 where it was missing, whatever the umask.

    Raises InvalidParams when the path is too long, Conflict when a daemon answers there already or something that is
    no socket of ours stands there, Unavailable when the folder cannot be used.
    """
    check_length(path)
    folder = os.path.dirname(os.path.abspath(path))
    try:
        make_private(folder)
        with _locked(folder):
            _clear(path)
            return _listen(path)
    except OSError as error:
        raise Unavailable(f"no socket at {path}: {error.strerror}", {"path": path}) from error


def identity(path: str) -> Identity | None:
    """Which socket stands at ``path`` now, to notice that it was removed or replaced; None where there is none."""
    try:
        info = os.lstat(path)
    except OSError:
        return None
    return (info.st_dev, info.st_ino) if stat.S_ISSOCK(info.st_mode) else None


def unbind(path: str, bound: Identity) -> None:
    """Removes the socket's file if it still is the one that was bound. One that was inherited is never given here.

    One that may not be removed stays: the next daemon finds that nobody answers on it, and takes its place.
    """
    if identity(path) == bound:
        with suppress(FileNotFoundError, PermissionError):
            os.unlink(path)


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Keeps two daemons from probing and removing each other's socket at the same time."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # In a folder of others (/tmp) anybody could hold the lock for ever.
        if os.fstat(held).st_uid == os.geteuid():
            deadline = time.monotonic() + LOCK_S
            while not _try_lock(held):
                if time.monotonic() > deadline:
                    raise Unavailable(f"another process holds the lock on {folder}", {"path": folder})
                time.sleep(0.01)
        yield
    finally:
        os.close(held)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clear(path: str) -> None:
    """Removes a dead socket of ours. Raises Conflict for anything else that stands there."""
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(info.st_mode):
        raise Conflict(f"{path} is no socket: move it away or set LIVEDEX_SOCKET", {"path": path})
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
            # EAGAIN: its queue is full, so somebody listens.
            return error.errno not in (errno.ECONNREFUSED, errno.ENOENT)
        return True


def _listen(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        sock.bind(path)
        os.chmod(path, 0o600)  # before listen(): until then nobody can connect, whatever the umask made of it
        sock.listen(BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock
