"""Resolves the paths that clients name, in threads of its own: a file system that hangs holds up nobody else.

Invariant: at most ``PER_MOUNT`` threads wait for one file system that does not answer; a lookup that would be one more
is refused at once.
"""

from __future__ import annotations

import asyncio
import errno
import os
import stat
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from livedex_indexing.disk.mounts import mount_point
from livedex_indexing.disk.real_path import real_path
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import is_gone
from livedex_indexing.path_text import display_path
from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

THREADS: Final = 16
PER_MOUNT: Final = 2
HUNG_S: Final = 0.5  # without an answer for this long, a file system counts as hung
LOOKUP_S: Final = 10.0  # for methods without a time limit of their own

T = TypeVar("T")


class Lookup:
    """One lookup. ``at``: the path that it checks on the disk now, since ``since`` (monotonic)."""

    def __init__(self, refuse_if_hung: Callable[[Lookup, bytes], None], at: bytes = b"/") -> None:
        self.at = at
        self.since = time.monotonic()
        self._refuse_if_hung = refuse_if_hung
        self._is_abandoned = False

    def abandon(self) -> None:
        """Have it raise Unavailable at its next step: nobody waits for it any more. Any thread may call it."""
        self._is_abandoned = True

    def real(self, path: bytes) -> bytes:
        """Return ``path`` with all links resolved, as os.path.realpath does. Raise Unavailable."""
        return real_path(path, self._go_to).path

    def entry(self, path: bytes) -> bytes:
        """Return ``path`` with the links in its folders resolved; a link in its last part stays. Raise Unavailable."""
        folder, name = os.path.split(os.path.normpath(path))
        return os.path.join(self.real(folder), name) if name else self.real(folder)

    def is_folder(self, path: bytes) -> bool:
        found = self._describe(path, os.stat)
        return found is not None and stat.S_ISDIR(found.st_mode)

    def exists(self, path: bytes) -> bool:
        return self._describe(path, os.lstat) is not None

    def _describe(self, path: bytes, call: Callable[[bytes], os.stat_result]) -> os.stat_result | None:
        """Return None if nothing is there, or it is closed to us. Raise Unavailable."""
        self._go_to(path)
        try:
            return REMOTE.run(path, b"", partial(call, path))
        except TimeoutError:
            raise _hung(path) from None
        except OSError as error:
            if is_gone(error) or error.errno in (errno.EACCES, errno.EPERM):
                return None
            shown = display_path(path)
            raise Unavailable(f"{shown} cannot be examined: {error.strerror}; try again", {"path": shown}) from error

    def _go_to(self, path: bytes) -> None:
        if self._is_abandoned:
            raise Unavailable("nobody waits for this path any more")
        self._refuse_if_hung(self, path)
        self.at, self.since = path, time.monotonic()


class PathLookups:
    """Runs lookups. Call it on the event loop."""

    def __init__(self, mount_of: Callable[[bytes], bytes] = mount_point) -> None:
        """``mount_of``: returns the mount point of a path without touching it."""
        self._mount_of = mount_of
        self._threads = LastingThreads(THREADS, "path", at_once=1)
        self._running: set[Lookup] = set()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def run(self, path: bytes, look: Callable[[Lookup], T]) -> T:
        """Return the result of ``look``, from a thread. ``path``: the first that it looks at. Raise Unavailable."""
        loop = asyncio.get_running_loop()
        lookup = Lookup(self._refuse_if_hung, path)

        def act() -> T:
            lookup.since = time.monotonic()
            self._running.add(lookup)
            try:
                return look(lookup)
            finally:
                self._running.discard(lookup)

        try:
            async with asyncio.timeout(LOOKUP_S) as limit:
                return await loop.run_in_executor(self._threads, act)
        except TimeoutError:
            if not limit.expired():
                raise
            raise _hung(lookup.at) from None
        finally:
            lookup.abandon()

    def _refuse_if_hung(self, lookup: Lookup, path: bytes) -> None:
        """Raise Unavailable if enough other lookups already wait for the file system of ``path``."""
        now = time.monotonic()
        hung = [other.at for other in list(self._running) if other is not lookup and now - other.since > HUNG_S]
        if len(hung) < PER_MOUNT:
            return
        mount = self._mount_of(path)
        if sum(1 for at in hung if self._mount_of(at) == mount) >= PER_MOUNT:
            raise _hung(mount)


def _hung(path: bytes) -> Unavailable:
    shown = display_path(path)
    return Unavailable(
        f"the file system of {shown} does not answer: unmount it, or wait until it is back", {"path": shown}
    )
