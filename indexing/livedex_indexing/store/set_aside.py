"""Frees the place of one of livedex's own files.

Invariant: a folder there is never removed or written to. It may contain anything, so it is renamed and kept.
"""

from __future__ import annotations

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
    names = itertools.chain([f"{path}.aside"], (f"{path}.aside.{number}" for number in itertools.count(1)))
    kept = next(name for name in names if not os.path.lexists(name))
    os.rename(place, kept)
    log.warning("folder_put_aside", extra={"place": place, "kept": kept})
