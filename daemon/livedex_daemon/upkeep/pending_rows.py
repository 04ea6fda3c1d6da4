"""Mark pending files that nothing works on, so that a lost entry of the backlog costs seconds.

Invariant: it reads the index only when there is no other work, and once for each generation. Runs on the worker's
thread only.
"""

from __future__ import annotations

import logging

from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.unsettled import UnsettledFiles
from livedex_indexing.store.index_store import Store

log = logging.getLogger(__name__)

AT_ONCE = 1_000  # files to mark in one look


class PendingRows:
    """The rows with status ``pending``, which ``status`` counts and no search waits for."""

    def __init__(
        self, store: Store, backlog: Backlog, roots: Roots, files: UnsettledFiles, conversions: Conversions
    ) -> None:
        self._conversions = conversions
        self._store = store
        self._backlog = backlog
        self._roots = roots
        self._files = files
        self._generation: int | None = None  # of the last look

    def mark(self) -> None:
        """Mark each pending file of a present root, except the unsettled ones and documents."""
        if self._backlog.pending() or self._store.generation == self._generation:
            return
        self._generation = self._store.generation
        lost = [key for key in self._store.pending(AT_ONCE) if key not in self._files.unsettled]
        lost = [key for key in lost if not self._conversions.waits(key)]
        lost = [key for key in lost if (root := self._roots.get(key[0])) is not None and root.present]
        for key in lost:
            self._backlog.mark(key)
        if lost:
            log.warning("pending_files_marked", extra={"count": len(lost)})
