"""The asyncio client: many calls at once on one connection, notifications, and cancellation with the task.

Invariant: each call ends with its answer, its error, or the end of the connection; a call whose task is cancelled ends
in the daemon too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any

from livedex_ipc.async_method_calls import AsyncMethodCalls
from livedex_ipc.client import Client, connect
from livedex_ipc.constants import MAX_MESSAGE
from livedex_ipc.errors import LivedexError, TimedOut, Unavailable, from_wire
from livedex_ipc.thread_start import start_thread

OnProgress = Callable[[Any], None]


class AsyncClient(AsyncMethodCalls):
    """One connection to the daemon, for one event loop. Closing it cancels the requests it waits for."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._last_id = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._on_progress: dict[int, OnProgress] = {}
        self._notifications: asyncio.Queue[tuple[str, Any] | None] = asyncio.Queue()
        self._lost: LivedexError | None = None
        self._refusal: LivedexError | None = None  # the last error that names no request
        self._task = asyncio.get_running_loop().create_task(self._read(), name="livedex client")

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def is_lost(self) -> bool:
        """Whether the daemon has closed the connection: every further call fails."""
        return self._lost is not None

    async def close(self) -> None:
        """Close the connection. A second call does nothing."""
        self._lost = self._lost or Unavailable("this connection was closed: connect again")
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()

    async def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Any:
        """Call ``method`` and return its result, the object that the protocol documents for the method.

        ``params``: by name, the names and units as in the method table; None sends none. ``timeout_s``: seconds; None
        waits for ever. ``on_progress`` is called with each ``$/progress`` value of a method that reports progress.

        Raises the daemon's error as its LivedexError subclass; TimedOut after ``timeout_s``; Unavailable when the
        daemon closes the connection. Past its time, or when the task is cancelled, the request ends in the daemon too.
        """
        if self._lost is not None:
            raise self._lost
        self._last_id += 1
        number = self._last_id
        request: dict[str, object] = {"jsonrpc": "2.0", "id": number, "method": method}
        if on_progress is not None:
            params = {**(params or {}), "progress_token": number}
            self._on_progress[number] = on_progress
        if params:
            request["params"] = params
        answered = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_s) as limit:
                await self._send(request)
                return await answered
        except TimeoutError:
            if not limit.expired():  # the caller's own, of ``on_progress``
                raise
            raise TimedOut(f"{method} was not answered in {timeout_s:g} s") from None
        finally:
            self._on_progress.pop(number, None)
            if (self._waiting.pop(number, None) is not None and not answered.done()) or answered.cancelled():
                self._cancel(number)

    async def notification(self, timeout_s: float | None = None) -> tuple[str, Any]:
        """Return the next notification as ``(method, params)``, in the order the daemon sent them.

        ``timeout_s``: seconds; None waits for ever. Raises TimedOut after that, and Unavailable when the daemon closes
        the connection.
        """
        try:
            async with asyncio.timeout(timeout_s):
                note = await self._notifications.get()
        except TimeoutError:
            raise TimedOut(f"no notification arrived within {timeout_s:g} s") from None
        if note is None:
            self._notifications.put_nowait(None)  # for the next waiter
            raise self._lost or _gone()
        return note

    async def _send(self, message: Mapping[str, object]) -> None:
        self._write(message)
        with contextlib.suppress(ConnectionError):  # the reading task says what became of the connection
            await self._writer.drain()

    def _write(self, message: Mapping[str, object]) -> None:
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")

    def _cancel(self, number: int) -> None:
        if self._lost is None:
            self._write({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})

    async def _read(self) -> None:
        """Hand each message to its waiter, until the connection ends."""
        try:
            while line := await self._reader.readline():
                self._take(json.loads(line))
        except (OSError, ValueError):
            pass  # a broken connection; or an answer that is none, after which nothing can be trusted
        finally:
            self._lost = self._lost or self._refusal or _gone()
            self._end_all(self._lost)
            self._notifications.put_nowait(None)

    def _take(self, message: Mapping[str, Any]) -> None:
        if "method" not in message:
            self._answer(message)
        elif message["method"] == "$/progress":
            self._report(message["params"]["token"], message["params"]["value"])
        elif not message["method"].startswith("$/"):
            self._notifications.put_nowait((message["method"], message.get("params") or {}))

    def _report(self, token: Any, value: Any) -> None:
        """Hand progress to its call. What the caller's own function raises ends that call, and no other one."""
        report, answered = self._on_progress.get(token), self._waiting.get(token)
        if report is None or answered is None or answered.done():
            return
        try:
            report(value)
        except Exception as error:
            answered.set_exception(error)

    def _end_all(self, error: LivedexError) -> None:
        for answered in self._waiting.values():
            if not answered.done():
                answered.set_exception(error)

    def _answer(self, message: Mapping[str, Any]) -> None:
        number = message.get("id")
        if number is None and "error" in message:
            # It refuses this client, and closes; or it could not read one of the requests, and cannot say which.
            self._refusal = from_wire(message["error"])
            self._end_all(self._refusal)
            return
        self._refusal = None
        answered = self._waiting.get(number) if isinstance(number, int) else None
        if answered is None or answered.done():
            return
        if "error" in message:
            answered.set_exception(from_wire(message["error"]))
        else:
            answered.set_result(message["result"])


async def connect_async(
    *, spawn: bool = True, wait_s: float = 10.0, path: str | None = None, command: Sequence[str] | None = None
) -> AsyncClient:
    """Connect to the daemon from asyncio. If none answers, start one in the background.

    The arguments and the errors are those of ``connect``.
    """
    connecting: Future[Client] = Future()
    connecting.set_running_or_notify_cancel()  # a caller that goes away ends its own wait alone
    attempt = partial(connect, spawn=spawn, wait_s=wait_s, path=path, command=command)
    start_thread(partial(_fulfil, connecting, attempt), "livedex connect")
    client = await asyncio.wrap_future(connecting)
    sock = client.detach()
    sock.setblocking(False)
    return AsyncClient(*await asyncio.open_unix_connection(sock=sock, limit=MAX_MESSAGE))


def _fulfil(connecting: Future[Client], attempt: Callable[[], Client]) -> None:
    try:
        connecting.set_result(attempt())
    except BaseException as error:  # for the caller
        connecting.set_exception(error)


def _gone() -> Unavailable:
    return Unavailable("the daemon closed the connection: it stopped, or was killed; connect again")
