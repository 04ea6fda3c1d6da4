"""Make a search wait until the index reflects every earlier write, and report when it does not.

Invariant: ``fresh`` is True only after the barrier is passed and every mark before it, inside the scope, is committed;
otherwise there is a reason.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import NamedTuple

from livedex_daemon.process.event_loop import on_loop
from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark, Scope, intersects, meeting
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.worker import Worker
from livedex_indexing.ignore.rules import reach
from livedex_indexing.model import Stat
from livedex_indexing.relpath import is_within
from livedex_ipc.errors import Unavailable
from livedex_ipc.wire_results import FreshFields, Reason

UNSETTLED_WAIT_S = 0.05  # for files that change faster than they can be read
UNSETTLED_CHECKS = 20  # three tries take 50 ms; on a busy machine the tries for a file that was just saved come late
LOOK_AGAIN_S = 0.005  # for events that are still to be reported, where no barrier can be set up
START_S = 10.0  # a request that needs the roots or plugins waits so long for a daemon that starts
FEW = 64  # entries before a waiter: if there are more, they are not all files that keep changing


class OtherNames(NamedTuple):
    """What is known of the hard links of some files. ``indexed``: other names of them that have a row, or are ignore
    files; ``linked``: those of the files that have several names now, or whose former name is one in the scope."""

    indexed: list[Key]
    linked: list[Key]


Twins = Callable[[list[Key], list[Entry]], Awaitable[OtherNames]]


class _OnlyUnstable(Exception):
    """Only files that keep changing are left to wait for."""


class FreshState(NamedTuple):
    """``pending``: the number of marked paths inside the scope that are not committed yet."""

    fresh: bool
    pending: int
    reason: Reason | None


def fresh_fields(state: FreshState) -> FreshFields:
    """Return the fields of an answer that say whether it is fresh, and why not."""
    return {"fresh": state.fresh} if state.reason is None else {"fresh": state.fresh, "reason": state.reason}


class Freshness:
    """Call it on the event loop."""

    def __init__(
        self,
        watching: EventSource,
        backlog: Backlog,
        roots: Roots,
        worker: Worker,
        pool: Pool,
        store_health: StoreHealth,
    ) -> None:
        self._watching = watching
        self._backlog = backlog
        self._roots = roots
        self._files = worker.files
        self._unreadable = worker.unreadable
        self._pool = pool
        self._store_health = store_health
        self.begun = asyncio.Event()  # set once the first configuration is applied

    async def has_begun(self, lacks: str) -> None:
        """Wait until the first configuration is applied. Raise Unavailable, with what it ``lacks``, if that takes too
        long."""
        if not self.begun.is_set():
            try:
                await asyncio.wait_for(self.begun.wait(), START_S)
            except TimeoutError:
                raise Unavailable(f"the daemon is starting and {lacks} yet: ask again") from None

    async def ensure(
        self, scope: Scope, deadline: float, *, everything: bool = False, twins: Twins | None = None
    ) -> FreshState:
        """Wait, at most until ``deadline`` (monotonic), for every earlier write inside ``scope``.

        Do not wait for a root's first index unless ``everything`` is True. ``twins`` finds the other names of files: a
        file in the scope may have been written by a name outside it. It gets these names, and the entries in the scope.
        """
        if not self.begun.is_set():
            try:
                async with asyncio.timeout_at(_loop_time(deadline)):
                    await self.begun.wait()  # before that, no root is known to be watched
            except TimeoutError:
                return self._state(scope, "recovering")
        self._look_for_absent(scope)
        roots = self._in_scope(scope)
        first = frozenset(root.id for root in roots if root.state == "indexing" and not everything)
        if self._store_is_down():
            return self._state(scope, "store")
        if self._store_health.rebuilding and not everything:
            return self._state(scope, "rebuilding")
        if roots and len(first) == len(roots):
            return self._state(scope, "indexing")
        try:
            if time.monotonic() >= deadline:  # even if there is little to wait for
                raise TimeoutError
            async with asyncio.timeout_at(_loop_time(deadline)):
                await self._pass_barrier(roots, first)
                linked: list[Key] = []
                if scope is not None and twins is not None:
                    linked = await self._mark_twins(scope, twins)
                await self._drain(scope if scope is None else [*scope, *linked], first, everything)
        except _OnlyUnstable:
            return self._state(scope, "unsettled")
        except TimeoutError:
            return self._state(scope, self._why_late(roots))
        if first:
            return self._state(scope, "indexing")
        if self._store_is_down():
            return self._state(scope, "store")
        if self._store_health.rebuilding:
            return self._state(scope, "rebuilding")
        if self._inside(scope, self._files.unsettled):
            return self._state(scope, "unsettled")
        if self._inside(scope, self._unreadable.open):
            return self._state(scope, "unreadable")
        return FreshState(True, 0, None)

    def _in_scope(self, scope: Scope) -> list[Root]:
        present = [root for root in self._roots if root.present]
        return present if scope is None else [root for root in present if any(key[0] == root.id for key in scope)]

    def _look_for_absent(self, scope: Scope) -> None:
        """Have the roots that were missing looked for, which the search then waits for: one may just have come back."""
        for root in self._roots:
            if not root.present and intersects((root.id, b""), scope):
                self._backlog.mark((root.id, b""), Mark(now=True))

    async def _pass_barrier(self, roots: list[Root], first: frozenset[int]) -> None:
        if any(b"" not in root.polled for root in roots):
            await self._hear_of_all()
        for root in roots:
            for path in root.polled if root.id not in first else ():
                self._backlog.mark((root.id, path), Mark(tree=True, now=True))

    async def _hear_of_all(self) -> None:
        """Wait until every event so far is marked. Raise TimeoutError when the watcher cannot tell."""
        watcher = self._watching.watcher
        if watcher is None:
            raise TimeoutError
        while not watcher.caught_up():
            passed = asyncio.get_running_loop().create_future()
            if watcher.barrier(_resolver(passed)):
                await passed
                return
            if not watcher.alive():
                raise TimeoutError
            await asyncio.sleep(LOOK_AGAIN_S)  # something is in the place of the cookies

    async def _mark_twins(self, scope: Sequence[Key], twins: Twins) -> list[Key]:
        """Mark the files in the scope that may have been written by a name outside it.

        Return such names for which to wait: while a file in the scope is being read, it has no row yet that says that
        both are one file. The worker then has it examined again.
        """
        inside, elsewhere = self._backlog.parted(scope)
        if not elsewhere:
            return []
        names, meets = await twins(elsewhere, inside), meeting(scope)
        for key in names.indexed:
            if meets((key[0], reach(key[1]))):
                self._backlog.mark_twin(key)
        return names.linked if inside else []  # they had no row before it was looked up

    def ignore_files_of(self, stat: Stat) -> list[Key]:
        """Return the ignore files of all roots that are this file. Any thread may call it."""
        return self._watching.ignore_files_of(stat.ino, stat.dev)

    async def _drain(self, scope: Scope, first: frozenset[int], everything: bool) -> None:
        done = asyncio.get_running_loop().create_future()
        waiter = self._backlog.wait(scope, _resolver(done), skip_roots=first, background=everything)
        checks = 0
        try:
            while waiter.left > 0:
                await asyncio.wait([done], timeout=UNSETTLED_WAIT_S)
                only = 0 < waiter.left <= FEW and self._only_unstable(self._backlog.left(waiter))
                checks = checks + 1 if only else 0
                if checks == UNSETTLED_CHECKS:
                    raise _OnlyUnstable
        finally:
            if waiter.left > 0:
                self._backlog.forget(waiter)

    def _only_unstable(self, entries: list[Entry]) -> bool:
        """Return True when only files that changed during the first try to read them are left to wait for."""
        unstable = self._files.unstable.copy()
        for entry in entries:
            inside = sum(1 for root_id, path in unstable if root_id == entry.key[0] and is_within(path, entry.key[1]))
            if not inside or inside < entry.works:
                return False
        return bool(entries)

    def _store_is_down(self) -> bool:
        return self._store_health.fault is not None

    @staticmethod
    def _inside(scope: Scope, keys: set[Key]) -> bool:
        return any(map(meeting(scope), keys.copy()))

    def inspect_again(self, keys: Iterable[Key]) -> None:
        """Mark files that a reader found changed for inspection at once."""
        for key in keys:
            self._backlog.mark(key, Mark(now=True))

    def pending(self, scope: Scope = None) -> int:
        """Return the number of paths that searches in ``scope`` wait for."""
        return self._backlog.pending(scope, set(filter(meeting(scope), self._tried_again())))

    def pending_keys(self) -> set[Key]:
        """Return all paths that searches wait for. Any thread may call it."""
        return self._backlog.pending_keys() | self._tried_again()

    def _tried_again(self) -> set[Key]:
        return self._files.unsettled.copy() | self._unreadable.open.copy()

    def _state(self, scope: Scope, reason: Reason) -> FreshState:
        return FreshState(False, self.pending(scope), reason)

    def late(self) -> FreshState:
        """Return the state of an answer that could not wait for anything: its time ran out before."""
        return self._state(None, self._why_late(self._in_scope(None)))

    def _why_late(self, roots: list[Root]) -> Reason:
        if not self.begun.is_set():
            return "recovering"
        if self._store_is_down():
            return "store"
        if any(root.reported_state == "recovering" for root in roots):
            return "recovering"
        if self._pool.is_paused:
            return "paused"
        return "polling" if any(root.polled for root in roots) else "deadline"


def _loop_time(deadline: float) -> float:
    return asyncio.get_running_loop().time() + deadline - time.monotonic()


def _resolver(future: asyncio.Future[None]) -> Callable[[], None]:
    """Return a function that any thread may call to resolve ``future``."""

    def set_result() -> None:
        if not future.done():
            future.set_result(None)

    return on_loop(future.get_loop(), set_result)
