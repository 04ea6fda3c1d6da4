"""Tells which files are still in the states that the index knows, many at once: a system call for each, and no more.

Invariant: as for `tree`, nothing outside the root is reached, no link is followed, and a share that does not answer
delays nothing.
"""

from __future__ import annotations

import os
import stat as modes
from collections.abc import Mapping
from functools import partial

from livedex_indexing.disk.beneath import folder
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import retry_stale

State = tuple[int, int, int, int]  # size, mtime_ns, ctime_ns, inode


def unchanged_names(root: bytes, rel: bytes, states: Mapping[bytes, State]) -> list[bytes]:
    """Return those names in folder ``rel`` that are regular files in these states. None of them if the folder is gone,
    or cannot be read."""
    mounted = REMOTE.inside(root, rel)
    local = {name: state for name, state in states.items() if name not in mounted} if mounted else dict(states)
    try:
        return REMOTE.run(root, rel, partial(retry_stale, partial(_unchanged_names, root, rel, local)))
    except OSError:
        return []


def _unchanged_names(root: bytes, rel: bytes, states: dict[bytes, State]) -> list[bytes]:
    same = []
    with folder(root, rel) as fd:
        for name, state in states.items():
            try:
                found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except OSError:
                continue
            # Compared without a `Stat`, which would take as long as the call.
            as_found = found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino
            if as_found == state and modes.S_ISREG(found.st_mode):
                same.append(name)
    return same
