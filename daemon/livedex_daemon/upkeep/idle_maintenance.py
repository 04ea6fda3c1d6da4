"""Keeps the index in shape once nothing has changed for a while: collects, compacts, checks a slice, frees memory.

What bulk work has left in many pieces is merged sooner, since every search pays for it.

Invariant: it begins only while nothing waits to be indexed, goes in steps of a fraction of a second, and does nothing
at all while nothing has changed since it last came to its end, but once a day: what was removed waits so long.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future

from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.process import memory
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_indexing.store.index_store import KEEP_S

log = logging.getLogger(__name__)

Later = Callable[[float, Callable[[], object]], None]

ANEW_S = KEEP_S  # after its end, though nothing has changed: what was removed then has waited long enough
QUIET_S = 20.0  # without a commit, before it begins; without a search, before what searches left is freed
BUDGET_S = 0.2  # of one step
AGAIN_S = 0.5  # between two steps
MERGE_QUIET_S = 1.0  # without a commit, before the pieces of bulk work are merged: about a second of one core …
MERGE_BUDGET_S = 0.05  # … in steps so short that a save is not held up
MERGE_AGAIN_S = 0.05
SLICE_PAGES = 2_000  # whose bytes are checked each time: 8 MB, some 8 ms


class IdleMaintenance:
    """`look` and `merge` are called on the event loop; their steps run on the worker's thread."""

    def __init__(
        self,
        worker: Worker,
        index: IndexFile,
        backlog: Backlog,
        pool: Pool,
        priority: SearchPriority,
        latency: CommitLatency,
    ) -> None:
        self._worker = worker
        self._store = index.store
        self._store_health = index.health
        self._latency = latency
        self._backlog = backlog
        self._pool = pool
        self._serving = index.readers
        self._priority = priority
        self._trimmed_at = 0.0
        self._last_commit = latency.last_at
        self._tidy_until = 0.0  # on the monotonic clock; 0: something has changed since it came to its end
        self._scattered: bool | None = None  # None: not looked at since the last commit
        self._page = 1  # the first one of the next slice

    def _notice_commits(self) -> None:
        """Begin again from the start when something was committed since the last call."""
        if self._latency.last_at == self._last_commit:
            return
        self._last_commit = self._latency.last_at
        self._tidy_until = 0.0
        if not self._scattered:  # a merge that has begun is carried to its end
            self._scattered = None

    def _rests(self, quiet_s: float) -> bool:
        quiet = time.monotonic() - self._last_commit > quiet_s
        return quiet and not self._backlog.pending() and not self._pool.outstanding

    def merge(self, later: Later) -> Future[None] | None:
        """Begins or goes on merging what bulk work left in pieces; None where there is nothing to do."""
        self._notice_commits()
        if self._scattered is not False and self._rests(MERGE_QUIET_S):
            return self._worker.submit(lambda: self._merge_step(later))
        return None

    def _merge_step(self, later: Later) -> None:
        """On the worker's thread."""
        store = self._store
        self._notice_commits()
        if self._store_health.fault is not None:
            return
        if self._scattered is None:
            self._scattered = store.is_scattered()
        if self._scattered:
            self._scattered = not store.merge(MERGE_BUDGET_S)
            later(MERGE_AGAIN_S, lambda: self.merge(later))

    def look(self, later: Later) -> Future[None] | None:
        """Begins or goes on; None where there is nothing to do. ``later(seconds, action)`` runs it on the loop."""
        self._notice_commits()
        if time.monotonic() >= self._tidy_until and self._rests(QUIET_S):
            return self._worker.submit(lambda: self._step(later))
        if self._trimmed_at < self._priority.last < time.monotonic() - QUIET_S:
            self._trimmed_at = time.monotonic()
            return self._worker.submit(memory.trim)
        return None

    def _step(self, later: Later) -> None:
        """On the worker's thread."""
        store = self._store
        self._notice_commits()
        if self._store_health.fault is not None:
            return
        if not store.maintain(BUDGET_S):
            later(AGAIN_S, lambda: self.look(later))
            return
        if store.checkpoint():  # else a reader still needs the log: once more at the next look
            self._tidy_until = time.monotonic() + ANEW_S
        if not self.check_slice():
            self._worker.mend(damaged=True)
        store.release_memory()
        self._serving.release_memory()
        memory.release()

    def check_slice(self) -> bool:
        """Whether the next pages of the index file are as they were written, after the last ones the first again."""
        store = self._store
        damaged = store.damaged_pages(self._page, SLICE_PAGES)
        if damaged is None:
            return True
        self._page = 1 if self._page + SLICE_PAGES > store.pages() else self._page + SLICE_PAGES
        if damaged:
            log.warning("index_bytes_changed", extra={"pages": damaged[:10], "count": len(damaged)})
        return not damaged
