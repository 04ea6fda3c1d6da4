"""Resolves the links in a path, any part of which may lie on a network or FUSE mount.

Invariant: each entry on the way is touched by its real path, so that the child that touches such mounts is asked
wherever the way leads, and nothing hangs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from livedex_indexing.disk.remote_mounts import REMOTE

MAX_LINKS: Final = 40  # as in the kernel


class RealPath(NamedTuple):
    """``complete`` is False if a mount on the way did not answer: what lies on it counts as no link."""

    path: bytes
    complete: bool


def real_path(path: bytes, visit: Callable[[bytes], object] = lambda _entry: None) -> RealPath:
    """Return the absolute path with all links resolved, as os.path.realpath does.

    What is not there, or cannot be read, counts as no link. ``visit`` is called with each entry before it is touched.
    """
    left = path.split(b"/")[::-1]
    done, links, complete = b"", 0, True
    while left:
        name = left.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            done = done.rpartition(b"/")[0]
            continue
        here = done + b"/" + name
        visit(here)
        try:
            target = _target(here) if links < MAX_LINKS else None
        except TimeoutError:
            target, complete = None, False
        if target is None:
            done = here
            continue
        links += 1
        left += target.split(b"/")[::-1]
        if target.startswith(b"/"):
            done = b""
    return RealPath(done or b"/", complete)


def _target(path: bytes) -> bytes | None:
    """Return the target of a link; None if ``path`` is none, is not there, or cannot be read. Raises TimeoutError."""
    try:
        return REMOTE.run(path, b"", partial(os.readlink, path))
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return None
