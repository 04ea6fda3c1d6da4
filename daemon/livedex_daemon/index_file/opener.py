"""Opens the index at start; one that is damaged or of a newer livedex is put aside and built anew.

Invariant: only the derived index is ever put aside. One of a newer livedex keeps its bytes for that livedex; one that
is damaged or older is removed when the new one is whole, since it holds words of files that may be forgotten by now.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import time

from livedex_indexing.store.database import IndexDamaged, IndexNewer
from livedex_indexing.store.index_store import OnChange, Store, ignore_change
from livedex_ipc.errors import Unavailable

log = logging.getLogger(__name__)

_SUFFIXES = ("", "-wal", "-shm")


def open_store(path: str, on_change: OnChange = ignore_change) -> tuple[Store, bool]:
    """The store at ``path``, and whether it had to be begun anew. Raises Unavailable when its disk cannot be used."""
    try:
        return Store.open(path, on_change=on_change), False
    except (IndexDamaged, IndexNewer) as error:
        log.warning("index_put_aside", extra={"cause": type(error).__name__})
        put_aside(path, keep=isinstance(error, IndexNewer))
        return Store.open(path, on_change=on_change), True


def put_aside(path: str, *, keep: bool = False) -> str:
    """Renames the index with what belongs to it; returns the new name. ``keep``: `remove_damaged` leaves it."""
    aside = f"{path}.aside" if keep else _damaged(path)
    for suffix in _SUFFIXES:
        with contextlib.suppress(FileNotFoundError):
            os.replace(path + suffix, aside + suffix)
    return aside


def remove_damaged(path: str) -> None:
    """Removes what was put aside of the index at ``path``, once a new one holds all that it held."""
    for suffix in _SUFFIXES:
        with contextlib.suppress(OSError):
            os.unlink(_damaged(path) + suffix)


def _damaged(path: str) -> str:
    return f"{path}.damaged"


class HomeLock:
    """Held for the life of the daemon: one daemon a home."""

    def __init__(self, path: str) -> None:
        """Raises Unavailable naming the pid of the daemon that holds it."""
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pid = self._read_pid()
            os.close(self._handle)
            raise Unavailable(
                f"a livedex daemon runs for this home already, as process {pid}; `livedex down` stops it",
                {"pid": int(pid) if pid.isdigit() else None},
            ) from None
        os.ftruncate(self._handle, 0)
        os.pwrite(self._handle, b"%d\n" % os.getpid(), 0)

    def _read_pid(self) -> str:
        # The other daemon writes its number right after it took the lock.
        for _ in range(50):
            text = os.pread(self._handle, 32, 0).decode("ascii", "replace").strip()
            if text:
                return text
            time.sleep(0.01)
        return "unknown"
