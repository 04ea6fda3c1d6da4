"""Answer the methods of agent memory, on a thread of their own.

Invariant: an entry is acknowledged once it is on the disk, and a store that fails hinders nothing else. A file that
cannot be used has a ``fault``, also if nobody calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from livedex_daemon.answer.memory_request import MemoryRequest, searched
from livedex_daemon.answer.plugin_methods import memory_warnings
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.knowledge.agent_memory import AgentMemory, NewEntry
from livedex_daemon.knowledge.knowledge_store import KnowledgeStore
from livedex_daemon.knowledge.plugin_memory import PluginMemory
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.precious.file_fault import FileFault
from livedex_daemon.precious.precious_database import BUSY_S, LOOK_S, DatabaseUnusable
from livedex_indexing.plugins import KNOWLEDGE_STORE, PluginUnavailable
from livedex_indexing.search.meaning import EMBED_S
from livedex_ipc.errors import InvalidParams, Unavailable
from livedex_ipc.knowledge_methods import MAX_CONTENT_BYTES
from livedex_ipc.knowledge_results import (
    AddedResult,
    DeletedResult,
    EntryListResult,
    FoundEntriesResult,
    HotResult,
    KnowledgeStatsResult,
)
from livedex_ipc.lasting_threads import LastingThreads
from livedex_ipc.request_params import (
    KnowledgeAddParams,
    KnowledgeDeleteParams,
    KnowledgeFindingParams,
    KnowledgeHotParams,
    KnowledgeListParams,
    KnowledgeSearchParams,
    NoParams,
)
from livedex_ipc.server.rpc_server import Call, Handler

T = TypeVar("T")


class KnowledgeThread:
    """Opens the store at the first call, and another one when the configuration names it.

    For the event loop's thread. ``run`` raises what the action raises, and Unavailable.
    """

    def __init__(
        self, path: str, current: CurrentConfig, plugins: PluginHost, loaded: Callable[[], Awaitable[None]]
    ) -> None:
        """``loaded`` waits until plugins are loaded; it raises Unavailable if that takes too long."""
        self._path = path
        self._loaded = loaded
        self._current = current
        self._plugins = plugins
        self._thread = LastingThreads(1, "knowledge")
        self._opened: _Opened | None = None  # for that thread alone
        self._fault = FileFault(path)

    @property
    def fault(self) -> DatabaseUnusable | None:
        """Why the built-in store cannot use its file, None if it can."""
        return self._fault.found

    async def run(self, action: Callable[[AgentMemory], T]) -> T:
        """Return the result of ``action``."""
        if self._current.config.knowledge.backend:  # until it is loaded, the entries would go to the built-in store
            await self._loaded()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, action, time.monotonic())

    async def keep_checking(self) -> None:
        """Read a little of the file at the tick after it changed: nobody may call while it is lost."""
        await self._fault.keep_looking(lambda: self._thread.submit(self._look))

    def close(self) -> None:
        """Close the store after the call that is under way, which may hang: nobody waits for it here."""
        with suppress(Unavailable):  # without a thread the store was never opened
            self._thread.submit(self._close)
        self._thread.shutdown()

    def _run(self, action: Callable[[AgentMemory], T], called_at: float) -> T:
        with self._fault.noted():
            memory = self._memory()
            if isinstance(memory, KnowledgeStore):
                memory.wait_from(called_at)
            return action(memory)

    def _look(self) -> None:
        if self._current.config.knowledge.backend and not self._is_built_in():
            self._fault.clear()  # nobody uses the file
            return
        with self._fault.noted():
            memory = self._memory()
            if isinstance(memory, KnowledgeStore):
                memory.wait_from(time.monotonic() - BUSY_S + LOOK_S)
                memory.check_readable()
                self._fault.clear_if(memory.check_writable)

    def _is_built_in(self) -> bool:
        return self._opened is not None and isinstance(self._opened.memory, KnowledgeStore)

    def _memory(self) -> AgentMemory:
        wanted = (self._current.config.knowledge.backend, self._plugins.generation)
        if self._opened is None or self._opened.wanted != wanted:
            self._close()
            self._opened = _Opened(wanted, self._open(wanted[0]))
        return self._opened.memory

    def _open(self, name: str) -> AgentMemory:
        self._plugins.used(KNOWLEDGE_STORE, (name,))
        if not name:
            return KnowledgeStore(self._path)
        plugins, report = self._plugins, partial(self._plugins.report, KNOWLEDGE_STORE, name)
        try:
            store = plugins.create(KNOWLEDGE_STORE, name, plugins.config_for(KNOWLEDGE_STORE, name))
        except PluginUnavailable as fault:
            report(f"{fault}; the built-in store is used")
            return KnowledgeStore(self._path)
        report(None)
        return PluginMemory(name, store, report, plugins.calls(KNOWLEDGE_STORE, name))

    def _close(self) -> None:
        if self._opened is not None:
            opened, self._opened = self._opened, None
            opened.memory.close()


class _Opened(NamedTuple):
    """A store, and what it was opened for: the configured name and the generation of plugins."""

    wanted: tuple[str, int]
    memory: AgentMemory


class KnowledgeMethods:
    """The methods of agent memory."""

    def __init__(self, thread: KnowledgeThread, embedding: EmbeddingThread, plugins: PluginHost) -> None:
        self._thread = thread
        self._plugins = plugins
        self._embedding = embedding

    def table(self) -> dict[str, Handler]:
        return {
            "knowledge/add": self.add,
            "knowledge/finding": self.finding,
            "knowledge/search": self.search,
            "knowledge/list": self.list,
            "knowledge/hot": self.hot,
            "knowledge/delete": self.delete,
            "knowledge/stats": self.stats,
        }

    async def add(self, _call: Call, params: KnowledgeAddParams) -> AddedResult:
        entry = NewEntry(
            _checked(params["content"]),
            params["domain"],
            heading=params["heading"],
            source=params["source"],
            metadata=dict(params["metadata"] or {}),
        )
        return await self._add(entry)

    async def finding(self, _call: Call, params: KnowledgeFindingParams) -> AddedResult:
        metadata = dict(params["metadata"] or {})
        if params["confidence"] is not None:
            metadata["confidence"] = params["confidence"]
        entry = NewEntry(
            _checked(params["content"]), params["domain"], "finding", source=params["source"], metadata=metadata
        )
        return await self._add(entry)

    async def _add(self, entry: NewEntry) -> AddedResult:
        number, created = await self._thread.run(lambda store: store.add(entry))
        if created:
            self._embedding.entries_added()
        return {"id": number, "created": created}

    async def search(self, _call: Call, params: KnowledgeSearchParams) -> FoundEntriesResult:
        domains = None if params["domain"] is None else (params["domain"],)
        wanted = MemoryRequest(params["query"], params["k"], domains, params["mode"])
        answer = await self._thread.run(lambda store: searched(store, wanted, self._embedding, EMBED_S))
        warnings = [*memory_warnings(self._plugins), *answer.warnings]
        found: FoundEntriesResult = {"entries": answer.entries, "mode": answer.mode, "warnings": warnings}
        if answer.pending is not None:
            found["vectors_pending"] = answer.pending
        return found

    async def list(self, _call: Call, params: KnowledgeListParams) -> EntryListResult:
        found = await self._thread.run(
            lambda store: store.page(params["domain"], params["kind"], params["limit"], params["offset"])
        )
        return {"entries": found.entries, "total": found.total}

    async def hot(self, _call: Call, params: KnowledgeHotParams) -> HotResult:
        return {"text": await self._thread.run(lambda store: store.hot(params["max_chars"]))}

    async def delete(self, _call: Call, params: KnowledgeDeleteParams) -> DeletedResult:
        return {"deleted": await self._thread.run(lambda store: store.remove(params["id"]))}

    async def stats(self, _call: Call, _params: NoParams) -> KnowledgeStatsResult:
        name, found = await self._thread.run(lambda store: (store.name, store.counts()))
        return {
            "backend": name,
            "entries": found.entries,
            "domains": found.domains,
            "db_bytes": found.db_bytes,
        }


def _checked(content: str) -> str:
    """Return a content that can be remembered. Raises InvalidParams."""
    if not content.strip():
        raise InvalidParams("content is empty: there is nothing to remember", {"field": "content"})
    size = len(content.encode())
    if size > MAX_CONTENT_BYTES:
        message = f"content has {size} bytes, and an entry at most {MAX_CONTENT_BYTES}: add it in parts"
        raise InvalidParams(message, {"field": "content"})
    return content
