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


class _Found(NamedTuple):
    """What an entry turned out to be. ``target``: of a link. ``answers`` is False on a mount that does not answer."""

    target: bytes | None = None
    is_there: bool = True
    answers: bool = True


class _Entry:
    """A name on the way. ``found``: once it was touched; ``x/../x/..`` leads to the same entry thousands of times."""

    __slots__ = ("below", "found", "name")

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.found: _Found | None = None
        self.below: dict[bytes, _Entry] = {}


def real_path(path: bytes, visit: Callable[[bytes], object] = lambda _entry: None) -> RealPath:
    """Return the absolute path with all links resolved, as os.path.realpath does.

    What is not there, or cannot be read, counts as no link. ``visit`` is called with each entry before it is touched.
    Nothing is touched below that, nor twice: a path in a request may have thousands of folders.
    """
    left = path.split(b"/")[::-1]
    top = _Entry(b"")
    done: list[_Entry] = []
    reached: float = inf  # at most so many of ``done`` lead to an entry that may be there
    links, complete = 0, True
    while left:
        name = left.pop()
        if name in (b"", b"."):
            continue
        if name == b"..":
            del done[-1:]
            continue
        nearby = (done[-1] if done else top).below
        entry = nearby.get(name) or nearby.setdefault(name, _Entry(name))
        done.append(entry)
        if len(done) > reached:
            continue
        reached = inf
        found = entry.found
        if found is None:
            here = _joined(done)
            visit(here)
            found = entry.found = _find(here)
        complete = complete and found.answers
        if found.target is not None and links < MAX_LINKS:
            links += 1
            left += found.target.split(b"/")[::-1]
            del done[0 if found.target.startswith(b"/") else -1 :]
        elif not found.is_there:
            reached = len(done)
    return RealPath(_joined(done), complete)


def _joined(entries: list[_Entry]) -> bytes:
    return b"/" + b"/".join([entry.name for entry in entries])


def _find(path: bytes) -> _Found:
    try:
        return _Found(REMOTE.run(path, b"", partial(os.readlink, path)))
    except TimeoutError:
        return _Found(answers=False)
    except (OSError, ValueError) as error:  # ValueError: a NUL in it
        return _Found(is_there=isinstance(error, OSError) and error.errno == errno.EINVAL)
