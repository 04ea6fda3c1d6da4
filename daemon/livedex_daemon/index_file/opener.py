"""Open the index at start; put a damaged index or one from a newer livedex aside and build a new one.

Invariant: only the derived index is ever put aside. An index from a newer livedex stays unchanged for that livedex, for
a day. A damaged or older one is removed when the new one is complete, since it contains words of files that may be
forgotten. A folder or a file of another program in the place of one of these files is not an index: it is renamed and
kept.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import time

from livedex_indexing.store.database import IndexDamaged, IndexForeign, IndexNewer, IndexUnwritable, is_foreign
from livedex_indexing.store.index_store import KEEP_S, OnChange, Store, ignore_change
from livedex_indexing.store.set_aside import keep_folder, keep_foreign

log = logging.getLogger(__name__)

_SUFFIXES = ("", "-wal", "-shm")


def open_store(path: str, on_change: OnChange = ignore_change) -> tuple[Store, bool]:
    """Return the store at ``path`` and whether it is a new one. Raise Unavailable when its disk cannot be used."""
    try:
        return _open_or_renew(path, on_change)
    except OSError as error:
        raise IndexUnwritable(f"the index {path} cannot be opened or replaced: {error}", {"path": path}) from error


def _open_or_renew(path: str, on_change: OnChange) -> tuple[Store, bool]:
    try:
        return Store.open(path, on_change=on_change), False
    except (IndexDamaged, IndexNewer) as error:
        log.warning("index_put_aside", extra={"cause": type(error).__name__})
        if isinstance(error, IndexForeign) or is_foreign(path):
            keep_foreign(path)
        put_aside(path, keep=isinstance(error, IndexNewer))
        return Store.open(path, on_change=on_change), True


def put_aside(path: str, *, keep: bool = False) -> str:
    """Rename the index and its log files; return the new name. ``keep``: it stays until ``remove_expired``.

    Raise OSError when a file cannot be renamed.
    """
    aside = _newer(path) if keep else _damaged(path)
    if not keep:
        remove_damaged(path)  # a part of it next to parts of another file would make no sense
    for suffix in _SUFFIXES:
        keep_folder(path + suffix, path)
        keep_folder(aside + suffix, path)
        with contextlib.suppress(FileNotFoundError):
            os.replace(path + suffix, aside + suffix)
    return aside


def remove_damaged(path: str) -> None:
    """Remove the damaged index that was put aside from ``path``. Call it when the new index is complete."""
    for suffix in _SUFFIXES:
        with contextlib.suppress(OSError):
            os.unlink(_damaged(path) + suffix)


def remove_expired(path: str, now: float | None = None) -> None:
    """Remove the index of a newer livedex that was put aside from ``path`` longer than ``KEEP_S`` ago. Never a folder.

    ``now``: seconds of the wall clock; None reads it.
    """
    put_before = (time.time() if now is None else now) - KEEP_S
    for suffix in _SUFFIXES:
        with contextlib.suppress(OSError):
            found = os.lstat(_newer(path) + suffix)
            if stat.S_ISREG(found.st_mode) and found.st_ctime < put_before:  # a rename counts as a change
                os.unlink(_newer(path) + suffix)


def _newer(path: str) -> str:
    return f"{path}.aside"


def _damaged(path: str) -> str:
    return f"{path}.damaged"
