"""Answer each method of the socket with one short function that asks the responsible package.

Invariant: a handler changes nothing itself; it submits each change of roots, files or the index to the worker.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from livedex_daemon.answer import audit
from livedex_daemon.answer.audit import Audits
from livedex_daemon.answer.explanation import FOLDER, explain
from livedex_daemon.answer.fresh_reads import FreshReads, outside
from livedex_daemon.answer.freshness import UNSETTLED_WAIT_S, fresh_fields
from livedex_daemon.answer.index_run import IndexRun
from livedex_daemon.answer.path_lookup import Lookup
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.config import config_edit
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.restart import Restart
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.worker import Worker
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import Chunk, FileRow, Place
from livedex_indexing.path_text import display_path, path_fields
from livedex_indexing.search import listing
from livedex_indexing.search.listing import FileChunks, FileList, FileRecord, ListRequest
from livedex_indexing.store.database import IndexUnwritable
from livedex_indexing.store.index_store import Store
from livedex_indexing.store.read_pool import Reader
from livedex_ipc import __version__, openrpc
from livedex_ipc.errors import InvalidParams, NotFound
from livedex_ipc.file_results import DeleteResult, ExplainResult, FileListResult, PathExplanation, RetrieveResult
from livedex_ipc.methods import PROTOCOL, path_bytes, paths_bytes
from livedex_ipc.request_params import (
    AuditParams,
    ExplainParams,
    FileListParams,
    IndexRunParams,
    NoParams,
    PathParams,
    PathsParams,
    RetrieveParams,
    RootsAddParams,
    SyncParams,
)
from livedex_ipc.server.rpc_server import Call, Handler
from livedex_ipc.wire_results import (
    AuditResult,
    Empty,
    IndexRunResult,
    RestartResult,
    RootsResult,
    ServerInfo,
    StatusResult,
    SyncResult,
)


class ServerMethods:
    """The methods of the server itself."""

    def __init__(
        self,
        watching: EventSource,
        reload: Callable[[], Awaitable[None]],
        stop: Callable[[], None],
        restart: Restart,
        config_path: str,
    ) -> None:
        self._config_path = config_path
        self._watching = watching
        self._reload = reload
        self._stop = stop
        self._restart = restart

    def table(self) -> dict[str, Handler]:
        return {
            "server/info": self.info,
            "server/ping": self.ping,
            "server/reload": self.reload,
            "server/shutdown": self.shutdown,
            "server/restart": self.restart,
            "rpc.discover": self.discover,
        }

    async def info(self, _call: Call, _params: NoParams) -> ServerInfo:
        watcher = self._watching.watcher
        barrier = watcher.barrier_kind if watcher is not None else "exact"  # a walk before each answer is exact
        return {
            "name": "livedex",
            "version": __version__,
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "config_path": os.fsencode(self._config_path).decode("utf-8", "replace"),
            "capabilities": {"barrier": barrier},
        }

    async def ping(self, _call: Call, _params: NoParams) -> Empty:
        return {}

    async def reload(self, _call: Call, _params: NoParams) -> Empty:
        await self._reload()
        return {}

    async def shutdown(self, _call: Call, _params: NoParams) -> Empty:
        asyncio.get_running_loop().call_later(0.01, self._stop)  # send the answer first
        return {}

    async def restart(self, _call: Call, _params: NoParams) -> RestartResult:
        self._restart.request()
        asyncio.get_running_loop().call_later(0.01, self._restart.end_if_idle)
        return {"ending": self._restart.is_due}

    async def discover(self, _call: Call, _params: NoParams) -> dict[str, Any]:
        return openrpc.document(__version__)


class RootMethods:
    """The methods of the daemon's state and its roots."""

    def __init__(
        self,
        reads: FreshReads,
        health: Health,
        worker: Worker,
        reload: Callable[[], Awaitable[None]],
        config_path: str,
    ) -> None:
        self._reads = reads
        self._health = health
        self._worker = worker
        self._reload = reload
        self._config_path = config_path

    def table(self) -> dict[str, Handler]:
        return {
            "status": self.status,
            "roots/list": self.roots_list,
            "roots/add": self.roots_add,
            "roots/remove": self.roots_remove,
        }

    async def status(self, _call: Call, _params: NoParams) -> StatusResult:
        return await self._reads.state(self._health.status)

    async def roots_list(self, _call: Call, _params: NoParams) -> RootsResult:
        await self._reads.roots_known()
        return await self._listed()

    async def _listed(self) -> RootsResult:
        return {"roots": await self._reads.state(self._health.roots)}

    async def roots_add(self, _call: Call, params: RootsAddParams) -> RootsResult:
        path = _required_path(params)
        lookups = self._reads.lookups
        if not await lookups.run(path, lambda lookup: lookup.is_folder(lookup.real(path))):
            exists = await lookups.run(path, lambda lookup: lookup.exists(lookup.entry(path)))
            state = "is not a folder" if exists else "does not exist"
            raise InvalidParams(f"{display_path(path)} {state}: a root must be an existing folder", {"field": "path"})
        await self._prove_writable()
        await self._reload()  # a file that is refused is no base for an edit: what it lost would be lost for good
        config = self._config_path
        added = await in_daemon_thread(
            lambda: config_edit.add_root(config, os.fsdecode(path), tuple(params["ignore"])), "configuration"
        )
        try:
            await self._reload()
        except IndexUnwritable:
            if added:  # a refused request must change nothing
                await in_daemon_thread(lambda: config_edit.remove_root(config, os.fsdecode(path)), "configuration")
            raise
        return await self._listed()

    async def roots_remove(self, _call: Call, params: PathParams) -> RootsResult:
        path = os.fsdecode(_required_path(params))
        await self._prove_writable()
        try:
            await in_daemon_thread(lambda: config_edit.remove_root(self._config_path, path), "configuration")
        except NotFound:
            await self._reload()  # a file that is refused may have lost it: then that is said
            raise
        await self._reload()
        return await self._listed()

    async def _prove_writable(self) -> None:
        """Raise IndexUnwritable before any change that the index could not store."""
        await asyncio.wrap_future(self._worker.submit(self._worker.refuse_without_store))


class IndexMethods:
    """The methods for indexing on demand."""

    def __init__(self, reads: FreshReads, store: Store, roots: Roots, runs: IndexRun, audits: Audits) -> None:
        self._reads = reads
        self._store = store
        self._roots = roots
        self._runs = runs
        self._audits = audits

    def table(self) -> dict[str, Handler]:
        return {"sync": self.sync, "index/run": self.index_run, "index/audit": self.index_audit}

    async def sync(self, _call: Call, params: SyncParams) -> SyncResult:
        began = time.monotonic()
        deadline = began + params["timeout_ms"] / 1000
        state = await self._reads.freshness.ensure(None, deadline, everything=True)
        while state.reason == "unsettled" and time.monotonic() < deadline:
            await asyncio.sleep(UNSETTLED_WAIT_S)
            state = await self._reads.freshness.ensure(None, deadline, everything=True)
        return {
            "synced": state.fresh,
            "pending": state.pending,
            "generation": self._store.generation,
            "waited_ms": round((time.monotonic() - began) * 1000, 3),
        }

    async def index_run(self, call: Call, params: IndexRunParams) -> IndexRunResult:
        await self._reads.roots_known()
        places = await self._places(params) if paths_bytes(params) else [(root.id, b"") for root in self._roots]
        return await self._runs.run(call, places, force=params["force"], backend=params["backend"])

    async def index_audit(self, call: Call, params: AuditParams) -> AuditResult:
        await self._reads.roots_known()
        places = await self._places(params)
        await self._reads.freshness.ensure(places, time.monotonic() + audit.WAIT_S, everything=True)
        return await self._audits.run(places, call.progress, whole=not paths_bytes(params), repair=params["repair"])

    async def _places(self, params: PathsParams) -> list[tuple[int, bytes]]:
        """Return the params' ``paths`` as keys; all present roots without them. Raise OutsideRoots."""
        given = paths_bytes(params)
        if not given:
            return [(root.id, b"") for root in self._roots if root.present]
        return [place for _, places in await self._reads.resolve(given, "paths") for place in places]


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
        given = _required_path(params)
        ((path, _),) = await self._reads.resolve([given], "path")
        found = self._roots.locate(path)
        if found is None:
            raise outside(given, "path")
        return found

    async def files_explain(self, call: Call, params: ExplainParams) -> ExplainResult:
        timing = Timing.of(call, params)
        return await timing.within(self._explained(timing, params))

    async def _explained(self, timing: Timing, params: ExplainParams) -> ExplainResult:
        path = await self._itself(_required_path(params))
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
        path = await self._itself(_required_path(params))
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


def _required_path(params: PathParams) -> bytes:
    path = path_bytes(params)
    if path is None:
        raise InvalidParams("the param 'path' is missing: give an absolute path", {"field": "path"})
    return path
