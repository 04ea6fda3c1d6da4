"""Check that the index equals the disk: first that the index file is sound, then every file of the roots.

Invariant: each reported difference was observed, and ``repaired`` counts those that a second look finds correct. A
difference that reading the file again does not repair costs a new index. Searches and edits go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import apsw

from livedex_daemon.answer.audit_pass import Auditor, AuditSources, Difference
from livedex_daemon.answer.progress_value import progress_value
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.event_loop import on_loop
from livedex_daemon.watch.backlog import Key, Mark
from livedex_indexing.chunk.chunk_process import ChunkProcess
from livedex_indexing.model import Place
from livedex_indexing.path_text import path_fields
from livedex_indexing.search import listing
from livedex_indexing.store import counts
from livedex_indexing.store.database import IndexDamaged
from livedex_indexing.store.read_pool import PoolClosed
from livedex_ipc.amount import Amount
from livedex_ipc.wire_results import AuditResult, DifferenceFields, ProgressValue

log = logging.getLogger(__name__)

WAIT_S = 30.0  # for the commit of known changes, before the audit and before it confirms
PAGES = 1_000  # of the index file to check in one turn of the worker: about 4 ms
FOLD_TRIES = 50
FOLD_PAUSE_S = 0.1
PROGRESS_EVERY_S = 0.1

T = TypeVar("T")
Report = Callable[[ProgressValue], None]


class Findings:
    """``index``: the index file itself is damaged."""

    def __init__(self) -> None:
        self.index = False
        self.files: set[Difference] = set()
        self.checked = 0

    @property
    def count(self) -> int:
        return self.index + len(self.files)


class Audits:
    """The method ``index/audit``."""

    def __init__(self, sources: AuditSources) -> None:
        self._sources = sources
        self._one_at_a_time = asyncio.Lock()

    async def run(self, places: list[Key], report: Report, *, whole: bool, repair: bool) -> AuditResult:
        """Return the result of ``index/audit`` over ``places``; ``report`` gets how far it has come.

        ``whole``: the places are all present roots, so check the index file too. Raise Unavailable when ``repair`` is
        set and the store cannot be written.
        """
        sources = self._sources
        async with self._one_at_a_time:  # each reads every file
            audit = Audit(sources, report)
            try:
                found = Findings()
                if repair:
                    await audit.prove_writable(found)
                await audit.check(places, found, whole=whole)
                log.info("audited", extra={"checked": found.checked, "differences": found.count})
                repaired = await audit.repair(places, found, whole=whole) if repair and found.count else 0
            finally:
                audit.end()
                await in_daemon_thread(audit.close, "audit-end")
        differences: list[DifferenceFields] = []
        if found.index:
            differences.append({"path": sources.index_file.store.path, "what": "damaged"})
        for wrong in sorted(found.files):
            differences.append({**path_fields(sources.roots.absolute(*wrong.key)), "what": wrong.what})
        return {"checked": found.checked, "differences": differences, "repaired": repaired}


class Audit:
    """One audit. Call it on the event loop."""

    def __init__(self, sources: AuditSources, report: Report) -> None:
        self._sources = sources
        self._report = report
        self._chunker = ChunkProcess(nice=10)
        self._former = sources.index_file.readers.current
        self._chunking = threading.Lock()
        self._ended = threading.Event()

    def end(self) -> None:
        """Have the pass under way end at its next file."""
        self._ended.set()

    def close(self) -> None:
        """End the chunk process, after the pass that uses it."""
        with self._chunking:
            self._chunker.close()

    async def prove_writable(self, found: Findings) -> None:
        """Raise Unavailable when the store cannot be written; damage is a finding."""
        with self._finding(found):
            await self._on_worker(self._sources.worker.refuse_without_store)

    async def check(self, places: list[Key], found: Findings, *, whole: bool) -> None:
        """Check the index file if ``whole``, then the files; add to ``found`` what is wrong."""
        auditor = Auditor(self._sources, self._chunker, self._ended)
        with self._finding(found):
            if whole:
                await self._check_index_file(found)
            await self._reported(auditor, places)
            found.files = await self._confirmed(auditor)
        found.checked = auditor.checked

    async def _reported(self, auditor: Auditor, places: list[Key]) -> None:
        """Compare the files, and report how many there are and how many were compared."""
        total = await in_daemon_thread(lambda: self._files_in(places), "audit")
        self._report(progress_value("begin", Amount(0), total))
        comparison = asyncio.ensure_future(self._in_thread(auditor, places))
        try:
            while not comparison.done():
                await asyncio.wait({comparison}, timeout=PROGRESS_EVERY_S)
                self._report(progress_value("report", auditor.amount, total))
            await comparison
        finally:
            comparison.cancel()
        self._report(progress_value("end", auditor.amount, total))

    def _files_in(self, places: list[Key]) -> Amount:
        with self._sources.index_file.readers.current.readers.connection() as reader:
            return Amount(*listing.count_files(reader, [Place(*place) for place in places]))

    async def _check_index_file(self, found: Findings) -> None:
        check_and_rebuild = self._sources.worker.check_and_rebuild
        found.index = found.index or await self._on_worker(check_and_rebuild)  # True: lost, a new one is under way
        found.index = found.index or await self._pages_are_damaged()
        found.index = found.index or await in_daemon_thread(self._structure_is_damaged, "audit")

    @contextlib.contextmanager
    def _finding(self, found: Findings) -> Iterator[None]:
        """Take damage as a finding: the index is too damaged to be read to the end."""
        try:
            yield
        except (IndexDamaged, PoolClosed, apsw.Error):
            found.index = True

    async def _on_worker(self, action: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._sources.worker.submit(action))

    async def repair(self, places: list[Key], found: Findings, *, whole: bool) -> int:
        """Read the differing files again; build a new index if that does not help or the index file is damaged.

        Return the number of repaired differences.
        """
        roots = self._sources.roots
        if not found.index:
            keys = sorted({difference.key for difference in found.files})
            await self._read_again(keys, force=True)
            if not await self._left(keys, whole=False):
                return found.count
        await self._on_worker(self._begin_new_index)
        await self._read_again([(root.id, b"") for root in roots if root.present], force=False)
        return max(0, found.count - await self._left(places, whole=whole))

    def _begin_new_index(self) -> None:
        """Begin a new index unless the worker did so since the audit began: it does when its own reads meet damage."""
        index = self._sources.index_file
        if index.readers.current is self._former and not index.health.rebuilding:
            self._sources.worker.check_and_rebuild(damaged=True)

    async def _left(self, places: list[Key], *, whole: bool) -> int:
        left = Findings()
        await self.check(places, left, whole=whole)
        return left.count

    async def _in_thread(self, auditor: Auditor, places: list[Key]) -> None:
        def check() -> None:
            with self._chunking:
                auditor.check(places)

        await in_daemon_thread(check, "audit")

    async def _pages_are_damaged(self) -> bool:
        """Return whether bytes of the index file changed after they were written. Each slice takes a worker turn."""
        store = self._sources.index_file.store
        first, tries = 1, 0
        while first <= await self._on_worker(store.pages):
            damaged = await self._on_worker(partial(store.damaged_pages, first, PAGES))
            if damaged:
                return True
            if damaged is not None:
                first += PAGES
            elif tries < FOLD_TRIES:
                tries += 1
                await asyncio.sleep(FOLD_PAUSE_S)
            else:
                break
        return False

    def _structure_is_damaged(self) -> bool:
        """Return whether the tables disagree, in one snapshot of the index; searches run on, the writer is not used."""
        faults = counts.faults(self._sources.index_file.readers.current.readers)
        if faults:
            log.warning("index_unsound", extra={"faults": faults})
        return bool(faults)

    async def _confirmed(self, first: Auditor) -> set[Difference]:
        """Return the differences that remain after all known changes are stored, in files unchanged in the meantime."""
        if not first.differences:
            return set()
        keys = sorted({difference.key for difference in first.differences})
        await self._sources.freshness.ensure(keys, time.monotonic() + WAIT_S, everything=True)
        second = Auditor(self._sources, self._chunker, self._ended)
        await self._in_thread(second, keys)
        return {
            difference
            for difference, stat in second.differences.items()
            if difference in first.differences and first.differences[difference] == stat
        }

    async def _read_again(self, keys: list[Key], *, force: bool) -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        for key in keys:
            self._sources.steps.backlog.mark(key, Mark(force=force, tree=True, now=True))
        self._sources.steps.backlog.wait(keys, on_loop(loop, done.set), background=True)
        await done.wait()
