"""Answer the methods of agent memory, on a thread of their own.

Invariant: an entry is acknowledged once it is on the disk, and a store that fails hinders nothing else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from livedex_daemon.knowledge.knowledge_store import KnowledgeStore, NewEntry
from livedex_ipc.errors import InvalidParams
from livedex_ipc.knowledge_methods import MAX_CONTENT_BYTES
from livedex_ipc.knowledge_results import (
    AddedResult,
    DeletedResult,
    EntriesResult,
    EntryListResult,
    HotResult,
    KnowledgeStatsResult,
)
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
    """Opens the store at the first call. For the event loop's thread."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._thread = ThreadPoolExecutor(1, "knowledge")
        self._store: KnowledgeStore | None = None  # for that thread alone

    async def run(self, action: Callable[[KnowledgeStore], T]) -> T:
        """Return the result of ``action``, and raise what it raises. Also raises DatabaseUnusable."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, action)

    def close(self) -> None:
        """Close the store after the call that is under way, which may hang: nobody waits for it here."""
        self._thread.submit(self._close)
        self._thread.shutdown(wait=False)

    def _run(self, action: Callable[[KnowledgeStore], T]) -> T:
        if self._store is None:
            self._store = KnowledgeStore(self._path)
        return action(self._store)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()


class KnowledgeMethods:
    """The methods of agent memory."""

    def __init__(self, thread: KnowledgeThread) -> None:
        self._thread = thread

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
        return {"id": number, "created": created}

    async def search(self, _call: Call, params: KnowledgeSearchParams) -> EntriesResult:
        domains = None if params["domain"] is None else (params["domain"],)
        return {"entries": await self._thread.run(lambda store: store.search(params["query"], params["k"], domains))}

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
        found = await self._thread.run(lambda store: store.counts())
        return {
            "backend": "sqlite",
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
