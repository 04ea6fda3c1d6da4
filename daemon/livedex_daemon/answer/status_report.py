"""Report the state of the daemon: counts, states, measured freshness, and each fault with its remedy.

Invariant: the state is ``ready`` only while no promise is known to be broken; every figure is measured. What a status
calls done is in its counts.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from livedex_daemon.answer.status_checks import (
    CHECKS,
    DaemonState,
    Warnings,
    dead_letter_warnings,
    failed_files,
    root_warnings,
)
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Root, RootState
from livedex_indexing.hits.answer_json import rfc3339_of_seconds
from livedex_indexing.model import Counts
from livedex_indexing.path_text import path_fields
from livedex_ipc import __version__
from livedex_ipc.wire_results import AnswerWarning, RootFields, ServerState, StatusResult

HARMLESS = frozenset(  # these do not break a promise
    (
        "backend_vectors", "dead_letters", "embedder_unavailable", "files_failed", "log_unavailable",
        "parser_missing", "pipeline_unavailable", "plugin_refused",
    )
)  # fmt: skip


class _Seen(NamedTuple):
    """A root before its files were counted."""

    root: Root
    overflows: int
    state: RootState


class _Work(NamedTuple):
    """What was still to be done before the files were counted: what was done by then is in the counts.

    ``keys``: the paths that searches wait for.
    """

    generation: int
    roots: list[_Seen]
    keys: set[Key]


class Health:
    """Call it on the event loop; a thread that reads the index supplies the counts."""

    def __init__(self, state: DaemonState) -> None:
        self._parts = state
        self._roots = state.roots
        self._freshness = state.freshness
        self._store = state.index_file.store
        self._readers = state.index_file.readers
        self._counted: tuple[tuple[int, frozenset[int]], Counts] | None = None
        self._since = time.monotonic()

    def _counts(self) -> Counts:
        """Count again only for a new generation: a client that polls the status must not slow down indexing."""
        present = frozenset(root.id for root in self._roots if root.present)
        state = (self._store.generation, present)
        known = self._counted
        if known is None or known[0] != state:
            counts = self._readers.counts()
            if len(present) < len(self._roots):  # absent roots are kept, and not served
                counts = counts._replace(chunks=self._readers.chunks_of(present))
            known = self._counted = (state, counts)
        return known[1]

    def status(self) -> StatusResult:
        """Return the result of ``status``."""
        wrong = self.warnings()
        state, work = self._state(wrong), self._work()
        counts = self._counts()
        waiting = self._waiting(work.keys, counts)
        counted = [counts.roots[root.id] for root in self._roots if root.present and root.id in counts.roots]
        failed = sum(root.failed for root in counted)
        warnings = [*wrong, *failed_files(failed), *dead_letter_warnings(self._parts.exchange.dead_letters)]
        pool, embedding = self._parts.pool, self._parts.embedding
        bytes_done, pending_bytes = pool.sizes()
        return {
            "state": state,
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round(time.monotonic() - self._since, 3),
            "generation": work.generation,
            "pending": sum(self._pending(root.id, counts) for root in self._roots if root.present) + waiting.total(),
            "pending_bytes": pending_bytes,
            "files": sum(root.indexed for root in counted),
            "chunks": counts.chunks,
            "skipped": sum(root.skipped for root in counted),
            "failed": failed,
            "db_path": self._store.path,
            "db_bytes": _bytes_on_disk(self._store.path),
            "backend": self._parts.backend.name,
            "embedder": embedding.name,
            "vectors_pending": embedding.pending or 0,
            "documents_pending": self._parts.worker.conversions.pending(),
            "work": {
                "files_read": pool.files_read,
                "bytes_done": bytes_done,
                "files_chunked": pool.files_chunked,
                "files_parsed": self._parts.worker.conversions.files_parsed,
                "chunks_embedded": embedding.embedded,
            },
            "gateways": [{"host": host, "bytes_sent": sent} for host, sent in embedding.gateways],
            "roots": self._root_fields(work.roots, counts, waiting),
            "freshness": self._parts.latency.figures(),
            "warnings": warnings,
        }

    def roots(self) -> list[RootFields]:
        """Return the roots for ``roots/list``, as ``status`` has them, sorted by path."""
        work = self._work()
        counts = self._counts()
        return self._root_fields(work.roots, counts, self._waiting(work.keys, counts))

    def _work(self) -> _Work:
        generation = self._store.generation
        # The overflows before the state: a client that sees an overflow also sees its effect.
        seen = [_Seen(root, root.overflows, root.reported_state) for root in self._roots]
        return _Work(generation, seen, self._freshness.pending_keys())

    def _waiting(self, keys: set[Key], counts: Counts) -> Counter[int]:
        """Return, by root, the number of those paths that are not counted as pending rows."""
        if keys and any(root.pending for root in counts.roots.values()):
            keys -= self._readers.pending_among(keys) - self._parts.worker.conversions.pending_keys()
        return Counter(root_id for root_id, _ in keys)

    def _pending(self, root_id: int, counts: Counts) -> int:
        """Return the rows of a root that searches wait for: not those of documents, which ``documents_pending``
        counts."""
        counted = counts.roots.get(root_id)
        if counted is None:
            return 0
        documents = sum(key[0] == root_id for key in self._parts.worker.conversions.pending_keys())
        return max(0, counted.pending - documents)

    def _root_fields(self, roots: list[_Seen], counts: Counts, waiting: Counter[int]) -> list[RootFields]:
        return [self._root(seen, counts, waiting[seen.root.id]) for seen in sorted(roots, key=lambda s: s.root.path)]

    def _root(self, seen: _Seen, counts: Counts, waiting: int) -> RootFields:
        root, overflows, state = seen
        counted = counts.roots.get(root.id)
        return {
            **path_fields(root.path),
            "state": state,
            "watching": root.watching,
            "files": counted.indexed if counted else 0,
            "pending": self._pending(root.id, counts) + waiting,
            "overflows": overflows,
            "last_reconciled": None if root.last_reconciled is None else rfc3339_of_seconds(root.last_reconciled),
        }

    def _state(self, warnings: Warnings) -> ServerState:
        if any(item["code"] not in HARMLESS for item in warnings):
            return "degraded"
        if not self._freshness.begun.is_set():
            return "starting"
        if any(root.reported_state in ("indexing", "recovering") for root in self._roots):
            return "indexing"
        return "indexing" if self._parts.stuck.late() else "ready"

    def root_warnings(self) -> Warnings:
        """Return what is wrong with the roots now: it limits what a fresh answer can contain."""
        return root_warnings(self._parts)

    def warnings(self, failed: int = 0, before: Sequence[AnswerWarning] = ()) -> Warnings:
        """Return everything that is wrong now, each with its remedy.

        ``failed``: how many files could not be indexed. ``before``: the ``root_warnings`` before the answer was made;
        those that are over by now are returned too, because the answer may still be without what follows.
        """
        now = [found for check in CHECKS for found in check(self._parts)]
        return [*now, *(warned for warned in before if warned not in now), *failed_files(failed)]


def _bytes_on_disk(path: str) -> int:
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += os.stat(path + suffix).st_size
    return total
