"""Uses network and FUSE mounts through a child process, so that a mount that stops answering delays no other.

Invariant: a caller waits for a mount only while the mount answers. Once it does not, all callers get ETIMEDOUT at once,
and at most one call asks it again. A path on a local mount costs no call of the child and no system call.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from livedex_indexing.disk.mounts import network_mounts, read_mountinfo
from livedex_indexing.disk.remote_process import PROCESS
from livedex_indexing.relpath import absolute, is_within

CALL_S: Final = 0.2  # a call that takes longer makes us ask whether its mount still answers,
ANSWER_S: Final = 0.3  # and the mount counts as silent if it does not answer within this

T = TypeVar("T")


class Process(Protocol):
    """What makes the calls: see `RemoteProcess`."""

    def submit(self, call: Callable[[], T]) -> Future[T]: ...

    def end(self) -> None: ...


class RemoteMount:
    """One mount. Any thread may call it."""

    def __init__(
        self, point: bytes, process: Process, clock: Callable[[], float], on_return: Callable[[], None]
    ) -> None:
        """``on_return`` runs when the mount answers again."""
        self.point = point
        self._process = process
        self._clock = clock
        self._on_return = on_return
        self._lock = threading.Lock()
        self._probing: Future[Any] | None = None  # at most one
        self._since = 0.0

    @property
    def is_silent(self) -> bool:
        """Return True while the mount has been asked and does not answer."""
        with self._lock:
            return self._probing is not None and self._clock() - self._since >= ANSWER_S

    def answers(self) -> bool:
        """Ask the mount, and wait for its answer for at most ``ANSWER_S``."""
        with self._lock:
            asking = self._probing
            if asking is None:
                try:
                    # NFS and FUSE pass statvfs to the server; they may answer stat from a cache.
                    asking = self._probing = self._process.submit(partial(os.statvfs, self.point))
                except OSError:
                    return True  # nothing was asked, so nothing is known against it
                self._since = self._clock()
            left = self._since + ANSWER_S - self._clock()
        asking.add_done_callback(self._answered)
        return bool(wait([asking], max(0.0, left)).done)

    def _answered(self, asking: Future[Any]) -> None:
        """Note the answer; an error is one too, and who reads there gets it."""
        with self._lock:
            if self._probing is not asking:
                return
            was_silent = self._clock() - self._since >= ANSWER_S
            self._probing = None
        if was_silent:
            self._on_return()


class _Table(NamedTuple):
    mounts: Sequence[RemoteMount] = ()
    prefixes: tuple[bytes, ...] = ()  # of the paths on one of them; each ends with a slash
    by_folder: Mapping[bytes, Collection[bytes]] = {}  # the folder of mount points: their names there


def _table_of(mounts: list[RemoteMount]) -> _Table:
    by_folder: dict[bytes, set[bytes]] = {}
    for mount in mounts:
        folder, name = os.path.split(mount.point)
        by_folder.setdefault(folder, set()).add(name)
    return _Table(mounts, tuple(mount.point.rstrip(b"/") + b"/" for mount in mounts), by_folder)


class RemoteMounts:
    """All network and FUSE mounts of this process. Call ``renew`` whenever mounts may have changed."""

    def __init__(self, process: Process = PROCESS, clock: Callable[[], float] = time.monotonic) -> None:
        self.on_return: Callable[[], None] = lambda: None
        self._process = process
        self._clock = clock
        self._renewing = threading.Lock()
        self._known: dict[tuple[bytes, bytes], RemoteMount] = {}
        self._table = _Table()

    def renew(self, mountinfo: bytes | None = None) -> None:
        """Read the table of mounts, and keep what is known of those that are still there."""
        text = read_mountinfo() if mountinfo is None else mountinfo
        with self._renewing:
            self._known = {
                key: self._known.get(key) or RemoteMount(key[0], self._process, self._clock, self._returned)
                for key in network_mounts(text).items()
            }
            self._table = _table_of(list(self._known.values()))
            if not self._known:
                self._process.end()

    def _returned(self) -> None:
        self.on_return()

    def holds(self, path: bytes) -> bool:
        """Return True if the absolute path lies on a network or FUSE mount."""
        return (path + b"/").startswith(self._table.prefixes)

    @property
    def any(self) -> bool:
        """Return True if there is a network or FUSE mount."""
        return bool(self._table.mounts)

    def inside(self, root: bytes, rel: bytes) -> Collection[bytes]:
        """Return the names of those entries of the folder ``rel`` in ``root`` that are mount points."""
        by_folder = self._table.by_folder
        return by_folder.get(absolute(root, rel), ()) if by_folder else ()

    def run(self, root: bytes, rel: bytes, call: Callable[[], T]) -> T:
        """Return what ``call`` returns, which touches ``rel`` in ``root``, an absolute path.

        ``call`` is a function of this room or of ``os`` with its arguments, in ``partial``: the child makes it. Raise
        ETIMEDOUT if a mount that the path lies on does not answer; the call is then left to the child.
        """
        table = self._table
        if not table.mounts or not (path := absolute(root, rel) + b"/").startswith(table.prefixes):
            return call()
        return self._run_on([mount for mount in table.mounts if is_within(path[:-1], mount.point)], call)

    def _run_on(self, mounts: Sequence[RemoteMount], call: Callable[[], T]) -> T:
        """Wait for the call as long as all the mounts answer. Raises OSError."""
        if any(mount.is_silent for mount in mounts):
            raise _silent()
        outcome = self._process.submit(call)
        while not wait([outcome], CALL_S).done:
            if not all(mount.answers() for mount in mounts) and not outcome.done():
                raise _silent()
        return outcome.result()


def _silent() -> OSError:
    return OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))


REMOTE: Final = RemoteMounts()  # one for the process, as its table of mounts is
