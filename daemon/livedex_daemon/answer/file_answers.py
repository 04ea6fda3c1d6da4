"""Answer the methods about single files and lists of files: list, retrieve, explain and delete them.

Invariant: text and reasons are as fresh as the answer says; a path without text in the index is an error that says why.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial

from livedex_daemon.answer import audit
from livedex_daemon.answer.explanation import FOLDER, explain
from livedex_daemon.answer.fresh_reads import FreshReads, outside
from livedex_daemon.answer.freshness import fresh_fields
from livedex_daemon.answer.path_lookup import Lookup
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.worker import Worker
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import Chunk, FileRow, Place
from livedex_indexing.path_text import display_path, path_fields
from livedex_indexing.search import listing
from livedex_indexing.search.listing import FileChunks, FileList, FileRecord, ListRequest
from livedex_indexing.store.read_pool import Reader
from livedex_ipc.errors import InvalidParams, NotFound
from livedex_ipc.file_results import DeleteResult, ExplainResult, FileListResult, PathExplanation, RetrieveResult
from livedex_ipc.params import path_bytes, required_path
from livedex_ipc.request_params import ExplainParams, FileListParams, PathParams, RetrieveParams
from livedex_ipc.server.rpc_server import Call, Handler


class FileMethods:
    """The methods for single files and lists of files."""

    def __init__(self, reads: FreshReads, health: Health, roots: Roots, worker: Worker) -> None:
        self._reads = reads
        self._health = health
        self._roots = roots
        self._worker = worker

    def table(self) -> dict[str, Handler]:
        return {
            "files/list": self.files_list,
            "files/explain": self.files_explain,
            "files/retrieve": self.files_retrieve,
            "files/delete": self.files_delete,
        }

    async def files_list(self, call: Call, params: FileListParams) -> FileListResult[FileRecord]:
        timing = Timing.of(call, params)
        return await timing.within(self._list(timing, params))

    async def _list(self, timing: Timing, params: FileListParams) -> FileListResult[FileRecord]:
        before = self._health.root_warnings()
        root, scopes = path_bytes(params, "root"), await self._reads.scopes(params)
        root_id = None if root is None else (await self._reads.root_at(root, "root")).id
        places = None if scopes is None else tuple(scopes[1])
        request = ListRequest(root_id, places, params["glob"], params["status"], params["limit"], params["offset"])
        roots = self._reads.root_paths()

        def read(reader: Reader) -> FileList:
            return listing.list_files(reader, request, roots)

        found, state = await self._reads.fresh(lambda: self._reads.read(read, timing), timing, places)
        warnings = [*self._health.warnings(before=before), *found.warnings]
        return {"files": found.files, "total": found.total, "warnings": warnings, **fresh_fields(state)}

    async def files_retrieve(self, call: Call, params: RetrieveParams) -> RetrieveResult[Chunk]:
        timing = Timing.of(call, params)
        return await timing.within(self._retrieve(timing, params))

    async def _retrieve(self, timing: Timing, params: RetrieveParams) -> RetrieveResult[Chunk]:
        root, relative = await self._place(params)
        path = root.absolute(relative)
        if not root.present:
            raise await self._not_indexed(root, relative, timing)
        place = Place(root.id, relative)
        roots = self._reads.root_paths()
        first, last = params["start_line"] or 1, params["end_line"]
        if last is not None and last < first:
            raise InvalidParams(f"end_line {last} is before start_line {first}", {"field": "end_line"})

        async def read() -> tuple[FileChunks | None, Stale]:
            return await self._reads.read(
                lambda reader: listing.retrieve(reader, place, roots, start_line=first, end_line=last), timing
            )

        try:
            found, state = await self._reads.settled(read, timing, [place])
        except NotFound as error:
            raise await self._not_indexed(root, relative, timing) from error
        if found is None:
            raise _just_changed(path)
        return {
            **path_fields(path),
            "content_hash": found.content_hash,
            "chunks": found.chunks,
            **fresh_fields(state),
        }

    async def _not_indexed(self, root: Root, relative: bytes, timing: Timing) -> NotFound:
        """Return the error of a path that has no text in the index, with the reason."""
        place = (root.id, relative)
        why, state = await self._reads.fresh(lambda: self._explain(root, relative, timing), timing, [place])
        path = root.absolute(relative)
        is_folder = why["reason"] == FOLDER
        if why["status"] == "indexed" and not is_folder:
            return _just_changed(path)
        cause = why["reason"] if why["status"] == "outside" else ": ".join(filter(None, (why["status"], why["reason"])))
        stale = "; not fresh: it may have changed since" if state.reason is not None else ""
        message = f"{display_path(path)} is not indexed: {cause}{stale}"
        if is_folder:
            message = f"{display_path(path)} is a folder: `livedex list` shows its files"
        return NotFound(message, {"status": why["status"], "reason": why["reason"], "fresh": state.fresh})

    async def _place(self, params: PathParams) -> tuple[Root, bytes]:
        """Return the root that contains the params' ``path``, and the path relative to it. Raise OutsideRoots."""
        given = required_path(params)
        ((path, _),) = await self._reads.resolve([given], "path")
        found = self._roots.locate(path)
        if found is None:
            raise outside(given, "path")
        return found

    async def files_explain(self, call: Call, params: ExplainParams) -> ExplainResult:
        timing = Timing.of(call, params)
        return await timing.within(self._explained(timing, params))

    async def _explained(self, timing: Timing, params: ExplainParams) -> ExplainResult:
        path = await self._itself(required_path(params))
        found = self._roots.locate(path)
        if found is None:
            reason = "no root contains it"
            return {**path_fields(path), "status": "outside", "reason": reason, "rule": None, "fresh": True}
        place = (found[0].id, found[1])
        explained, state = await self._reads.fresh(lambda: self._explain(*found, timing), timing, [place])
        return {**explained, "fresh": state.fresh}  # ``reason`` is the path's

    async def _itself(self, path: bytes) -> bytes:
        """Return the path of the entry itself: for a link inside a root the link, for a link elsewhere its target."""

        def look(lookup: Lookup) -> bytes:
            here = lookup.entry(path)
            return here if self._roots.locate(here) is not None else lookup.real(path)

        await self._reads.roots_known()
        return await self._reads.lookups.run(path, look)

    async def _explain(self, root: Root, relative: bytes, timing: Timing) -> PathExplanation:
        def read_row(reader: Reader) -> tuple[FileRow | None, str | None]:
            row = listing.find_row(reader, Place(root.id, relative))
            return row, None if row is None else listing.frontmatter_fault(reader, row)

        row, fault = await self._reads.read(read_row, timing)
        return await self._reads.in_thread(lambda _ended: explain(root, relative, row, fault), timing)

    async def files_delete(self, _call: Call, params: PathParams) -> DeleteResult:
        path = await self._itself(required_path(params))
        found = self._roots.locate(path)
        places = [found] if found is not None else [(root, b"") for root in self._roots.inside(path)]
        if not places:
            raise outside(path, "path")
        await self._reads.freshness.ensure(
            [(root.id, relative) for root, relative in places], time.monotonic() + audit.WAIT_S, everything=True
        )
        worker = self._worker
        deleted = 0
        for root, relative in places:
            deleted += await asyncio.wrap_future(worker.submit(partial(worker.forget, root, relative)))
        if not deleted:
            raise NotFound(f"{display_path(path)} is not indexed; `livedex why` shows the reason", {"field": "path"})
        return {"deleted": deleted}


def _just_changed(path: bytes) -> NotFound:
    message = f"{display_path(path)} is being indexed again: it has just changed"
    return NotFound(message, {"status": "pending", "reason": "unsettled", "fresh": False})
