"""Frees the place of one of livedex's own files.

Invariant: a folder there, or a file of another program, is never removed or written to: it is renamed and kept.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import stat
from collections.abc import Callable

log = logging.getLogger(__name__)


def keep_folder(place: str, path: str) -> None:
    """If ``place`` is a folder, rename it to a free ``{path}.aside``, ``{path}.aside.1``, … Raises OSError."""
    _keep_if(stat.S_ISDIR, place, path)


def keep_special(place: str, path: str) -> None:
    """Do the same for whatever is not a regular file."""
    _keep_if(lambda mode: not stat.S_ISREG(mode), place, path)


def _keep_if(is_kept: Callable[[int], bool], place: str, path: str) -> None:
    try:
        if not is_kept(os.lstat(place).st_mode):
            return
    except FileNotFoundError:
        return
    kept = f"{path}.aside" if not os.path.lexists(f"{path}.aside") else _free(path)
    os.rename(place, kept)
    log.warning("folder_put_aside", extra={"place": place, "kept": kept})


def keep_foreign(path: str, is_ours: Callable[[str], bool] = lambda _: False) -> None:
    """Rename a file of another program, and what SQLite has next to it, to a free ``{path}.aside.1``, …

    ``is_ours``: whether a file next to it belongs to the index that was at ``path`` before. Raises OSError.
    """
    kept = _free(path)
    for suffix in ("-journal", "-wal", "-shm", ""):  # itself last: the next start then does the rest
        if not is_ours(path + suffix):
            with contextlib.suppress(FileNotFoundError):
                os.rename(path + suffix, kept + suffix)
    log.warning("file_put_aside", extra={"place": path, "kept": kept})


def _free(path: str) -> str:
    names = (f"{path}.aside.{number}" for number in itertools.count(1))
    return next(
        name for name in names if not any(os.path.lexists(name + suffix) for suffix in ("", "-wal", "-journal"))
    )
