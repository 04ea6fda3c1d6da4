"""Check that the index equals the disk: first that the index file is sound, then every file of the roots.

Invariant: each reported difference was observed, and ``repaired`` counts those that a second look finds correct. A
difference that reading the file again does not repair costs a new index. Searches and edits go on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import Any

import apsw

from livedex_daemon.answer.audit_pass import Auditor, AuditSources, Difference
from livedex_daemon.process.event_loop import on_loop
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_indexing.chunk.chunk_process import ChunkProcess
from livedex_indexing.path_text import path_fields
from livedex_indexing.store import counts
from livedex_indexing.store.database import IndexDamaged

log = logging.getLogger(__name__)

WAIT_S = 30.0  # for the commit of known changes, before the audit and before it confirms
PAGES = 1_000  # of the index file to check in one turn of the worker: about 4 ms
FOLD_TRIES = 50
FOLD_PAUSE_S = 0.1


class Findings:
    """``index``: the index file itself is damaged."""

    def __init__(self, *, index: bool = False, files: set[Difference] | None = None) -> None:
        self.index = index
        self.files = files or set()
        self.checked = 0

    @property
    def count(self) -> int:
        return self.index + len(self.files)


class Audits:
    """The method ``index/audit``."""

    def __init__(self, sources: AuditSources) -> None:
        self._sources = sources

    async def run(self, places: list[Key], *, whole: bool, repair: bool) -> dict[str, Any]:
        """Return the result of ``index/audit`` over ``places``.

        ``whole``: the places are all present roots, so check the index file too. Raise Unavailable when ``repair`` is
        set and the store cannot be written.
        """
        sources = self._sources
        if repair:
            await asyncio.wrap_future(sources.worker.submit(sources.worker.refuse_without_store))
        audit = Audit(sources)
        try:
            found = await audit.check(places, whole=whole)
            log.info("audited", extra={"checked": found.checked, "differences": found.count})
            repaired = await audit.repair(places, found, whole=whole) if repair and found.count else 0
        finally:
            await asyncio.to_thread(audit.close)
        index = [{"path": sources.index_file.store.path, "what": "damaged"}] if found.index else []
        files = [
            {**path_fields(_absolute(sources.roots, wrong.key)), "what": wrong.what} for wrong in sorted(found.files)
        ]
        return {"checked": found.checked, "differences": index + files, "repaired": repaired}


class Audit:
    """One audit. Call it on the event loop."""

    def __init__(self, sources: AuditSources) -> None:
        self._sources = sources
        self._chunker = ChunkProcess(nice=10)

    def close(self) -> None:
        self._chunker.close()

    async def check(self, places: list[Key], *, whole: bool) -> Findings:
        found = Findings()
        auditor = Auditor(self._sources, self._chunker)
        try:
            if whole:
                found.index = await self._pages_are_damaged()
                found.index = found.index or await asyncio.to_thread(self._structure_is_damaged)
            await asyncio.to_thread(auditor.check, places)
            found.files = await self._confirmed(auditor)
        except (IndexDamaged, apsw.Error):
            found.index = True  # too damaged to be read to the end
        found.checked = auditor.checked
        return found

    async def repair(self, places: list[Key], found: Findings, *, whole: bool) -> int:
        """Read the differing files again; build a new index if that does not help or the index file is damaged.

        Return the number of repaired differences.
        """
        worker, roots = self._sources.worker, self._sources.roots
        if not found.index:
            keys = sorted({difference.key for difference in found.files})
            await self._read_again(keys, force=True)
            if not (await self.check(keys, whole=False)).count:
                return found.count
        if not self._sources.index_file.health.rebuilding:  # else a new index is under way already
            await asyncio.wrap_future(worker.submit(partial(worker.check_and_rebuild, damaged=True)))
        await self._read_again([(root.id, b"") for root in roots if root.present], force=False)
        left = await self.check(places, whole=whole)
        return max(0, found.count - left.count)

    async def _pages_are_damaged(self) -> bool:
        """Return whether bytes of the index file changed after they were written. Each slice takes a worker turn."""
        store, worker = self._sources.index_file.store, self._sources.worker
        first, tries = 1, 0
        while first <= store.pages():
            damaged = await asyncio.wrap_future(worker.submit(partial(store.damaged_pages, first, PAGES)))
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
        second = Auditor(self._sources, self._chunker)
        await asyncio.to_thread(second.check, keys)
        return {
            difference
            for difference, stat in second.differences.items()
            if difference in first.differences and first.differences[difference] == stat
        }

    async def _read_again(self, keys: list[Key], *, force: bool) -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()
        for key in keys:
            self._sources.steps.backlog.mark(key, force=force, tree=True, now=True)
        self._sources.steps.backlog.wait(keys, on_loop(loop, done.set), background=True)
        await done.wait()


def _absolute(roots: Roots, key: Key) -> bytes:
    root = roots.get(key[0])
    return root.absolute(key[1]) if root is not None else key[1]
