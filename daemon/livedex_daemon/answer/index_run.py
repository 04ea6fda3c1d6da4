"""Carry out ``index/run``: mark the places, report progress, and count the outcomes.

Invariant: the counts are final when the answer is sent, because every marked place is committed before; documents that
are still to be converted are counted apart.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Literal

from livedex_daemon.answer.backend_change import BackendChange
from livedex_daemon.answer.progress_value import progress_value
from livedex_daemon.process.event_loop import on_loop
from livedex_daemon.watch.backlog import Backlog, Key, Mark
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.run_progress import RunProgress
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.worker import Worker
from livedex_indexing.path_text import display_path, path_fields
from livedex_ipc.amount import Amount
from livedex_ipc.errors import Unavailable
from livedex_ipc.server.rpc_server import Call
from livedex_ipc.wire_results import FailedFile, IndexRunResult, ProgressValue

PROGRESS_EVERY_S = 0.1
_MESSAGES = {
    "denied": "this user may not read it",
    "unsettled": "it changes while it is read; livedex tries again",
    "missing": "the root is missing: mount or create it; livedex keeps its entries for 24 hours",
}


class IndexRun:
    def __init__(
        self, worker: Worker, backlog: Backlog, roots: Roots, store_health: StoreHealth, change: BackendChange
    ) -> None:
        self._worker = worker
        self._change = change
        self._backlog = backlog
        self._roots = roots
        self._store_health = store_health
        self._one_at_a_time = asyncio.Lock()

    async def run(self, call: Call, places: list[Key], *, force: bool, backend: str | None) -> IndexRunResult:
        """Return the result of ``index/run`` over ``places``. ``backend``: switch to this one first, None: to none.

        Raise Unavailable when the store cannot be written, at the start or before the end, or no file can be chunked:
        the marks wait for it.
        """
        began = time.monotonic()
        await asyncio.wrap_future(self._worker.submit(self._worker.refuse_without_store))
        async with self._one_at_a_time:  # so that each run counts its own work
            if backend is not None:
                await self._change.to(call, backend)
            return await self._run(call, places, force, RunProgress(), began)

    async def _run(
        self, call: Call, places: list[Key], force: bool, progress: RunProgress, began: float
    ) -> IndexRunResult:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        for key in places:
            self._backlog.mark(key, Mark(tree=True, force=force, now=True, progress=progress))
        self._backlog.wait(places, on_loop(loop, done.set), background=True)
        call.progress(self._report("begin", progress))
        while not done.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), PROGRESS_EVERY_S)
                break
            call.progress(self._report("report", progress))
            fault = self._store_health.fault
            if fault is not None:
                raise fault
        call.progress(self._report("end", progress))
        if progress.no_worker is not None:
            message = f"files wait to be indexed: the chunk worker does not run ({progress.no_worker})"
            raise Unavailable(f"{message}; `livedex status` names the remedy")
        return self._result(places, progress, began)

    def _report(self, kind: Literal["begin", "report", "end"], progress: RunProgress) -> ProgressValue:
        files = progress.indexed + progress.skipped + progress.removed + len(progress.failed)
        path = display_path(self._roots.absolute(*progress.last)) if progress.last is not None else None
        done, expected = Amount(files, progress.read_bytes), Amount(progress.expected, progress.expected_bytes)
        return progress_value(kind, done, expected, path)

    def _result(self, places: list[Key], progress: RunProgress, began: float) -> IndexRunResult:
        files: list[FailedFile] = [
            {
                **path_fields(self._roots.absolute(*key)),
                "stage": stage,
                "message": message or _MESSAGES.get(stage, stage),
            }
            for key, stage, message in progress.failed
        ]
        return {
            "scanned": progress.scanned,
            "indexed": progress.indexed,
            "unchanged": progress.unchanged,
            "skipped": progress.skipped,
            "removed": progress.removed,
            "failed": self._absent(places) + files,
            "documents_pending": self._worker.conversions.pending(places),
            "took_ms": round((time.monotonic() - began) * 1000, 3),
        }

    def _absent(self, places: list[Key]) -> list[FailedFile]:
        """Return the requested roots that are not present: none of their files was examined."""
        root_ids = {root_id for root_id, _ in places}
        return [
            {**path_fields(root.path), "stage": root.state, "message": _MESSAGES.get(root.state, root.state)}
            for root in self._roots
            if root.id in root_ids and not root.present
        ]
