"""Read the index once it is as fresh as the caller asks; every answering method shares this module.

Invariant: an answer marked ``fresh`` was read after all changes before the request, and from files that still contained
the indexed text; files found changed are queued before the answer is sent.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import apsw

from livedex_daemon.answer.freshness import UNSETTLED_WAIT_S, Freshness, FreshState, fresh_fields
from livedex_daemon.answer.status_report import Health
from livedex_daemon.index_file.index_readers import ReadHandle
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.watch.backlog import Scope
from livedex_daemon.watch.root_table import Root, Roots, resolve
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import Place
from livedex_indexing.path_text import display_path
from livedex_indexing.query.scope import places_at
from livedex_indexing.search.search_answer import SearchAnswer
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.database import IndexDamaged, IndexUnwritable, translated
from livedex_indexing.store.read_pool import PoolClosed, Reader
from livedex_ipc.errors import OutsideRoots
from livedex_ipc.methods import path_bytes, paths_bytes
from livedex_ipc.request_params import FreshParams, QueryParams, SearchParams
from livedex_ipc.server.rpc_server import Call, Handler
from livedex_ipc.wire_results import SearchResult

log = logging.getLogger(__name__)

THREADS = 4  # searches that read the index at the same time
QUERY_SHARE = 0.8  # the share of a search's time that may go into waiting for freshness
LEAST_QUERY_S = 0.05  # for the query itself, however late it is

UNSETTLED_ROUNDS = 3  # at least, to ask again about files that changed between the wait and the read

T = TypeVar("T")


class SearchMethod:
    """The method ``search``."""

    def __init__(self, reads: FreshReads, health: Health) -> None:
        self._reads = reads
        self._health = health

    def table(self) -> dict[str, Handler]:
        return {"search": self.search}

    async def search(self, call: Call, params: SearchParams) -> SearchResult[Hit]:
        began = time.monotonic()
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        request, _ = self._reads.request(params)
        scope = scope_of(request)
        deadline = began + params["timeout_ms"] / 1000

        async def read() -> tuple[SearchAnswer, Stale]:
            answer = await self._reads.query(request, deadline)
            return answer, answer.stale

        answer, state = await self._reads.settled(read, params, scope, began)
        log.debug("searched", extra={"query": params["query"], "hits": len(answer.hits), "fresh": state.fresh})
        return {
            "hits": answer.hits,
            **fresh_fields(state),
            "generation": answer.generation,
            "pending": state.pending,
            "mode": answer.mode,
            "took_ms": round((time.monotonic() - began) * 1000, 3),
            "next_offset": answer.next_offset,
            "warnings": [*self._health.warnings(answer.failed), *answer.warnings],
            **answer.optional_fields(),
        }


class FreshReads:
    """Call it on the event loop; it reads the index in its own threads."""

    def __init__(
        self, index: IndexFile, freshness: Freshness, roots: Roots, priority: SearchPriority, worker: Worker
    ) -> None:
        self.freshness = freshness
        self._readers = index.readers
        self._salvage = index.salvage
        self._roots = roots
        self._priority = priority
        self._worker = worker
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="reader")

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def freshen(self, params: FreshParams, scope: Scope, began: float) -> FreshState:
        """Wait as the params ask; without ``fresh`` return the present state at once."""
        freshness = self.freshness
        if not params["fresh"]:
            pending = freshness.pending(scope)
            return FreshState(False, pending, None)
        return await freshness.ensure(scope, began + params["timeout_ms"] / 1000 * QUERY_SHARE)

    async def settled(
        self, read: Callable[[], Awaitable[tuple[T, Stale]]], params: FreshParams, scope: Scope, began: float
    ) -> tuple[T, FreshState]:
        """Return the answer of ``read`` and its freshness; examine changed files and ask again while files change.

        A change after the first round is later than the request. So the answer is good if the file still contains the
        indexed text (a log that grows all the time). If rounds and time run out, return the last answer as not fresh.
        """
        self._priority.record_query()
        rounds, until = 0, float("inf")
        while True:
            state = await self.freshen(params, scope, began)
            answer, stale = await read()
            if stale.unreadable:
                self._worker.could_not_read(stale.unreadable)
            self.freshness.look_again(stale)
            if not stale or not params["fresh"] or not state.fresh or (rounds and all(stale.values())):
                return answer, state
            rounds, until = rounds + 1, min(until, time.monotonic() + UNSETTLED_WAIT_S)
            if rounds > UNSETTLED_ROUNDS and time.monotonic() > until:
                return answer, FreshState(False, max(1, self.freshness.pending(scope)), "unsettled")

    async def query(self, request: SearchRequest, deadline: float) -> SearchAnswer:
        ended = threading.Event()
        latest = max(deadline, time.monotonic() + LEAST_QUERY_S)
        roots = self.served()

        def read(handle: ReadHandle) -> SearchAnswer:
            return handle.searcher.search(request, roots, deadline=latest, cancelled=ended.is_set)

        if self._salvage.handle is not None:
            try:
                left = await self.in_thread(lambda: self._salvage.search(read))
            except BaseException:
                ended.set()
                raise
            if left is not None:
                return left
        return await self.reading(read, ended)

    async def reading(self, action: Callable[[ReadHandle], T], ended: threading.Event | None = None) -> T:
        """Run ``action`` in a thread. Try once more if the index file was lost and replaced, or could not be read.

        A failed read may be temporary.
        """

        def act(handle: ReadHandle) -> T:
            with translated(handle.readers.path):
                return action(handle)

        handle = self._readers.current
        try:
            return await self.in_thread(lambda: act(handle), ended)
        except (IndexDamaged, IndexUnwritable, PoolClosed, apsw.Error) as error:
            if not await self._is_replaced(handle, error) and not isinstance(error, IndexUnwritable):
                raise
        if ended is not None:
            ended.clear()  # the first try set it when it ended
        return await self.in_thread(lambda: act(self._readers.current), ended)

    async def _is_replaced(self, handle: ReadHandle, error: Exception) -> bool:
        """Have the worker check the index file that ``handle`` could not read; return True when it was replaced."""
        damaged = isinstance(error, IndexDamaged)

        def check_and_rebuild() -> bool:
            return self._readers.current is not handle or self._worker.check_and_rebuild(damaged=damaged)

        return self._readers.current is not handle or await asyncio.wrap_future(self._worker.submit(check_and_rebuild))

    async def in_thread(self, action: Callable[[], T], ended: threading.Event | None = None) -> T:
        def act() -> T:
            with self._priority.searching():
                return action()

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, act)
        finally:
            if ended is not None:
                ended.set()  # a cancelled call must not leave its query running

    def served(self) -> dict[int, bytes]:
        """Return all roots by id: the index itself knows which are absent, and serves nothing from them."""
        return {root.id: root.path for root in self._roots}

    def request(self, params: QueryParams) -> tuple[SearchRequest, bytes | None]:
        """Return the request of checked search params and the real path of their ``path``. Raise OutsideRoots."""
        root_ids = tuple(self.root_at(path).id for path in paths_bytes(params, "roots") or ())
        path = path_bytes(params)
        if path is None:
            return SearchRequest.from_params(params, None, root_ids), None
        real, places = self.resolve(path, "path")
        return SearchRequest.from_params(params, tuple(places), root_ids), real

    def resolve(self, path: bytes, field: str) -> tuple[bytes, list[Place]]:
        """Return the real path of a param and its places in the roots. Raise OutsideRoots.

        For a symbolic link, use the target if a root contains it, else the link itself.
        """
        roots = self.served()
        for real in (os.path.realpath(path), resolve(path)):
            places = places_at(real, roots)
            if places:
                return real, places
        raise outside(path, field)

    def root_at(self, path: bytes) -> Root:
        root = self._roots.by_path(os.path.realpath(path))
        if root is None:
            raise OutsideRoots(
                f"{display_path(path)} is not a root; `livedex roots list` lists the roots", {"field": "roots"}
            )
        return root

    async def read(self, action: Callable[[Reader], T]) -> T:
        """Run ``action`` on a reader of the index, in a thread."""

        def act(handle: ReadHandle) -> T:
            with handle.readers.connection() as reader:
                return action(reader)

        return await self.reading(act)


def outside(path: bytes, field: str) -> OutsideRoots:
    return OutsideRoots(
        f"no root contains {display_path(path)}; `livedex roots list` lists the roots", {"field": field}
    )


def scope_of(request: SearchRequest) -> Scope:
    """Return the places that a search waits for; None: all roots."""
    if request.places is None:
        return [(root_id, b"") for root_id in request.root_ids] or None
    return [place for place in request.places if not request.root_ids or place.root_id in request.root_ids]
