"""Find changes that stay pending although nothing explains why.

Invariant: a long queue that shortens is not stuck, and work that waits for a reason with a warning of its own (the
store, the chunk worker, mains power) is not reported twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from livedex_daemon.watch.backlog import Backlog, Key
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.unsettled import UnsettledFiles

LIMIT_S = 30.0
QUEUE = 64  # files; where more wait to be read, one of them may be far behind


class StuckCheck:
    """Any thread may call it. Times come from the injected clock, which is monotonic."""

    def __init__(
        self,
        backlog: Backlog,
        files: UnsettledFiles,
        pool: Pool,
        latency: CommitLatency,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backlog = backlog
        self._files = files
        self._pool = pool
        self._latency = latency
        self._clock = clock

    def late(self) -> bool:
        """Return True while a change that searches wait for has been pending for longer than ``LIMIT_S``."""
        return any(not entry.background for entry in self._backlog.older_than(LIMIT_S))

    def stuck(self, roots: Roots, store_health: StoreHealth) -> list[bytes]:
        """Return the paths whose changes do not move, as absolute paths."""
        if store_health.fault is not None or self._pool.worker_fault is not None or self._pool.is_paused:
            return []
        unsettled = self._files.older_than(LIMIT_S)
        if self._pool.outstanding > QUEUE and self._clock() - self._latency.last_at <= LIMIT_S:
            return _absolute(unsettled, roots)
        unmoved = [entry.key for entry in self._backlog.older_than(LIMIT_S, unmoved=True)]
        return _absolute(unmoved + unsettled, roots) if unmoved or unsettled else []


def _absolute(keys: list[Key], roots: Roots) -> list[bytes]:
    found = {(root, path) for root_id, path in keys if (root := roots.get(root_id)) is not None and root.present}
    return sorted(root.absolute(path) for root, path in found)
