"""The thread that keeps the index equal to the disk: it takes what is marked, has it looked at, read and stored.

Invariant: this is the only thread that writes to the index, and an entry of the backlog is done only after the commit
that holds its outcome.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from math import inf
from typing import Any, TypeVar

from livedex_daemon.index_file.rebuild import Rebuilder
from livedex_daemon.watch.backlog import SETTLE_S, Backlog, Entry, Key
from livedex_daemon.watch.root_presence import Presence
from livedex_daemon.watch.root_table import Root, RootTable
from livedex_daemon.write.chunk_pool import Failed, Gone, Known, NoWorker, Outcome, Pool, Skipped, Unsettled
from livedex_daemon.write.commit import Storing
from livedex_daemon.write.inspector import Looker
from livedex_daemon.write.search_priority import Precedence
from livedex_daemon.write.walk import Changes
from livedex_indexing.model import ChunkedContent
from livedex_indexing.relpath import is_within
from livedex_indexing.store.database import translated
from livedex_indexing.store.index_store import IndexDamaged, IndexUnwritable, Store

log = logging.getLogger(__name__)

TAKE = 256  # entries looked at in one turn
COLLECT = 256  # outcomes committed in one transaction
GATHER_S = 0.25  # bulk outcomes are gathered so long into one transaction: a commit costs a segment of each index
UNASKED = 2  # times as many, and as long, while nobody searches
APART_S = 0.05  # between two commits of edits that nobody waits for: in a storm there were 170 a second
UNSETTLED_TRIES = 3
UNSETTLED_PAUSE_S = 0.02
STORE_PAUSE_S = 2.0  # between tries of a store that cannot be written

T = TypeVar("T")


class Worker:
    """The thread that owns the store. All public methods may be called from any thread."""

    def __init__(
        self,
        store: Store,
        backlog: Backlog,
        looker: Looker,
        storing: Storing,
        presence: Presence,
        rebuilder: Rebuilder,
        precedence: Precedence,
        on_commit: Callable[[float, list[float]], None],
    ) -> None:
        """``on_commit(now, heard_at)``: after a commit, with when each of its changes was heard of (monotonic)."""
        self.store = store
        self.roots = RootTable()
        self.pool: Pool | None = None
        self.store_fault: IndexUnwritable | None = None
        self.turn_fault: str | None = None  # what a turn ended with that nobody expected; None once one commits
        self.unsettled: set[Key] = set()  # files that could not be read in one state, or not be chunked
        self.unsteady: set[Key] = set()  # files that could not be read at the first try and are tried again
        self._backlog = backlog
        self._looker = looker
        self._storing = storing
        self._presence = presence
        presence.on_store_fault = self._store_failed
        self._rebuilder = rebuilder
        self._precedence = precedence
        self._on_commit = on_commit
        self._wake = threading.Event()
        self._stopping = False
        self._orders: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._outcomes: list[Outcome] = []
        self._gathered: Counter[Entry] = Counter()  # of these, how many belong to each entry
        self._most_outcomes = COLLECT
        self._gather_until = self._committed_at = 0.0
        self._store_retry_at = 0.0
        self._thread = threading.Thread(target=self._run, name="worker", daemon=True)

    # -- for other threads

    def start(self, pool: Pool) -> None:
        self.pool = self._looker.pool = pool
        self._thread.start()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        self._thread.join(timeout=10)

    def alive(self) -> bool:
        return self._thread.is_alive()

    def order(self, action: Callable[[], T]) -> Future[T]:
        """Runs ``action`` on the worker's thread, between two turns."""
        future: Future[T] = Future()
        self._orders.append((action, future))
        self._wake.set()
        return future

    def forget(self, root: Root, path: bytes) -> int:
        """Carries out ``files/delete``; to be ordered. Raises Unavailable and changes nothing where it cannot."""
        self.refuse_without_store()
        return self._storing.forget(root, path)

    def keep_forgotten(self, root: Root) -> None:
        """What was told to be forgotten is so before anything of the root is served; to be ordered."""
        self._storing.keep_forgotten(root)

    def refuse_without_store(self) -> None:
        """Raises why the store cannot be written, where it cannot: nothing is promised then that could be lost.

        To be ordered.
        """
        if self.store_fault is not None:
            raise self.store_fault
        try:
            self.store.prove_writable()
        except IndexUnwritable as error:
            self._store_failed(error)
            raise

    # -- the thread

    def _run(self) -> None:
        while not self._stopping:
            try:
                with translated(self.store.path):
                    idle = self._turn()
            except IndexDamaged:
                self._replace_index("damaged")
                idle = False
            except IndexUnwritable as error:
                self._start_over()
                self._store_failed(error)
                idle = True
            except Exception as error:
                log.exception("worker_turn_failed")
                self.turn_fault = type(error).__name__
                self._start_over()
                self._wake.wait(STORE_PAUSE_S)
                idle = False
            if idle:
                self._wake.wait(self._pause())
            self._wake.clear()

    def _pause(self) -> float | None:
        """Seconds until something is due, None when nothing is."""
        now = time.monotonic()
        if self.store_fault is not None:
            return max(0.0005, self._store_retry_at - now)
        due = [work.retry_at for work in self._looker.retries]
        settles = self._backlog.next_at()
        if settles is not None:
            due.append(settles)
        commit = self._commit_due()
        if commit < inf:
            due.append(commit)
        return max(0.0005, min(due) - now) if due else None

    def _turn(self) -> bool:
        """One round; True when nothing is left to do at once."""
        worked = self._run_orders()
        if self.store_fault is not None:
            if time.monotonic() >= self._store_retry_at:
                self._try_store()
            return not worked
        taken = self._backlog.take(TAKE, self._looker.is_busy)
        for entry in taken:
            self._precedence.give_way(len(taken))
            self._looker.look_at(entry, self.roots.get(entry.key[0]))
            worked = True
        worked = self._looker.walk_on() or worked
        self._looker.depart()
        self._looker.retry()
        self._gather()
        if self._commit_due() <= time.monotonic():
            self._commit()
            worked = True
        return not worked

    def _run_orders(self) -> bool:
        ran = False
        while self._orders:
            action, future = self._orders.popleft()
            ran = True
            try:
                with translated(self.store.path):
                    result = action()
                future.set_result(result)
            except BaseException as error:  # handed to whoever asked
                future.set_exception(error)
                if isinstance(error, IndexDamaged):
                    self._replace_index("damaged")
                elif isinstance(error, IndexUnwritable) and self.store_fault is None:
                    self._store_failed(error)
        return ran

    # -- outcomes

    def _gather(self) -> None:
        """Collects outcomes; a file that would not hold still is read again before it counts as one."""
        assert self.pool is not None
        if not self._outcomes:
            times = 1 if self._precedence.is_asked() else UNASKED
            self._most_outcomes = COLLECT * times
            self._gather_until = time.monotonic() + GATHER_S * times
        for outcome in self.pool.collect(self._most_outcomes - len(self._outcomes)):
            work = outcome.work
            if not self._looker.expects(work):
                continue
            if isinstance(outcome.result, Unsettled) and work.tries < UNSETTLED_TRIES - 1:
                work.tries += 1
                self.unsteady.add(work.key)
                work.retry_at = time.monotonic() + UNSETTLED_PAUSE_S
                self._looker.is_read(work)
                self._looker.retries.append(work)
            elif self._is_being_saved(outcome) and self._backlog.defer(work.entry, work.key):
                self._looker.is_read(work)
                self._looker.release(work.entry)
            else:
                self._keep(outcome)

    def _keep(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._gathered[outcome.work.entry] += 1

    def _drop_outcomes(self) -> None:
        self._outcomes = []
        self._gathered.clear()

    @staticmethod
    def _is_being_saved(outcome: Outcome) -> bool:
        """Whether a file that held something was found gone or empty so lately that its text may be about to come."""
        work, stat = outcome.work, outcome.stat
        if work.row is None or work.void:
            return False
        if stat is None:
            return isinstance(outcome.result, Gone)
        return stat.size == 0 < work.row.state.size and 0 <= time.time() - stat.ctime_ns / 1e9 < SETTLE_S

    def _commit_due(self) -> float:
        """When what there is to store is committed (monotonic; long past: at once), infinity while there is nothing.

        One edit is, or what somebody waits for and is complete now; of a storm of them many are together.
        """
        looker, outcomes = self._looker, self._outcomes
        assert self.pool is not None
        if not (looker.changes or outcomes):
            return 0.0 if looker.finished else inf
        if looker.needs_commit:
            return 0.0
        if len(outcomes) >= self._most_outcomes or self._is_waited_for():
            return 0.0
        if looker.finished or not self.pool.outstanding or not all(entry.tree for entry in self._gathered):
            return self._committed_at + APART_S
        return self._gather_until if outcomes else inf

    def _is_waited_for(self) -> bool:
        """Whether a commit would release somebody."""
        complete = [entry for entry, works in self._gathered.items() if works >= entry.works] + self._looker.finished
        return any(waiter.left <= len(complete) for entry in complete for waiter in entry.waiters)

    def _commit(self) -> None:
        looker, outcomes = self._looker, self._outcomes
        again: list[Key] = []
        if looker.changes or outcomes:
            try:
                again = self._storing.apply(looker.changes, outcomes)
            except IndexUnwritable as error:
                self._store_failed(error)
                return
            self._committed_at = time.monotonic()
        self.store_fault = self.turn_fault = None
        self._drop_outcomes()
        gone, looker.changes = looker.changes, Changes()
        looker.needs_commit = False
        self._calm(gone)
        for outcome in outcomes:
            self._settle(outcome)
        for key in again:
            self._backlog.mark(key)
        finished, looker.finished = looker.finished, []
        self._on_commit(time.monotonic(), [entry.first_at for entry in finished if entry.heard])
        for entry in finished:
            root = self.roots.get(entry.key[0])
            if not entry.key[1] and root is not None:
                self._presence.walked(root)
                self._rebuilder.walked(self.roots)
        self._backlog.done(finished)

    def _calm(self, gone: Changes) -> None:
        """Files that are no longer there, or shut out, need no settling."""
        if not self.unsteady and not self.unsettled:
            return
        removed, below = set(gone.removed), [*gone.removed_trees, *gone.shut_out]
        calm = {
            key
            for key in self.unsteady | self.unsettled
            if key in removed
            or self.roots.get(key[0]) is None
            or any(key[0] == root_id and is_within(key[1], path) for root_id, path in below)
        }
        self.unsteady -= calm
        self.unsettled -= calm

    # -- a store that fails

    def mend(self, *, damaged: bool = False) -> bool:
        """Looks whether the index file is still ours and sound, and begins a new one where not. True when it did.

        ``damaged``: a reader has found it so. To be ordered.
        """
        try:
            cause = "damaged" if damaged else self._rebuilder.look()
        except IndexUnwritable as error:
            self._store_failed(error)
            return False
        if cause is not None:
            self._replace_index(cause)
        return cause is not None

    def _replace_index(self, cause: str) -> None:
        self._start_over()
        try:
            self._rebuilder.replace(cause, self.roots)
        except IndexUnwritable as error:
            self._store_failed(error)
        else:
            self.store_fault = None

    def _start_over(self) -> None:
        """Nothing of what is under way can be trusted to reach the store: all of it is looked at again."""
        self._looker.abandon()
        self._drop_outcomes()
        self._backlog.hand_back()

    def _try_store(self) -> None:
        """Once more what could not be stored; where that was nothing, whether it could be."""
        self._store_retry_at = time.monotonic() + STORE_PAUSE_S
        if self.mend() or self.store_fault is None:
            return
        try:
            self.store.prove_writable()
        except IndexUnwritable as error:
            self._store_failed(error)
            return
        self._commit()

    def _store_failed(self, error: IndexUnwritable) -> None:
        if self.store_fault is None:
            log.error("store_failed", extra={"error": type(error).__name__, "cause": repr(error.__cause__)})
        self.store_fault = error
        self._store_retry_at = time.monotonic() + STORE_PAUSE_S

    def _settle(self, outcome: Outcome) -> None:
        work = outcome.work
        self._looker.is_read(work)
        open_ended = isinstance(outcome.result, Unsettled | NoWorker)
        if open_ended and not work.void and self._storing.admits(*work.key):
            self.unsettled.add(work.key)
            self.unsteady.add(work.key)
        else:
            self.unsettled.discard(work.key)
            self.unsteady.discard(work.key)
        _count(outcome)
        self._looker.release(work.entry)


def _count(outcome: Outcome) -> None:
    work, tally = outcome.work, outcome.work.entry.tally
    if tally is None:
        return
    tally.last = work.key
    result = outcome.result
    if isinstance(result, Known) and work.row is not None and work.row.content_hash == outcome.content_hash:
        tally.unchanged += 1
    elif isinstance(result, ChunkedContent | Known):
        tally.indexed += 1
    elif isinstance(result, Skipped):
        tally.skipped += 1
    elif isinstance(result, Failed):
        tally.failed.append((work.key, result.stage, result.message))
    elif isinstance(result, Gone):
        tally.removed += 1
