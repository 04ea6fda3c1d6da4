"""The calls of the daemon that the page may make, on one connection for all pages.

Invariant: only methods that read can be called. A daemon that restarts is connected to again, and a call that was lost
with it is made once more. No call waits for a daemon that hangs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from livedex_ipc.async_client import AsyncClient, connect_async
from livedex_ipc.daemon_process import no_answer
from livedex_ipc.errors import InvalidParams, MethodNotFound, NoDaemon, TimedOut, Unavailable

METHODS = frozenset(("files/explain", "files/retrieve", "search", "status"))
OF_MEMORY = frozenset(("domains", "knowledge"))  # params of a search that reads agent memory, and counts that as a use
ANSWER_S = 70.0  # a method ends by itself before that
SILENT_S = 5.0  # after which a daemon that works on a call must answer a ping, as its event loop always can


class DaemonCalls:
    """``spawn``: whether a daemon may be started. ``page``: what the page is told of itself, the answer to ``page``."""

    def __init__(self, spawn: bool, page: Mapping[str, object]) -> None:
        self._spawn = spawn
        self._page = page
        self._client: AsyncClient | None = None
        self._connecting = asyncio.Lock()

    async def call(self, method: str, params: Mapping[str, object]) -> Any:
        """Call a method; return its result. Raises LivedexError."""
        if method == "page":
            return self._page
        if method not in METHODS:
            raise MethodNotFound(f"the page may not call {method}")
        for name in sorted(OF_MEMORY & params.keys()):
            raise InvalidParams(f"{name}: the page searches files alone", {"field": name})
        client = await self._connected()
        try:
            return await _answer(client, method, params)
        except Unavailable:
            if not client.is_lost:
                raise
            return await _answer(await self._connected(), method, params)

    async def connect(self) -> AsyncClient:
        """Return a connection of the caller's own. Raises LivedexError."""
        try:
            return await connect_async(spawn=self._spawn)
        except OSError as error:
            raise NoDaemon(f"no connection to the daemon: {error.strerror}") from error

    async def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            await self._client.close()

    async def _connected(self) -> AsyncClient:
        async with self._connecting:
            if self._client is None or self._client.is_lost:
                await self.close()
                self._client = await self.connect()
            return self._client


async def _answer(client: AsyncClient, method: str, params: Mapping[str, object]) -> Any:
    """Call a method; return its result. Raises TimedOut, with what helps, once the daemon hangs."""
    calling = asyncio.ensure_future(client.call(method, params, timeout_s=ANSWER_S))
    try:
        while not (await asyncio.wait((calling,), timeout=SILENT_S))[0]:
            try:
                await client.call("server/ping", timeout_s=SILENT_S)
            except TimedOut:
                raise no_answer(2 * SILENT_S) from None
        return calling.result()
    finally:
        calling.cancel()
