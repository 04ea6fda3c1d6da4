"""Read the index once it is as fresh as the caller asks; every answering method shares this module.

Invariant: a request is answered when its time is over, whatever it waits for. An answer marked ``fresh`` was read after
all changes before the request, and from files that still contained the indexed text; files found changed are queued
before the answer is sent.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TypeVar

import apsw

from livedex_daemon.answer.freshness import UNSETTLED_WAIT_S, Freshness, FreshState, OtherNames, fresh_fields
from livedex_daemon.answer.memory_search import MemorySearch
from livedex_daemon.answer.path_lookup import Lookup, PathLookups
from livedex_daemon.answer.reader_threads import ReaderThreads
from livedex_daemon.answer.request_timing import Timing
from livedex_daemon.answer.status_report import Health
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.index_file.index_readers import ReadHandle
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.watch.backlog import Entry, Key, Scope
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_indexing.disk import tree
from livedex_indexing.disk.unnamed_file import unnamed_inode
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import Place, Stat
from livedex_indexing.path_text import display_path
from livedex_indexing.query.scope import places_at
from livedex_indexing.search import listing
from livedex_indexing.search.search_answer import LATE_WARNING, SearchAnswer
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.database import IndexDamaged, IndexUnwritable, translated
from livedex_indexing.store.read_pool import PoolClosed, Reader
from livedex_ipc.errors import OutsideRoots, TimedOut
from livedex_ipc.methods import path_bytes, paths_bytes
from livedex_ipc.request_params import FileListParams, FilterParams, SearchParams
from livedex_ipc.server.rpc_server import Call, Handler
from livedex_ipc.wire_results import AnswerWarning, DocumentsPending, SearchResult

log = logging.getLogger(__name__)

_OF_SEARCH = {"embedder_unavailable", "backend_unavailable", "knowledge_unavailable"}
UNSETTLED_ROUNDS = 3  # at least, to ask again about files that changed between the wait and the read

T = TypeVar("T")


class SearchMethod:
    """The method ``search``."""

    def __init__(self, reads: FreshReads, health: Health, memory: MemorySearch) -> None:
        self._reads = reads
        self._health = health
        self._memory = memory

    def table(self) -> dict[str, Handler]:
        return {"search": self.search}

    async def search(self, call: Call, params: SearchParams) -> SearchResult[Hit]:
        if params["supersedes"] is not None:
            call.supersede(params["supersedes"])
        timing, before = Timing.of(call, params), self._health.root_warnings()
        memory, of_memory = await self._memory.found(params, timing)
        try:
            answer, state = await timing.within(self._answer(timing, params, before))
        except TimedOut:
            answer, state = self._reads.late_answer(params["mode"])
        log.debug("searched", extra={"query": params["query"], "hits": len(answer.hits), "fresh": state.fresh})
        return {
            "hits": answer.hits,
            **fresh_fields(state),
            "generation": answer.generation,
            "pending": state.pending,
            "mode": answer.mode,
            "took_ms": round((time.monotonic() - timing.began) * 1000, 3),
            "next_offset": answer.next_offset,
            "warnings": _joined(self._health.warnings(answer.failed, before), _of_both(answer.warnings, of_memory)),
            **answer.optional_fields(),
            **self._reads.documents_pending(),
            **memory,
        }

    async def _answer(
        self, timing: Timing, params: SearchParams, before: list[AnswerWarning]
    ) -> tuple[SearchAnswer, FreshState]:
        """Search; ``before`` becomes what is wrong with the roots just before the index is read."""
        request, _ = await self._reads.request(params)

        async def read() -> tuple[SearchAnswer, Stale]:
            before[:] = self._health.root_warnings()
            answer = await self._reads.query(request, timing)
            return answer, answer.stale

        return await self._reads.settled(read, timing, scope_of(request))


class FreshReads:
    """Call it on the event loop; it reads the index in its own threads."""

    def __init__(
        self,
        index: IndexFile,
        freshness: Freshness,
        roots: Roots,
        priority: SearchPriority,
        worker: Worker,
        backend: BackendSwitch,
    ) -> None:
        self.freshness = freshness
        self._backend = backend
        self._readers = index.readers
        self._salvage = index.salvage
        self._store_health = index.health
        self._roots = roots
        self._priority = priority
        self._worker = worker
        self._store = index.store
        self._threads = ReaderThreads()
        self.lookups = PathLookups()

    def close(self) -> None:
        self._threads.close()
        self.lookups.close()

    async def freshen(self, timing: Timing, scope: Scope) -> FreshState:
        """Wait as the params ask; without ``fresh`` return the present state at once."""
        freshness = self.freshness
        if not timing.fresh:
            pending = freshness.pending(scope)
            return FreshState(False, pending, None)

        async def twins(keys: list[Key], inside: list[Entry]) -> OtherNames:
            return await self.read(lambda reader: self._other_names(reader, keys, inside), timing)

        return await freshness.ensure(scope, timing.fresh_until, twins=twins)

    def _other_names(self, reader: Reader, keys: list[Key], inside: list[Entry]) -> OtherNames:
        """Return what the index and the disk know of the other names of files. ``inside``: the entries in the scope."""
        names = OtherNames([], [])
        inodes = cache(lambda: self._inodes(inside))
        for root_id, path in keys:
            found = self._stat((root_id, path))
            linked = found if found is not None and found.links > 1 else None
            ino = unnamed_inode(path) if linked is None else linked.ino
            place = Place(root_id, path)
            names.indexed.extend(listing.twins(reader, place, ino))
            row = listing.find_row(reader, place)
            former = set(self._worker.former_names.inodes_of((root_id, path)))  # last, for its row may be gone since
            if row is not None and row.state.ino and (found is None or found.ino != row.state.ino):
                former.add(row.state.ino)  # nobody has looked yet
            for each in former:
                names.indexed.extend(listing.twins(reader, place, each))
            if ino is not None or (former and not inodes().isdisjoint((None, *former))):
                names.linked.append((root_id, path))
            if linked is not None:
                names.indexed.extend(self.freshness.ignore_files_of(linked))
        return names

    def _inodes(self, entries: list[Entry]) -> set[int | None]:
        """Return the inodes of the marked files; None stands for all that are in a marked folder."""
        files = (self._stat(entry.key) for entry in entries if not entry.tree)
        inodes: set[int | None] = {file.ino for file in files if file is not None}
        return inodes | {None} if any(entry.tree for entry in entries) else inodes

    def _stat(self, key: Key) -> Stat | None:
        root = self._roots.get(key[0])
        try:
            return None if root is None else tree.stat(root.path, key[1])
        except tree.TreeError:
            return None

    def late_answer(self, mode: str) -> tuple[SearchAnswer, FreshState]:
        """Return the answer of a search that found nothing in its time, or did not begin."""
        used = "keyword" if mode == "auto" else mode
        answer = SearchAnswer([], None, self._store.generation, used, [LATE_WARNING], Stale())
        return answer, self.freshness.late()

    async def fresh(self, read: Callable[[], Awaitable[T]], timing: Timing, scope: Scope) -> tuple[T, FreshState]:
        """Return the answer of ``read`` and its freshness. If it comes from a new index file, the wait said nothing."""
        while True:
            handle = self._readers.current
            state = await self.freshen(timing, scope)
            answer = await read()
            # While a rebuild begins, the new file is at the path before its readers are there.
            if not state.fresh or (self._readers.current is handle and not self._store_health.rebuilding):
                return answer, state

    async def settled(
        self, read: Callable[[], Awaitable[tuple[T, Stale]]], timing: Timing, scope: Scope
    ) -> tuple[T, FreshState]:
        """Return the answer of ``read`` and its freshness; examine changed files and ask again while files change.

        A change after the first round is later than the request. So the answer is good if the file still contains the
        indexed text (a log that grows all the time). If rounds and time run out, return the last answer as not fresh.
        """
        self._priority.record_query()
        rounds, until = 0, float("inf")
        while True:
            (answer, stale), state = await self.fresh(read, timing, scope)
            if stale.unreadable:
                self._worker.could_not_read(stale.unreadable)
            self.freshness.inspect_again(stale)
            if not stale or not state.fresh or (rounds and all(stale.values())):
                return answer, state
            now = time.monotonic()
            rounds, until = rounds + 1, min(until, now + UNSETTLED_WAIT_S)
            if now >= timing.due or (rounds > UNSETTLED_ROUNDS and now > until):
                return answer, FreshState(False, max(1, self.freshness.pending(scope)), "unsettled")

    async def query(self, request: SearchRequest, timing: Timing) -> SearchAnswer:
        ends, roots = timing.query_ends(), self.root_paths()

        def read(handle: ReadHandle, ended: threading.Event) -> SearchAnswer:
            semantics = self._readers.semantics if handle is self._readers.current else None
            backend = self._backend.ranker(ends)
            return handle.searcher.search(
                request, roots, deadline=ends, cancelled=ended.is_set, semantics=semantics, backend=backend
            )

        if self._salvage.handle is not None:
            left = await self.in_thread(lambda ended: self._salvage.search(lambda handle: read(handle, ended)), timing)
            if left is not None:
                return left
        return await self.reading(read, timing)

    async def reading(self, action: Callable[[ReadHandle, threading.Event], T], timing: Timing) -> T:
        """Run ``action`` in a thread. Try once more if the index file was lost and replaced, or could not be read.

        A failed read may be temporary. ``action`` gets an event that is set once nobody waits for its result.
        """
        return await self._with_second_try(action, lambda act: self.in_thread(act, timing))

    async def state(self, action: Callable[[], T]) -> T:
        """Like ``reading``, for the daemon's own state: it waits for no search."""

        async def run(act: Callable[[threading.Event], T]) -> T:
            return await self._threads.run_status(lambda: act(threading.Event()))

        return await self._with_second_try(lambda _handle, _ended: action(), run)

    async def _with_second_try(
        self,
        action: Callable[[ReadHandle, threading.Event], T],
        run: Callable[[Callable[[threading.Event], T]], Awaitable[T]],
    ) -> T:
        handle = self._readers.current

        def act(ended: threading.Event) -> T:
            with translated(handle.readers.path):
                return action(handle, ended)

        try:
            return await run(act)
        except (IndexDamaged, IndexUnwritable, PoolClosed, apsw.Error) as error:
            if not await self._is_replaced(handle, error) and not isinstance(error, IndexUnwritable):
                raise
        handle = self._readers.current
        return await run(act)

    async def _is_replaced(self, handle: ReadHandle, error: Exception) -> bool:
        """Have the worker check the index file that ``handle`` could not read; return True when it was replaced."""
        damaged = isinstance(error, IndexDamaged)

        def check_and_rebuild() -> bool:
            return self._readers.current is not handle or self._worker.check_and_rebuild(damaged=damaged)

        if self._readers.current is not handle:
            return True
        # Shielded: the check is needed by others too when this request is cancelled.
        return await asyncio.shield(asyncio.wrap_future(self._worker.submit(check_and_rebuild)))

    async def in_thread(self, action: Callable[[threading.Event], T], timing: Timing) -> T:
        """Run ``action`` in a thread. It gets an event that is set once nobody waits for its result."""
        ended = threading.Event()

        def act() -> T:
            with self._priority.searching():
                return action(ended)

        try:
            return await self._threads.run(timing.client, timing.due, act)
        finally:
            ended.set()  # a cancelled call must not leave its query running

    def documents_pending(self) -> DocumentsPending:
        """Return the number of documents that are not converted yet, in all roots; nothing if there are none."""
        count = self._worker.conversions.pending()
        return {"documents_pending": count} if count else {}

    def root_paths(self) -> dict[int, bytes]:
        return self._roots.paths()

    async def roots_known(self) -> None:
        """Wait until the daemon that starts knows its roots. Raise Unavailable if that takes too long."""
        await self.freshness.has_begun("does not know its roots")

    async def request(self, params: FilterParams) -> tuple[SearchRequest, list[bytes] | None]:
        """Return the request of checked search params and the real paths that it is limited to. Raise OutsideRoots."""
        root_ids = tuple([(await self.root_at(path, "roots")).id for path in paths_bytes(params, "roots") or ()])
        scopes = await self.scopes(params)
        if scopes is None:
            return SearchRequest.from_params(params, None, root_ids), None
        reals, places = scopes
        return SearchRequest.from_params(params, tuple(places), root_ids), reals

    async def scopes(self, params: FilterParams | FileListParams) -> tuple[list[bytes], list[Place]] | None:
        """Return the real paths of ``path`` and ``paths`` and their places; None without any. Raise OutsideRoots."""
        path, paths = path_bytes(params), paths_bytes(params)
        if path is None and not paths:
            return None
        found = await self.resolve([path], "path") if path is not None else []
        found += await self.resolve(paths or [], "paths")
        return [real for real, _ in found], list(dict.fromkeys(place for _, places in found for place in places))

    async def resolve(self, paths: list[bytes], field: str) -> list[tuple[bytes, list[Place]]]:
        """Return the real path of each path of a param and its places in the roots. Raise OutsideRoots or Unavailable.

        For a symbolic link, use the target if a root contains it, else the link itself. So a path outside all roots by
        its name is looked up too: a link in it may lead into a root.
        """
        await self.roots_known()
        roots = self.root_paths()

        def look(lookup: Lookup, path: bytes) -> tuple[bytes, list[Place]]:
            for find in (lookup.real, lookup.entry):
                real = find(path)
                places = places_at(real, roots)
                if places:
                    return real, places
            raise outside(path, field)

        if not paths:
            return []
        return await self.lookups.run(paths[0], lambda lookup: [look(lookup, path) for path in paths])

    async def root_at(self, path: bytes, field: str) -> Root:
        """Return the root of this path. Raise OutsideRoots, which names the param ``field``, if it is none."""
        await self.roots_known()
        real = await self.lookups.run(path, lambda lookup: lookup.real(path))
        root = self._roots.by_path(real)
        if root is None:
            is_inside = self._roots.locate(real) is not None
            remedy = "it is in one: name it as a path instead" if is_inside else "`livedex roots list` lists the roots"
            raise OutsideRoots(f"{display_path(path)} is not a root; {remedy}", {"field": field})
        return root

    async def read(self, action: Callable[[Reader], T], timing: Timing) -> T:
        """Run ``action`` on a reader of the index, in a thread. Raise TimedOut if its time is over."""
        ends = timing.query_ends()

        def act(handle: ReadHandle, ended: threading.Event) -> T:
            with handle.readers.connection(deadline=ends, cancelled=ended.is_set) as reader:
                return action(reader)

        return await self.reading(act, timing)


def _joined(daemons: list[AnswerWarning], own: list[AnswerWarning]) -> list[AnswerWarning]:
    """Return the warnings of the daemon and of an answer; what both say of a plugin comes once."""
    of_search = {warned["code"] for warned in own} & _OF_SEARCH
    return [*(warned for warned in daemons if warned["code"] not in of_search), *own]


def _of_both(of_files: list[AnswerWarning], of_memory: list[AnswerWarning]) -> list[AnswerWarning]:
    """Return the warnings of a search of files and of agent memory; an embedder that fails both is named once."""
    codes = {warned["code"] for warned in of_files}
    return [*of_files, *(warned for warned in of_memory if warned["code"] not in codes)]


def outside(path: bytes, field: str) -> OutsideRoots:
    return OutsideRoots(
        f"no root contains {display_path(path)}; `livedex up FOLDER` adds a root, `livedex roots` lists them",
        {"field": field},
    )


def scope_of(request: SearchRequest) -> Scope:
    """Return the places that a search waits for; None: all roots."""
    if request.places is None:
        return [(root_id, b"") for root_id in request.root_ids] or None
    return [place for place in request.places if not request.root_ids or place.root_id in request.root_ids]
