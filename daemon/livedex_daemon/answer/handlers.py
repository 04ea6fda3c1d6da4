"""Answer each method of the socket with one short function that asks the responsible package.

Invariant: a handler changes nothing itself; it submits each change of roots, files or the index to the worker.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from livedex_daemon.answer import audit
from livedex_daemon.answer.audit import Audits
from livedex_daemon.answer.fresh_reads import FreshReads
from livedex_daemon.answer.freshness import UNSETTLED_WAIT_S
from livedex_daemon.answer.index_run import IndexRun
from livedex_daemon.answer.status_report import Health
from livedex_daemon.config import config_edit
from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.restart import Restart
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.write.worker import Worker
from livedex_indexing.path_text import display_path
from livedex_indexing.store.database import IndexUnwritable
from livedex_indexing.store.index_store import Store
from livedex_ipc import __version__, openrpc
from livedex_ipc.errors import InvalidParams, NotFound
from livedex_ipc.methods import PROTOCOL
from livedex_ipc.params import paths_bytes, required_path
from livedex_ipc.request_params import (
    AuditParams,
    IndexRunParams,
    NoParams,
    PathParams,
    PathsParams,
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
        path = required_path(params)
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
        path = os.fsdecode(required_path(params))
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
