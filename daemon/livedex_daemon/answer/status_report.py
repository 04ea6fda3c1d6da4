"""Says how the daemon is: counts, states, measured freshness, and each thing that is wrong with its remedy.

Invariant: the state is ``ready`` only while no promise is known to be broken; every figure is measured.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from shlex import quote
from typing import Any

from livedex_daemon.answer.freshness import Freshness
from livedex_daemon.index_file.rebuild import Rebuilder
from livedex_daemon.process.socket_guard import SocketGuard
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.worker import Worker
from livedex_indexing.hits.answer_json import rfc3339, warning
from livedex_indexing.model import Counts
from livedex_indexing.path_text import display_path, path_fields
from livedex_ipc import __version__

SAMPLES = 1000
HARMLESS = frozenset(("files_failed", "parser_missing", "plugin_refused"))  # these do not break a promise


class FreshnessFigures:
    """From hearing of a change to its commit, in seconds: the last 1,000 changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._samples: deque[float] = deque(maxlen=SAMPLES)

    def add(self, now: float, event_times: Iterable[float]) -> None:
        with self._lock:
            self._samples.extend(now - at for at in event_times)

    def figures(self) -> dict[str, float | int | None]:
        with self._lock:
            ordered = sorted(self._samples)
        if not ordered:
            return {"p50_ms": None, "p99_ms": None, "samples": 0}
        return {
            "p50_ms": round(ordered[len(ordered) // 2] * 1000, 3),
            "p99_ms": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)] * 1000, 3),
            "samples": len(ordered),
        }


class Health:
    """Asked on the event loop; the counts come from a thread that reads the index."""

    def __init__(
        self,
        worker: Worker,
        freshness: Freshness,
        figures: FreshnessFigures,
        counts: Callable[[], Counts],
        chunks_of: Callable[[Iterable[int]], int],
        db_path: str,
        rebuilder: Rebuilder,
    ) -> None:
        self.started = False
        self.socket_guard: SocketGuard | None = None
        self.config_fault: str | None = None
        self.left_alone = 0  # files that are not read because the daemon crashed over them
        self._rebuilder = rebuilder
        self.watch_fault: str | None = None
        self._worker = worker
        self._freshness = freshness
        self._figures = figures
        self._count = counts
        self._chunks_of = chunks_of
        self._counted: tuple[tuple[int, frozenset[int]], Counts] | None = None
        self._db_path = db_path
        self._since = time.monotonic()

    def _counts(self) -> Counts:
        """Counted anew only for a new generation: who follows the status must not slow down what is followed."""
        present = frozenset(root.id for root in self._worker.roots if root.present)
        state = (self._worker.store.generation, present)
        known = self._counted
        if known is None or known[0] != state:
            counts = self._count()
            if len(present) < len(self._worker.roots):  # what is not there is kept, and not served
                counts = counts._replace(chunks=self._chunks_of(present))
            known = self._counted = (state, counts)
        return known[1]

    def status(self) -> dict[str, Any]:
        """The result of ``status``."""
        counts = self._counts()
        held = [counts.roots[root.id] for root in self._worker.roots if root.present and root.id in counts.roots]
        failed = sum(root.failed for root in held)
        warnings = self.warnings(failed)
        pool = self._worker.pool
        return {
            "state": self._state(warnings),
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round(time.monotonic() - self._since, 3),
            "generation": self._worker.store.generation,
            "pending": sum(root.pending for root in held) + self._freshness.pending(),
            "files": sum(root.indexed for root in held),
            "chunks": counts.chunks,
            "skipped": sum(root.skipped for root in held),
            "failed": failed,
            "db_path": self._db_path,
            "db_bytes": _bytes_on_disk(self._db_path),
            "backend": "sqlite",
            "embedder": None,
            "vectors_pending": 0,
            "documents_pending": 0,
            "work": {
                "files_read": pool.files_read if pool else 0,
                "files_chunked": pool.files_chunked if pool else 0,
                "files_parsed": 0,
                "chunks_embedded": 0,
            },
            "roots": self.roots(counts),
            "freshness": self._figures.figures(),
            "warnings": warnings,
        }

    def roots(self, counts: Counts | None = None) -> list[dict[str, Any]]:
        """The roots as ``status`` and ``roots/list`` give them, by path."""
        known = counts or self._counts()
        return [self._root(root, known) for root in sorted(self._worker.roots, key=lambda root: root.path)]

    def _root(self, root: Root, counts: Counts) -> dict[str, Any]:
        held = counts.roots.get(root.id)
        overflows = root.overflows  # before the state: whoever sees one sees what it led to
        return {
            **path_fields(root.path),
            "state": root.reported_state,
            "watching": root.watching,
            "files": held.indexed if held else 0,
            "pending": (held.pending if held else 0) + self._freshness.pending([(root.id, b"")]),
            "overflows": overflows,
            "last_reconciled": _time_text(root.last_reconciled),
        }

    def _state(self, warnings: list[dict[str, str]]) -> str:
        if any(item["code"] not in HARMLESS for item in warnings):
            return "degraded"
        if not self.started:
            return "starting"
        if any(root.reported_state in ("indexing", "recovering") for root in self._worker.roots):
            return "indexing"
        return "ready"

    def warnings(self, failed: int = 0) -> list[dict[str, str]]:
        """Everything that is wrong now, each with its remedy."""
        found: list[dict[str, str]] = []
        for root in self._worker.roots:
            found += _root_warnings(root)
        fault = self._worker.store_fault
        if fault is not None:
            found.append(_store_warning(type(fault.__cause__).__name__, self._db_path))
        if not self._worker.alive() and self.started:
            found.append(
                warning("worker_dead", "nothing is indexed any more: the worker ended", "run `livedex down`, then up")
            )
        elif self._worker.turn_fault is not None:
            found.append(
                warning(
                    "worker_dead",
                    f"what has changed cannot be indexed: each try ends with {self._worker.turn_fault}",
                    "see the log for the cause; what changed lately is in the way",
                )
            )
        pool = self._worker.pool
        if pool is not None and pool.worker_fault is not None:
            found.append(
                warning(
                    "chunk_worker",
                    f"new text cannot be indexed: the chunk worker ends at once ({pool.worker_fault})",
                    "run `livedex doctor`, or install livedex again",
                )
            )
        if self.socket_guard is not None and self.socket_guard.fault is not None:
            found.append(
                warning(
                    "socket_lost",
                    f"new clients cannot connect: {self.socket_guard.fault}",
                    f"move away what stands at {self.socket_guard.path}, or make its folder again; the rest follows",
                )
            )
        if self.config_fault is not None:
            found.append(
                warning(
                    "config_refused",
                    f"the configuration was changed and is refused: {self.config_fault}; the former one is in force",
                    "run `livedex config validate` and correct what it names",
                )
            )
        if self.left_alone:
            found.append(
                warning(
                    "safe_mode",
                    f"{self.left_alone} of the files are left alone: the daemon crashed three times while reading them",
                    "run `livedex list --status failed`; change or ignore them, then `livedex down` and `livedex up`",
                )
            )
        if self._rebuilder.under_way:
            found.append(
                warning(
                    "index_rebuilding",
                    "the index was damaged, lost or replaced and is being built anew",
                    "nothing: it ends by itself",
                )
            )
        if failed:
            found.append(
                warning(
                    "files_failed",
                    f"{failed} file{'s' if failed != 1 else ''} could not be indexed",
                    "run `livedex list --status failed` for the reasons",
                )
            )
        return found


def _bytes_on_disk(path: str) -> int:
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += os.stat(path + suffix).st_size
    return total


def _root_warnings(root: Root) -> list[dict[str, str]]:
    path = display_path(root.path)
    if root.state == "missing":
        return [
            warning(
                "root_missing",
                f"{path} is not there; its entries are kept for 24 hours and not served",
                f"mount or create it, or run `livedex roots remove {quote(path)}`",
            )
        ]
    if root.state == "denied":
        return [warning("root_denied", f"{path} may not be read", f"give this user the right to read {path}")]
    found: list[dict[str, str]] = []
    for path, why in root.rules.faults().items():
        found.append(
            warning("ignore_file", f"{path} does not count in full: {why}", "make it a small regular text file")
        )
    if root.refused:
        found.append(
            warning(
                "watch_limit",
                f"{path} could not be watched and is polled instead"
                if b"" in root.refused
                else f"{len(root.refused)} folders of {path} could not be watched and are polled instead",
                "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)",
            )
        )
    return found


def _store_warning(error: str, db_path: str) -> dict[str, str]:
    if error == "FullError":
        return warning("disk_full", f"no room to write {db_path}: indexing waits", "free some space on its disk")
    if error == "BusyError":
        return warning(
            "store_busy",
            f"another program holds {db_path} locked: indexing waits",
            f"end what holds it; `fuser {db_path}` names it",
        )
    return warning(
        "backend_unavailable",
        f"{db_path} cannot be written ({error}): indexing waits",
        "see that its disk is whole and writable",
    )


def _time_text(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(round(seconds * 1e6) * 1000)
