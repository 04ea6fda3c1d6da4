"""Frees the place of one of livedex's own files.

Invariant: a folder there, or a database of another program, is never removed or written to: it is renamed and kept.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import stat

log = logging.getLogger(__name__)


def keep_folder(place: str, path: str) -> None:
    """If ``place`` is a folder, rename it to a free ``{path}.aside``, ``{path}.aside.1``, … Raises OSError."""
    try:
        if not stat.S_ISDIR(os.lstat(place).st_mode):
            return
    except FileNotFoundError:
        return
    kept = f"{path}.aside" if not os.path.lexists(f"{path}.aside") else _free(path)
    os.rename(place, kept)
    log.warning("folder_put_aside", extra={"place": place, "kept": kept})


def keep_database(path: str) -> None:
    """Rename a database, and what SQLite has next to it, to a free ``{path}.aside.1``, … Raises OSError."""
    kept = _free(path)
    for suffix in ("-journal", "-wal", "-shm", ""):  # itself last: the next start then does the rest
        with contextlib.suppress(FileNotFoundError):
            os.rename(path + suffix, kept + suffix)
    log.warning("database_put_aside", extra={"place": path, "kept": kept})


def _free(path: str) -> str:
    names = (f"{path}.aside.{number}" for number in itertools.count(1))
    return next(
        name for name in names if not any(os.path.lexists(name + suffix) for suffix in ("", "-wal", "-journal"))
    )
