"""Answers each method of the socket: one short function a method, which asks the room that knows.

Invariant: a handler changes nothing itself; what touches roots, files or the index is an order to the worker.
"""

from __future__ import annotations

import asyncio
import os
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from livedex_daemon.answer import audit
from livedex_daemon.answer.explanation import explain
from livedex_daemon.answer.fresh_reads import Answering, outside
from livedex_daemon.answer.freshness import FreshState
from livedex_daemon.answer.index_run import IndexRun
from livedex_daemon.answer.subscription_methods import Subscribing
from livedex_daemon.config import config_edit
from livedex_daemon.watch.root_table import Root, resolve
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import FileRow, Place
from livedex_indexing.path_text import display_path, path_fields
from livedex_indexing.search import listing
from livedex_indexing.search.listing import FileChunks, ListRequest
from livedex_indexing.store.database import IndexUnwritable
from livedex_indexing.store.read_pool import Reader
from livedex_ipc import __version__, openrpc
from livedex_ipc.errors import InvalidParams, NotFound
from livedex_ipc.methods import PROTOCOL, path_bytes, paths_bytes
from livedex_ipc.server.rpc_server import Call, Handler

if TYPE_CHECKING:
    from livedex_daemon.app import App


class Handlers:
    def __init__(self, app: App) -> None:
        self._app = app
        self._answering = Answering(app)
        self._runs = IndexRun(app)
        self._subscribing = Subscribing(app, self._answering)

    def table(self) -> dict[str, Handler]:
        return {
            "server/info": self.info,
            "server/ping": self.ping,
            "server/reload": self.reload,
            "server/shutdown": self.shutdown,
            "rpc.discover": self.discover,
            "search": self._answering.search,
            **self._subscribing.table(),
            "sync": self.sync,
            "status": self.status,
            "roots/list": self.roots_list,
            "roots/add": self.roots_add,
            "roots/remove": self.roots_remove,
            "index/run": self.index_run,
            "index/audit": self.index_audit,
            "files/list": self.files_list,
            "files/explain": self.files_explain,
            "files/retrieve": self.files_retrieve,
            "files/delete": self.files_delete,
        }

    def close(self) -> None:
        self._answering.close()

    # -- the server itself

    async def info(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        watcher = self._app.watching.watcher
        barrier = watcher.barrier_kind if watcher is not None else "exact"  # a walk before each answer is exact
        return {
            "name": "livedex",
            "version": __version__,
            "protocol": PROTOCOL,
            "pid": os.getpid(),
            "capabilities": {"barrier": barrier},
        }

    async def ping(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def reload(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        await self._app.reloader.reload()
        return {}

    async def shutdown(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        asyncio.get_running_loop().call_later(0.01, self._app.stop)  # the answer goes out first
        return {}

    async def discover(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        return openrpc.document(__version__)

    # -- state

    async def sync(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        state = await self._app.freshness.ensure(None, began + params["timeout_ms"] / 1000, everything=True)
        return {
            "synced": state.fresh,
            "pending": state.pending,
            "generation": self._app.store.generation,
            "waited_ms": round((time.monotonic() - began) * 1000, 3),
        }

    async def status(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        return await self._answering.reading(lambda _side: self._app.health.status())

    async def roots_list(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        return {"roots": await self._answering.reading(lambda _side: self._app.health.roots())}

    async def roots_add(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = _required_path(params)
        if not os.path.isdir(path):
            what = "is no folder" if os.path.lexists(path) else "does not exist"
            raise InvalidParams(f"{display_path(path)} {what}: a root is a folder that exists", {"field": "path"})
        await self._prove_writable()
        config = self._app.locations.config_path
        added = await asyncio.to_thread(config_edit.add_root, config, os.fsdecode(path), tuple(params["ignore"]))
        try:
            await self._app.reloader.reload()
        except IndexUnwritable:
            if added:  # refused means that nothing was done
                await asyncio.to_thread(config_edit.remove_root, config, os.fsdecode(path))
            raise
        return await self.roots_list(call, params)

    async def roots_remove(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = os.fsdecode(_required_path(params))
        await self._prove_writable()
        await asyncio.to_thread(config_edit.remove_root, self._app.locations.config_path, path)
        await self._app.reloader.reload()
        return await self.roots_list(call, params)

    async def _prove_writable(self) -> None:
        """Raises IndexUnwritable before anything is changed that the index could not take over."""
        await asyncio.wrap_future(self._app.worker.order(self._app.worker.refuse_without_store))

    # -- indexing on demand

    async def index_run(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        places = self._places(params) if paths_bytes(params) else [(root.id, b"") for root in self._app.worker.roots]
        return await self._runs.run(call, places, force=params["force"])

    async def index_audit(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        places = self._places(params)
        await self._app.freshness.ensure(places, time.monotonic() + audit.WAIT_S, everything=True)
        return await audit.run(self._app, places, whole=not paths_bytes(params), repair=params["repair"])

    def _places(self, params: dict[str, Any]) -> list[tuple[int, bytes]]:
        """The params' ``paths`` as keys; all present roots without them. Raises OutsideRoots."""
        given = paths_bytes(params)
        if not given:
            return [(root.id, b"") for root in self._app.worker.roots if root.present]
        return [place for path in given for place in self._answering.asked(path, "paths")[1]]

    # -- files

    async def files_list(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        root, path = path_bytes(params, "root"), path_bytes(params)
        root_id = None if root is None else self._answering.root_at(root).id
        places = None if path is None else tuple(self._answering.asked(path, "path")[1])
        state = await self._answering.freshen(params, places, time.monotonic())
        request = ListRequest(root_id, places, params["glob"], params["status"], params["limit"], params["offset"])
        served = self._answering.served()
        found = await self._answering.read(lambda reader: listing.list_files(reader, request, served))
        return _with_state({"files": found.files, "total": found.total}, state)

    async def files_retrieve(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        root, relative = self._place(params)
        path = root.absolute(relative)
        if not root.present:
            raise NotFound(f"{display_path(path)} is not served: its root is {root.state}", {"reason": root.state})
        place = Place(root.id, relative)
        served = self._answering.served()
        first, last = params["start_line"] or 1, params["end_line"]

        async def ask() -> tuple[FileChunks | None, Stale]:
            return await self._answering.read(
                lambda reader: listing.retrieve(reader, place, served, start_line=first, end_line=last)
            )

        try:
            found, state = await self._answering.settled(ask, params, [place], time.monotonic())
        except NotFound as error:
            why = await self._explain(root, relative)
            if why["status"] == "indexed":
                raise
            said = (
                why["reason"] if why["status"] == "outside" else ": ".join(filter(None, (why["status"], why["reason"])))
            )
            message = f"{display_path(path)} is not indexed: {said}"
            raise NotFound(message, {"status": why["status"], "reason": why["reason"]}) from error
        if found is None:
            message = f"{display_path(path)} is being indexed again: it has just changed"
            raise NotFound(message, {"status": "pending", "reason": "unsettled"})
        return _with_state({**path_fields(path), "content_hash": found.content_hash, "chunks": found.chunks}, state)

    def _place(self, params: dict[str, Any]) -> tuple[Root, bytes]:
        """The root that holds the params' ``path``, and the path relative to it. Raises OutsideRoots."""
        asked = _required_path(params)
        path, _ = self._answering.asked(asked, "path")
        found = self._app.worker.roots.locate(path)
        if found is None:
            raise outside(asked, "path")
        return found

    async def files_explain(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = self._itself(_required_path(params))
        found = self._app.worker.roots.locate(path)
        if found is None:
            reason = "no root holds it"
            return {**path_fields(path), "status": "outside", "reason": reason, "rule": None, "fresh": True}
        state = await self._answering.freshen(params, [(found[0].id, found[1])], time.monotonic())
        return {**await self._explain(*found), "fresh": state.fresh}  # `reason` is the path's

    def _itself(self, path: bytes) -> bytes:
        """The path whose own entry is meant: of a link inside a root the link, of one elsewhere what it names."""
        here = resolve(path)
        return here if self._app.worker.roots.locate(here) is not None else os.path.realpath(path)

    async def _explain(self, root: Root, relative: bytes) -> dict[str, Any]:
        def held(reader: Reader) -> tuple[FileRow | None, str | None]:
            row = listing.find_row(reader, Place(root.id, relative))
            return row, None if row is None else listing.frontmatter_fault(reader, row)

        row, fault = await self._answering.read(held)
        return await self._answering.in_thread(lambda: explain(root, relative, row, fault))

    async def files_delete(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = self._itself(_required_path(params))
        found = self._app.worker.roots.locate(path)
        places = [found] if found is not None else [(root, b"") for root in self._app.worker.roots.inside(path)]
        if not places:
            raise outside(path, "path")
        await self._app.freshness.ensure(
            [(root.id, relative) for root, relative in places], time.monotonic() + audit.WAIT_S, everything=True
        )
        worker = self._app.worker
        deleted = 0
        for root, relative in places:
            deleted += await asyncio.wrap_future(worker.order(partial(worker.forget, root, relative)))
        if not deleted:
            raise NotFound(f"{display_path(path)} is not indexed; `livedex why` says why", {"field": "path"})
        return {"deleted": deleted}


def _with_state(result: dict[str, Any], state: FreshState) -> dict[str, Any]:
    result["fresh"] = state.fresh
    if state.reason is not None:
        result["reason"] = state.reason
    return result


def _required_path(params: dict[str, Any]) -> bytes:
    path = path_bytes(params)
    if path is None:
        raise InvalidParams("the param 'path' is needed: an absolute path", {"field": "path"})
    return path
