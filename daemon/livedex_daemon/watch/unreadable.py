"""The paths that the system could not read, although they are not gone, and when each is tried again.

Invariant: an error is not an absence. What the index has of such a path is kept, no search in whose scope it lies is
fresh before what was read is committed or the path counts as settled, and it is tried again until it can be read or is
gone. Only the worker's thread changes the sets; other threads copy them.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from livedex_daemon.watch.backlog import Key
from livedex_indexing.relpath import parent

PAUSES_S = (0.5, 1.0, 2.0, 4.0)  # before each further try,
PAUSE_MOST_S = 5.0  # and before all later ones
TRIES = 5  # after so many the error counts as the path's own: it is `failed`, and searches are fresh without it
AT_ONCE = 64  # of the paths that are due; the others follow in the next round, or at once after a success
MOST_DENIED = 4_096  # paths without permission that are tried; the reconcile finds the others

# The whole process or system is short of something, or a server does not answer: no path is to blame, however long it
# lasts.
SHORTAGES = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.EAGAIN, errno.EINTR))
BLAMELESS = SHORTAGES | {errno.ETIMEDOUT}


class Trouble(NamedTuple):
    """What is to be said of the paths that one error keeps from being read: their number, and the first one."""

    paths: int
    first: Key
    errno: int

    @property
    def text(self) -> str:
        return os.strerror(self.errno)


class _Path:
    __slots__ = ("errno", "failure", "retry_at", "tree", "tries", "trying")

    def __init__(self) -> None:
        self.errno = 0
        self.failure = 0  # the number of its last failure
        self.tries = 0
        self.trying = True
        self.tree = False
        self.retry_at = inf


class UnreadablePaths:
    """``open``: the paths whose searches are not fresh. ``denied``: paths without permission, in the order to try.

    ``failures`` counts the failures of all paths so far: the number shows whether a check or a failure came first.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.open: set[Key] = set()
        self.denied: dict[Key, None] = {}
        self.failures = 0
        self._clock = clock
        self._paths: dict[Key, _Path] = {}
        self._due_at = inf  # the earliest time at which a path is due

    def __contains__(self, key: Key) -> bool:
        return key in self._paths

    def __len__(self) -> int:
        return len(self._paths)

    def paths(self) -> list[Key]:
        return list(self._paths)

    def failed(self, key: Key, code: int, *, tree: bool = False) -> bool:
        """Record that a path could not be read. Return True once the error counts as the path's own.

        A failure between two tries does not count as one: many searches may find it. ``tree``: it is a folder.
        """
        self.denied.pop(key, None)
        path = self._paths.setdefault(key, _Path())
        path.errno, path.tree = code, path.tree or tree
        self.failures += 1
        path.failure = self.failures
        if path.trying:
            path.trying = False
            path.tries += 1
            path.retry_at = self._clock() + _pause_s(path.tries)
        self._due_at = min(self._due_at, path.retry_at)
        settled = path.tries >= TRIES and code not in BLAMELESS
        (self.open.discard if settled else self.open.add)(key)
        return settled

    def read(self, key: Key, since: int | None = None) -> None:
        """Record that a path was read and that this is committed.

        The others are tried at once: they may have had the same cause. ``since``: ``failures`` before the look at the
        path, which proves nothing once a later look has failed.
        """
        path = self._paths.get(key)
        if path is not None and since is not None and path.failure > since:
            return
        self.denied.pop(key, None)
        if self.discard(key):
            self.try_now()

    def try_now(self) -> None:
        """Let every path be tried at once: what made them fail may be over."""
        self._due_at = 0.0
        for path in self._paths.values():
            path.retry_at = 0.0

    def discard(self, key: Key) -> bool:
        """Forget a path that is gone or no longer of interest. Return False if it was not recorded."""
        self.denied.pop(key, None)
        self.open.discard(key)
        return self._paths.pop(key, None) is not None

    def forget(self, is_gone: Callable[[Key], bool]) -> None:
        for key in [key for key in (*self._paths, *self.denied) if is_gone(key)]:
            self.discard(key)

    def take_due(self) -> list[tuple[Key, bool, bool]]:
        """Return some paths to try now: key, whether it is a folder, whether searches need not wait for the try."""
        now = self._clock()
        if now < self._due_at:
            return []
        due = sorted((path.retry_at, key) for key, path in self._paths.items() if path.retry_at <= now)
        for _, key in due[:AT_ONCE]:
            self._paths[key].trying = True
            self._paths[key].retry_at = now + PAUSE_MOST_S  # in case nobody reports how the try ended
        self._due_at = min((path.retry_at for path in self._paths.values()), default=inf)
        return [(key, self._paths[key].tree, key not in self.open) for _, key in due[:AT_ONCE]]

    def next_at(self) -> float:
        """Return when the next path is due, on the injected clock; infinity if there is none."""
        return self._due_at if self._paths else inf

    def deny(self, key: Key) -> None:
        """Record that permission is missing. It may return without an event, as on a share."""
        self.discard(key)
        if len(self.denied) < MOST_DENIED:
            self.denied[key] = None

    def allowed(self, key: Key) -> bool:
        """Record that a folder could be listed. Return whether it was one without permission."""
        was_denied = key in self.denied
        self.denied.pop(key, None)
        return was_denied

    def closed_above(self, key: Key) -> bytes | None:
        """Return the topmost folder above the path that is known to deny permission."""
        root_id, folder = key
        closed = None
        while folder and self.denied:
            folder = parent(folder)
            if (root_id, folder) in self.denied:
                closed = folder
        return closed

    def take_denied(self, limit: int) -> list[Key]:
        """Return some paths without permission to look at now, and put them last."""
        taken = list(self.denied)[:limit]
        for key in taken:
            self.denied[key] = self.denied.pop(key)
        return taken

    def troubles(self) -> list[Trouble]:
        """Return what is to be said of the paths, for each error. For any thread."""
        found: dict[int, Trouble] = {}
        for key, path in self._paths.copy().items():
            known = found.get(path.errno) or Trouble(0, key, path.errno)
            found[path.errno] = known._replace(paths=known.paths + 1)
        return list(found.values())


def _pause_s(tries: int) -> float:
    return PAUSES_S[tries - 1] if tries <= len(PAUSES_S) else PAUSE_MOST_S
