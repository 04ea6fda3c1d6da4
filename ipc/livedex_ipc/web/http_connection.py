"""One HTTP/1.1 connection of a browser: h11 reads and frames, this module keeps time and notices the end.

Invariant: an answer is being made only while its client is connected; a client that is slow to send or to read loses
its connection, and what is kept in memory for it is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

import h11

from livedex_ipc.web.page_files import HEADERS
from livedex_ipc.web.request_gate import Refused, Request

READ_S = 30.0  # for a whole request, from the end of the one before
WRITE_S = 30.0  # for a client to read what was sent
MAX_HEAD = 16 * 1024
MAX_BODY = 64 * 1024
READ_BYTES = 64 * 1024
_PLAIN = "text/plain; charset=utf-8"


class Response(NamedTuple):
    """What is sent. ``body``: whole, or in pieces that are sent as they come until the client closes."""

    status: int
    content_type: str
    body: bytes | AsyncGenerator[bytes, None]


Answer = Callable[[Request, bytes], Awaitable[Response]]


class HttpConnection:
    """``check`` takes a head and returns whether it has the token; it raises Refused, as ``answer`` may.

    ``is_trusted``: whether a request on this connection had the token.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        check: Callable[[Request], bool],
        answer: Answer,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._check, self._answer = check, answer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        self.is_trusted = False

    async def serve(self) -> None:
        """Answer requests until one side closes."""
        try:
            while await self._exchange():
                self._http.start_next_cycle()
            self._writer.close()
            async with asyncio.timeout(WRITE_S):
                await self._writer.wait_closed()
        except (OSError, TimeoutError, h11.LocalProtocolError):
            pass  # the client has gone, is too slow, or was cut off in the middle of an answer
        finally:
            self.abort()

    def abort(self) -> None:
        """End the connection at once, with whatever was not sent."""
        self._writer.transport.abort()

    async def _exchange(self) -> bool:
        """Answer one request. Return whether another may follow."""
        request = None
        try:
            async with asyncio.timeout(READ_S):
                request = await self._read_head()
                if request is None:
                    return False
                self.is_trusted = self._check(request) or self.is_trusted
                body = await self._read_body()
            await self._while_connected(self._respond(request, body))
        except Refused as refused:
            await self._refuse(request, refused)
        except h11.RemoteProtocolError as error:
            await self._refuse(request, Refused(error.error_status_hint, "this is not a request of HTTP/1.1"))
        return self._http.our_state is h11.DONE and self._http.their_state is h11.DONE

    async def _read_head(self) -> Request | None:
        """Return the head of the next request; None if the client has closed."""
        event = await self._next_event()
        if not isinstance(event, h11.Request):
            return None
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        return Request(event.method.decode("latin-1"), event.target.decode("latin-1"), headers)

    async def _read_body(self) -> bytes:
        body = bytearray()
        while isinstance(event := await self._next_event(), h11.Data):
            body += event.data
            if len(body) > MAX_BODY:
                raise Refused(413, f"a call has at most {MAX_BODY} bytes")
        return bytes(body)

    async def _next_event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                await self._send(h11.InformationalResponse(status_code=100, headers=[]))
            self._http.receive_data(await self._reader.read(READ_BYTES))
        return event

    async def _while_connected(self, responding: Coroutine[Any, Any, None]) -> None:
        """Wait for an answer that is being made and sent; end it if the client closes meanwhile."""
        answering = asyncio.create_task(responding)
        tasks = answering, asyncio.create_task(self._closed())
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                raise ConnectionResetError("the client has closed")
            answering.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _closed(self) -> None:
        """Return once the client has closed. If it sends its next request instead, nothing more is read for now."""
        data = await self._reader.read(READ_BYTES)
        if data:
            self._http.receive_data(data)
            await asyncio.Future()

    async def _respond(self, request: Request, body: bytes) -> None:
        response = await self._answer(request, body)
        await self._send_response(request, response)

    async def _refuse(self, request: Request | None, refused: Refused) -> None:
        """Say why, and close: what else the client sends is not read."""
        if self._http.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = Response(refused.status, _PLAIN, f"{refused.message}\n".encode())
            allowed = [("Allow", refused.allow)] if refused.allow else []
            await self._send_response(request, response, [*allowed, ("Connection", "close")])

    async def _send_response(
        self, request: Request | None, response: Response, more: Sequence[tuple[str, str]] = ()
    ) -> None:
        headers = [("Content-Type", response.content_type), *HEADERS, *more]
        whole = response.body if isinstance(response.body, bytes) else None
        if whole is not None:
            headers.append(("Content-Length", str(len(whole))))
        await self._send(h11.Response(status_code=response.status, headers=headers))
        if request is not None and request.method == "HEAD":
            pass
        elif isinstance(response.body, bytes):
            await self._send(h11.Data(data=response.body))
        else:
            async with aclosing(response.body) as pieces:
                async for piece in pieces:
                    await self._send(h11.Data(data=piece))
        await self._send(h11.EndOfMessage())

    async def _send(self, event: h11.Event) -> None:
        data = self._http.send(event)
        if data:
            self._writer.write(data)
            async with asyncio.timeout(WRITE_S):
                await self._writer.drain()
