"""Lets a copy of the daemon's process, as a plugin makes with ``os.fork``, have nothing that is the daemon's alone.

Invariant: a copy that outlives the daemon neither locks its home nor listens at its socket, and no client waits for an
answer of it. The programs that the daemon starts need nothing of this: every descriptor is closed on exec.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress


def release_in_copies(release_lock: Callable[[], None], socket_path: str) -> None:
    """In each copy that is made from now on, release the lock, and close the sockets at ``socket_path``."""
    os.register_at_fork(after_in_child=lambda: _release(release_lock, socket_path))


def _release(release_lock: Callable[[], None], socket_path: str) -> None:
    release_lock()
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):  # the descriptor of the listing itself
            _close_if_at(int(name), socket_path)


def _close_if_at(descriptor: int, socket_path: str) -> None:
    """Close a socket that listens at the path, or that a client reached there."""
    if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
        return
    found = socket.socket(fileno=descriptor)
    try:
        is_there = found.family == socket.AF_UNIX and found.getsockname() == socket_path
    finally:
        found.detach()
    if is_there:
        os.close(descriptor)
