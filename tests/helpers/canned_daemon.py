"""A daemon that gives the answers a test wrote: the real server on a real socket, in a thread.

Invariant: params are checked as the daemon checks them, and kept in `calls` for the test.
"""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from livedex_ipc import __version__
from livedex_ipc.errors import LivedexError
from livedex_ipc.methods import METHODS
from livedex_ipc.server.rpc_server import Call, Handler, Server, bind

# The answer of a method: its result, an error to raise, or a function of the params that gives either.
Answer = Any


class CannedDaemon:
    """A context manager that listens on `path`. `answers` may be changed meanwhile; a method without one answers {}."""

    def __init__(self, path: Path, **answers: Answer) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {name.replace("__", "/"): answer for name, answer in answers.items()}
        self.answers.setdefault("server/info", {**info(), "version": __version__})
        self.answers.setdefault("roots/list", {"roots": []})
        self.answers.setdefault("sync", {"synced": True, "pending": 0, "generation": 1, "waited_ms": 0.1})
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="canned-daemon")

    def sent(self, method: str) -> list[dict[str, Any]]:
        """Return the params of each call of `method` so far, without those at their default."""
        return [params for name, params in self.calls if name == method]

    def __enter__(self) -> CannedDaemon:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._end is not None
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = Server({name: self._handler(name) for name in METHODS})
        await server.start(bind(str(self.path)))
        self._ready.set()
        await self._end.wait()
        await server.close(0)
        self.path.unlink()

    def _handler(self, name: str) -> Handler:
        async def answer(call: Call, params: dict[str, Any]) -> Any:
            defaults = METHODS[name].params
            if name != "server/info":  # each command calls it first
                self.calls.append(
                    (name, {key: value for key, value in params.items() if value != defaults[key].default})
                )
            if name == "index/run":
                for done in range(3):
                    percentage = 100 * done // 3
                    call.progress(
                        {
                            "kind": "report",
                            "message": "",
                            "percentage": percentage,
                            "done": done,
                            "total": 3,
                            "done_bytes": 1000 * done,
                            "total_bytes": 3000,
                            "path": "/r/now\x1b",
                        }
                    )
            result = self.answers.get(name, {})
            if callable(result):
                result = await asyncio.to_thread(result, params)
            if isinstance(result, LivedexError):
                raise result
            return result

        return answer


def info() -> dict[str, Any]:
    """Return a result of `server/info`; the pid is that of the tests."""
    server = {"name": "livedex", "version": "0", "protocol": 1, "pid": os.getpid(), "config_path": ""}
    return {**server, "capabilities": {"barrier": "exact"}}


def search_result(*hits: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a result of `search`."""
    base: dict[str, Any] = {"hits": list(hits), "fresh": True, "generation": 1, "pending": 0, "mode": "keyword"}
    return {**base, "took_ms": 0.5, "next_offset": None, "warnings": [], **fields}


def hit(path: str, snippet: str, highlights: list[list[int]], **fields: Any) -> dict[str, Any]:
    """Return a hit whose chunk is its snippet."""
    base: dict[str, Any] = {"path": path, "root": "/r", "relative_path": path.rpartition("/")[2], "kind": "plain"}
    base.update(language=None, heading=None, symbol=None, start_line=1, end_line=1 + snippet.count("\n"))
    base.update(
        start_column=1, start_byte=0, end_byte=len(snippet.encode()), score=1.0, snippet=snippet, snippet_line=1
    )
    base.update(snippet_byte=0, highlights=highlights, content_hash="00" * 16, metadata={})
    base.update(line=1, column=1, text=snippet.partition("\n")[0])
    return {**base, "modified_at": "2026-01-01T00:00:00.000Z", **fields}


HIT = hit("/r/notes/a.md", "one two\nthree two", [[4, 7], [14, 17]])


def status_result(*roots: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a result of `status`."""
    base: dict[str, Any] = {"state": "ready", "version": "0", "pid": os.getpid(), "uptime_s": 1.5, "generation": 1}
    base.update(pending=0, pending_bytes=0, work={"files_read": 0, "bytes_done": 0})
    base.update(files=2, chunks=3, skipped=0, failed=0, db_path="/d/index.db", db_bytes=4096)
    base.update(backend="sqlite", embedder=None, vectors_pending=0, documents_pending=0, warnings=[])
    return {**base, "roots": list(roots), "freshness": {"p50_ms": 1.0, "p99_ms": 2.0, "samples": 3}, **fields}


def root(path: str, **fields: Any) -> dict[str, Any]:
    """Return one root of a status."""
    base = {"path": path, "state": "online", "watching": "native", "files": 2, "pending": 0, "overflows": 0}
    return {**base, "last_reconciled": None, **fields}
