"""Answers each method of the socket: one short function a method, which asks the room that knows.

Invariant: a handler changes nothing itself; what touches roots, files or the index is an order to the worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import apsw

from livedex_daemon import audit, config_edit
from livedex_daemon.backlog import Scope
from livedex_daemon.explaining import explain
from livedex_daemon.freshness import UNSETTLED_WAIT_S, FreshState
from livedex_daemon.roots import Root, resolve
from livedex_daemon.running import IndexRun
from livedex_daemon.serving import Side
from livedex_daemon.subscribing import Subscribing
from livedex_indexing import files
from livedex_indexing.database import IndexDamaged, IndexUnwritable, translated
from livedex_indexing.paths_text import display_path, path_b64, path_fields
from livedex_indexing.readpool import PoolClosed, Reader
from livedex_indexing.search import SearchAnswer
from livedex_ipc import __version__, openrpc
from livedex_ipc.errors import InvalidParams, NotFound, OutsideRoots
from livedex_ipc.methods import PROTOCOL, path_bytes, paths_bytes
from livedex_ipc.server import Call, Handler

if TYPE_CHECKING:
    from livedex_daemon.app import App

log = logging.getLogger(__name__)

THREADS = 4  # searches that read the index at the same time
QUERY_SHARE = 0.8  # of a search's time may go into waiting for freshness
LEAST_QUERY_S = 0.05  # what the query itself is given, however late it is

UNSETTLED_ROUNDS = 3  # at least, of asking again what changed between the wait for it and the reading

Stale = list[tuple[int, bytes]]  # (root id, path) of files found changed
T = TypeVar("T")


class Handlers:
    def __init__(self, app: App) -> None:
        self._app = app
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")
        self._runs = IndexRun(app)
        self._subscribing = Subscribing(app, self)

    def table(self) -> dict[str, Handler]:
        return {
            "server/info": self.info,
            "server/ping": self.ping,
            "server/reload": self.reload,
            "server/shutdown": self.shutdown,
            "rpc.discover": self.discover,
            "search": self.search,
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
        self._threads.shutdown(wait=False, cancel_futures=True)

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

    # -- search

    async def search(self, call: Call, params: dict[str, Any]) -> dict[str, Any]:
        began = time.monotonic()
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        scope = self.search_scope(params)
        deadline = began + params["timeout_ms"] / 1000

        async def ask() -> tuple[SearchAnswer, Stale]:
            answer = await self._query(params, deadline)
            return answer, answer.stale

        answer, state = await self._settled(ask, params, scope, began)
        log.debug("searched", extra={"query": params["query"], "hits": len(answer.hits), "fresh": state.fresh})
        result = {
            "hits": answer.hits,
            "fresh": state.fresh,
            "generation": answer.generation,
            "pending": state.pending,
            "mode": answer.mode,
            "took_ms": round((time.monotonic() - began) * 1000, 3),
            "next_offset": answer.next_offset,
            "warnings": self._app.health.warnings(answer.failed) + answer.warnings,
        }
        if state.reason is not None:
            result["reason"] = state.reason
        result.update(answer.extras)
        return result

    async def freshen(self, params: dict[str, Any], scope: Scope, began: float) -> FreshState:
        """Waits as the params ask; without ``fresh`` it says how things stand."""
        freshness = self._app.freshness
        if not params["fresh"]:
            pending = freshness.pending(scope)
            return FreshState(False, pending, None)
        return await freshness.ensure(scope, began + params["timeout_ms"] / 1000 * QUERY_SHARE)

    async def _settled(
        self, ask: Callable[[], Awaitable[tuple[T, Stale]]], params: dict[str, Any], scope: Scope, began: float
    ) -> tuple[T, FreshState]:
        """What ``ask`` answers once no file was found changed on the way: what is changed is looked at again, and asked
        again. Of files that change faster than they can be read the answer is what could be had, and says so.
        """
        state = await self.freshen(params, scope, began)
        rounds, until = 0, float("inf")
        while True:
            answer, stale = await ask()
            for key in stale:
                self._app.backlog.mark(key, now=True)
            if not stale or not params["fresh"] or not state.fresh:
                return answer, state
            rounds, until = rounds + 1, min(until, time.monotonic() + UNSETTLED_WAIT_S)
            if rounds > UNSETTLED_ROUNDS and time.monotonic() > until:
                return answer, FreshState(False, max(1, self._app.freshness.pending(scope)), "unsettled")
            state = await self.freshen(params, scope, began)

    async def _query(self, params: dict[str, Any], deadline: float) -> SearchAnswer:
        ended = threading.Event()
        latest = max(deadline, time.monotonic() + LEAST_QUERY_S)
        roots = self._served()

        def ask(side: Side) -> SearchAnswer:
            return side.searcher.search(params, roots, deadline=latest, cancelled=ended.is_set)

        if self._app.remains.side is not None:
            try:
                left = await self._in_thread(lambda: self._app.remains.search(ask))
            except BaseException:
                ended.set()
                raise
            if left is not None:
                return left
        return await self.reading(ask, ended)

    async def reading(self, action: Callable[[Side], T], ended: threading.Event | None = None) -> T:
        """Runs what reads the index in a thread; once more where the file was found lost and is begun anew."""
        side = self._app.serving.side

        def act() -> T:
            with translated(side.readers.path):
                return action(side)

        try:
            return await self._in_thread(act, ended)
        except (IndexDamaged, IndexUnwritable, PoolClosed, apsw.Error) as error:
            if not await self._app.mend_index(side, error):
                raise
        return await self._in_thread(lambda: action(self._app.serving.side))

    async def _in_thread(self, action: Callable[[], T], ended: threading.Event | None = None) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, action)
        finally:
            if ended is not None:
                ended.set()  # a cancelled call must not leave its query running

    def _served(self) -> dict[int, bytes]:
        """All roots: the index itself knows which are not there, and serves nothing of them."""
        return {root.id: root.path for root in self._app.worker.roots}

    def search_scope(self, params: dict[str, Any]) -> Scope:
        """What a search waits for; rewrites ``path`` and ``roots`` to real paths. Raises OutsideRoots."""
        wanted = paths_bytes(params, "roots")
        keys: list[tuple[int, bytes]] | None = None
        if wanted:
            roots = [self._root_at(path) for path in wanted]
            _put_paths(params, "roots", [root.path for root in roots])
            keys = [(root.id, b"") for root in roots]
        path = path_bytes(params)
        if path is None:
            return keys
        real, at = self._asked(path, "path")
        _put_path(params, "path", real)
        return at if keys is None else [key for key in at if any(key[0] == root_id for root_id, _ in keys)]

    def _asked(self, path: bytes, field: str) -> tuple[bytes, list[tuple[int, bytes]]]:
        """The real path that is asked for, and the parts of roots that it means. It may lead through a link: what the
        link names counts where a root holds that, else the link itself. Raises OutsideRoots.
        """
        table = self._app.worker.roots
        for real in (os.path.realpath(path), resolve(path)):
            found = table.locate(real)
            at = [(found[0].id, found[1])] if found is not None else []
            at += [(root.id, b"") for root in table.inside(real)]
            if at:
                return real, at
        raise _outside(path, field)

    def _root_at(self, path: bytes) -> Root:
        root = self._app.worker.roots.by_path(os.path.realpath(path))
        if root is None:
            raise OutsideRoots(f"{display_path(path)} is no root; `livedex roots list` names them", {"field": "roots"})
        return root

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
        return await self.reading(lambda _side: self._app.health.status())

    async def roots_list(self, _call: Call, _params: dict[str, Any]) -> dict[str, Any]:
        return {"roots": await self.reading(lambda _side: self._app.health.roots())}

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
        return [place for path in given for place in self._asked(path, "paths")[1]]

    # -- files

    async def files_list(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        if params.get("root") is not None or params.get("root_b64") is not None:
            root = self._root_at(path_bytes(params, "root") or b"")
            _put_path(params, "root", root.path)
        scope = None
        path = path_bytes(params)
        if path is not None:
            real, scope = self._asked(path, "path")
            _put_path(params, "path", real)
        state = await self.freshen(params, scope, time.monotonic())
        served = self._served()
        result = await self._read(lambda reader: files.list_files(reader, params, served))
        return _with_state(result, state)

    async def _read(self, action: Callable[[Reader], T]) -> T:
        """Runs ``action`` on a reader of the index, in a thread."""

        def act(side: Side) -> T:
            with side.readers.connection() as reader:
                return action(reader)

        return await self.reading(act)

    async def files_retrieve(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        root, relative = self._place(params)
        path = root.absolute(relative)
        if not root.present:
            raise NotFound(f"{display_path(path)} is not served: its root is {root.state}", {"reason": root.state})
        _put_path(params, "path", path)
        served = self._served()

        async def ask() -> tuple[dict[str, Any] | None, Stale]:
            return await self._read(lambda reader: files.retrieve(reader, params, served))

        try:
            result, state = await self._settled(ask, params, [(root.id, relative)], time.monotonic())
        except NotFound as error:
            why = await self._explain(root, relative)
            if why["status"] == "indexed":
                raise
            said = (
                why["reason"] if why["status"] == "outside" else ": ".join(filter(None, (why["status"], why["reason"])))
            )
            message = f"{display_path(path)} is not indexed: {said}"
            raise NotFound(message, {"status": why["status"], "reason": why["reason"]}) from error
        if result is None:
            message = f"{display_path(path)} is being indexed again: it has just changed"
            raise NotFound(message, {"status": "pending", "reason": "unsettled"})
        return _with_state(result, state)

    def _place(self, params: dict[str, Any]) -> tuple[Root, bytes]:
        """The root that holds the params' ``path``, and the path relative to it. Raises OutsideRoots."""
        asked = _required_path(params)
        path, _ = self._asked(asked, "path")
        found = self._app.worker.roots.locate(path)
        if found is None:
            raise _outside(asked, "path")
        return found

    async def files_explain(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = self._itself(_required_path(params))
        found = self._app.worker.roots.locate(path)
        if found is None:
            reason = "no root holds it"
            return {**path_fields(path), "status": "outside", "reason": reason, "rule": None, "fresh": True}
        state = await self.freshen(params, [(found[0].id, found[1])], time.monotonic())
        return {**await self._explain(*found), "fresh": state.fresh}  # `reason` is the path's

    def _itself(self, path: bytes) -> bytes:
        """The path whose own entry is meant: of a link inside a root the link, of one elsewhere what it names."""
        here = resolve(path)
        return here if self._app.worker.roots.locate(here) is not None else os.path.realpath(path)

    async def _explain(self, root: Root, relative: bytes) -> dict[str, Any]:
        served = self._served()
        row = await self._read(lambda reader: files.find_row(reader, root.absolute(relative), served))
        return await self._in_thread(lambda: explain(root, relative, row))

    async def files_delete(self, _call: Call, params: dict[str, Any]) -> dict[str, Any]:
        path = self._itself(_required_path(params))
        found = self._app.worker.roots.locate(path)
        places = [found] if found is not None else [(root, b"") for root in self._app.worker.roots.inside(path)]
        if not places:
            raise _outside(path, "path")
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


def _outside(path: bytes, field: str) -> OutsideRoots:
    return OutsideRoots(f"{display_path(path)} lies in no root; `livedex roots list` names them", {"field": field})


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


def _put_path(params: dict[str, Any], name: str, path: bytes) -> None:
    params[name], params[name + "_b64"] = _texts(path)


def _put_paths(params: dict[str, Any], name: str, paths: list[bytes]) -> None:
    texts = [_texts(path) for path in paths]
    params[name] = [text for text, _ in texts if text is not None]
    params[name + "_b64"] = [encoded for _, encoded in texts if encoded is not None] or None


def _texts(path: bytes) -> tuple[str | None, str | None]:
    encoded = path_b64(path)
    return (path.decode(), None) if encoded is None else (None, encoded)
