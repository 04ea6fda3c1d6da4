"""Touches network and FUSE mounts on threads that may be lost, so that one that stops answering holds up nobody.

Invariant: a caller waits for a mount only while the mount answers. Once it does not, all callers get ETIMEDOUT at once,
and at most one thread asks it again. A path on a local mount costs no thread and no system call.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Final, NamedTuple, TypeVar

from livedex_indexing.disk.mounts import MOUNTINFO, network_mounts
from livedex_indexing.relpath import absolute, is_within

CALL_S: Final = 0.2  # a call that takes longer makes us ask whether its mount still answers,
ANSWER_S: Final = 0.3  # and the mount counts as silent if it does not answer within this

T = TypeVar("T")
Probe = Callable[[bytes], object]


class RemoteMount:
    """One mount. Any thread may call it."""

    def __init__(self, point: bytes, probe: Probe, clock: Callable[[], float], on_return: Callable[[], None]) -> None:
        """``probe(point)`` ends, perhaps with OSError, when the mount answers; ``on_return`` runs when it is back."""
        self.point = point
        self._probe = probe
        self._clock = clock
        self._on_return = on_return
        self._lock = threading.Lock()
        self._probing: Future[None] | None = None  # at most one thread asks
        self._probed_at = 0.0

    @property
    def is_silent(self) -> bool:
        """Return True while the mount has been asked and does not answer."""
        with self._lock:
            return self._probing is not None and self._clock() - self._probed_at >= ANSWER_S

    def answers(self) -> bool:
        """Ask the mount, and wait for its answer for at most ``ANSWER_S``."""
        with self._lock:
            probing = self._probing
            if probing is None:
                probing = self._probing = Future()
                self._probed_at = self._clock()
                if not _started(partial(self._run_probe, probing), "mount-probe"):
                    self._probing = None
                    return True  # nothing was asked, so nothing is known against it
            left = self._probed_at + ANSWER_S - self._clock()
        return bool(wait([probing], max(0.0, left)).done)

    def _run_probe(self, probing: Future[None]) -> None:
        with contextlib.suppress(OSError):  # an error is an answer too; who reads there gets it
            self._probe(self.point)
        with self._lock:
            was_silent = self._clock() - self._probed_at >= ANSWER_S
            self._probing = None
        probing.set_result(None)
        if was_silent:
            self._on_return()


class _Table(NamedTuple):
    mounts: Sequence[RemoteMount] = ()
    prefixes: tuple[bytes, ...] = ()  # of the paths on one of them; each ends with a slash
    by_folder: Mapping[bytes, Mapping[str, RemoteMount]] = {}  # the folder of a mount point: its name there


def _table_of(mounts: list[RemoteMount]) -> _Table:
    by_folder: dict[bytes, dict[str, RemoteMount]] = {}
    for mount in mounts:
        folder, name = os.path.split(mount.point)
        by_folder.setdefault(folder, {})[os.fsdecode(name)] = mount
    return _Table(mounts, tuple(mount.point.rstrip(b"/") + b"/" for mount in mounts), by_folder)


class RemoteMounts:
    """All network and FUSE mounts of this process. Call ``renew`` whenever mounts may have changed."""

    def __init__(self, probe: Probe = os.statvfs, clock: Callable[[], float] = time.monotonic) -> None:
        # NFS and FUSE pass statvfs to the server; they may answer stat from a cache.
        self.on_return: Callable[[], None] = lambda: None
        self._probe = probe
        self._clock = clock
        self._renewing = threading.Lock()
        self._known: dict[tuple[bytes, bytes], RemoteMount] = {}
        self._table = _Table()

    def renew(self, mountinfo: bytes | None = None) -> None:
        """Read the table of mounts, and keep what is known of those that are still there."""
        text = _mountinfo() if mountinfo is None else mountinfo
        with self._renewing:
            self._known = {
                key: self._known.get(key) or RemoteMount(key[0], self._probe, self._clock, self._returned)
                for key in network_mounts(text).items()
            }
            self._table = _table_of(list(self._known.values()))

    def _returned(self) -> None:
        self.on_return()

    def inside(self, root: bytes, rel: bytes) -> Mapping[str, RemoteMount]:
        """Return the mounts whose mount point is an entry of the folder ``rel`` in ``root``, by name."""
        by_folder = self._table.by_folder
        return by_folder.get(absolute(root, rel), _NONE) if by_folder else _NONE

    def run(self, root: bytes, rel: bytes, call: Callable[[], T]) -> T:
        """Return what ``call`` returns, which touches ``rel`` in ``root``, an absolute path.

        Raise ETIMEDOUT if a mount that the path lies on does not answer; the call is then left to its thread.
        """
        table = self._table
        if not table.mounts:
            return call()
        path = absolute(root, rel)
        if not (path + b"/").startswith(table.prefixes):
            return call()
        return run_on([mount for mount in table.mounts if is_within(path, mount.point)], call)


def run_on(mounts: Sequence[RemoteMount], call: Callable[[], T]) -> T:
    """Run ``call`` on a thread of its own, and wait for it as long as all the mounts answer. Raises OSError."""
    if any(mount.is_silent for mount in mounts):
        raise _silent()
    outcome: Future[T] = Future()
    if not _started(lambda: _settle(outcome, call), "remote-call"):
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    while not wait([outcome], CALL_S).done:
        if not all(mount.answers() for mount in mounts) and not outcome.done():
            raise _silent()
    return outcome.result()


def _settle(outcome: Future[T], call: Callable[[], T]) -> None:
    try:
        outcome.set_result(call())
    except BaseException as error:  # passed to the caller
        outcome.set_exception(error)


def _started(action: Callable[[], None], name: str) -> bool:
    """Return False if the system starts no more threads. The end of the process joins none of these."""
    try:
        threading.Thread(target=action, name=name, daemon=True).start()
    except RuntimeError:
        return False
    return True


def _silent() -> OSError:
    return OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))


def _mountinfo() -> bytes:
    """Return the text of the table of mounts; nothing where the system has none, so that no mount is remote."""
    if sys.platform != "linux":
        return b""
    try:
        return MOUNTINFO.read_bytes()
    except OSError:
        return b""  # as in a sandbox without /proc


_NONE: Final[Mapping[str, RemoteMount]] = {}
REMOTE: Final = RemoteMounts()  # one for the process, as its table of mounts is
