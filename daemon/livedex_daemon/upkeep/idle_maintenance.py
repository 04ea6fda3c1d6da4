"""Maintain the index after a quiet period: collect garbage, compact, check a slice, free memory.

Merge the many segments that bulk work leaves sooner, since every search pays for them.

Invariant: it starts only while nothing waits to be indexed, and runs in steps of a fraction of a second. After a
complete run it does nothing until the next change, but runs once a day: removed rows are kept for so long.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future

from livedex_daemon.index_file.opener import remove_expired
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

RUN_AGAIN_S = KEEP_S  # run again so long after the last run without a change: removed rows have expired by then
QUIET_S = 20.0  # without a commit before it starts; without a search before the memory of searches is freed
BUDGET_S = 0.2  # of one step
AGAIN_S = 0.5  # between two steps
MERGE_QUIET_S = 1.0  # without a commit before segments of bulk work are merged: about a second of one core …
MERGE_BUDGET_S = 0.05  # … in steps so short that they do not delay a save
MERGE_AGAIN_S = 0.05
SLICE_PAGES = 2_000  # pages to check each time: 8 MB, about 8 ms


class IdleMaintenance:
    """Call ``maintain`` and ``merge`` on the event loop; their steps run on the worker's thread."""

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
        self._readers = index.readers
        self._priority = priority
        self._trimmed_at = 0.0
        self._last_commit = latency.last_at
        self._tidy_until = 0.0  # on the monotonic clock; 0: something changed since the last complete run
        self._scattered: bool | None = None  # None: not checked since the last commit
        self._page = 1  # the first page of the next slice

    def _notice_commits(self) -> None:
        """Start over when something was committed since the last call."""
        if self._latency.last_at == self._last_commit:
            return
        self._last_commit = self._latency.last_at
        self._tidy_until = 0.0
        if not self._scattered:  # a merge that has started runs to its end
            self._scattered = None

    def _rests(self, quiet_s: float) -> bool:
        quiet = time.monotonic() - self._last_commit > quiet_s
        return quiet and not self._backlog.pending() and not self._pool.outstanding

    def merge(self, later: Later) -> Future[None] | None:
        """Start or continue to merge the segments of bulk work; return None when there is nothing to do."""
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

    def maintain(self, later: Later) -> Future[None] | None:
        """Start or continue a run; return None when idle. ``later(seconds, action)`` runs an action on the loop."""
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
            later(AGAIN_S, lambda: self.maintain(later))
            return
        if store.checkpoint():  # else a reader still needs the log: try again at the next call
            self._tidy_until = time.monotonic() + RUN_AGAIN_S
        if not self.check_slice():
            self._worker.check_and_rebuild(damaged=True)
        remove_expired(store.path)
        store.release_memory()
        self._readers.release_memory()
        memory.release()

    def check_slice(self) -> bool:
        """Return whether the next pages of the index file are as written; after the last page start at the first."""
        store = self._store
        damaged = store.damaged_pages(self._page, SLICE_PAGES)
        if damaged is None:
            return True
        self._page = 1 if self._page + SLICE_PAGES > store.pages() else self._page + SLICE_PAGES
        if damaged:
            log.warning("index_bytes_changed", extra={"pages": damaged[:10], "count": len(damaged)})
        return not damaged
