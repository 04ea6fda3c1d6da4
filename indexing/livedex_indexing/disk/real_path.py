"""Resolves the links in a path, any part of which may lie on a network or FUSE mount.

Invariant: each entry on the way is touched by its real path, so that the child that touches such mounts is asked
wherever the way leads, and nothing hangs.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from math import inf
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
    Nothing is touched below that: a path in a request may have thousands of folders.
    """
    left = path.split(b"/")[::-1]
    done: list[bytes] = []
    reached: float = inf  # at most so many of ``done`` lead to an entry that may be there
    links, complete = 0, True
    while left:
        name = left.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            done = done[:-1]
            continue
        done.append(name)
        if len(done) > reached:
            continue
        here, reached = _joined(done), inf
        visit(here)
        try:
            target = _target(here) if links < MAX_LINKS else None
        except TimeoutError:
            target, complete = None, False
        except (OSError, ValueError):
            target, reached = None, len(done)
        if target is not None:
            links += 1
            left += target.split(b"/")[::-1]
            done = [] if target.startswith(b"/") else done[:-1]
    return RealPath(_joined(done), complete)


def _joined(names: list[bytes]) -> bytes:
    return b"/" + b"/".join(names)


def _target(path: bytes) -> bytes | None:
    """Return the target of a link; None if ``path`` is none. Raises OSError, and ValueError as the system call does."""
    try:
        return REMOTE.run(path, b"", partial(os.readlink, path))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return None
