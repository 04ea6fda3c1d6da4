"""One connection of the page's server: clients that are slow, that go away, and answers in pieces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress

import pytest

from livedex_ipc.web import http_connection
from livedex_ipc.web.http_connection import Answer, HttpConnection, Response
from livedex_ipc.web.request_gate import Request

WAIT_S = 10.0
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"

Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def with_connection(answer: Answer, client: Client) -> None:
    """Run ``client`` with a connection to a server that answers so; the server's side must end after it."""

    async def run() -> None:
        ended = asyncio.Event()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await HttpConnection(reader, writer, lambda _request: False, answer).serve()
            ended.set()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
        async with asyncio.timeout(WAIT_S):
            await client(reader, writer)
            writer.close()
            await ended.wait()
        server.close()

    asyncio.run(run())


async def hello(_request: Request, body: bytes) -> Response:
    return Response(200, "text/plain", b"hello " + body)


@pytest.mark.parametrize("sent", [b"", b"G", GET[:-2], b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf"])
def test_a_client_that_does_not_finish_a_request_is_disconnected(monkeypatch: pytest.MonkeyPatch, sent: bytes) -> None:
    monkeypatch.setattr(http_connection, "READ_S", 0.05)

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""

    with_connection(hello, client)


def test_a_client_that_does_not_read_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "WRITE_S", 0.05)
    stopped = asyncio.Event()

    async def large(_request: Request, _body: bytes) -> Response:
        return Response(200, "text/plain", pieces())

    async def pieces() -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"x" * 1_000_000
        finally:
            stopped.set()

    async def client(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GET)
        await stopped.wait()

    with_connection(large, client)


def test_an_answer_is_given_up_when_its_client_closes() -> None:
    begun, given_up = asyncio.Event(), asyncio.Event()

    async def never(_request: Request, _body: bytes) -> Response:
        begun.set()
        try:
            return await asyncio.Future()
        finally:
            given_up.set()

    async def client(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GET)
        await begun.wait()
        writer.close()
        await given_up.wait()

    with_connection(never, client)


def test_a_request_that_comes_during_an_answer_is_answered_after_it() -> None:
    go_on = asyncio.Event()
    targets: list[str] = []

    async def waiting(request: Request, _body: bytes) -> Response:
        targets.append(request.target)
        await go_on.wait()
        return Response(200, "text/plain", request.target.encode())

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GET.replace(b"/", b"/1", 1))
        while not targets:
            await asyncio.sleep(0)
        writer.write(GET.replace(b"/", b"/2", 1) + GET.replace(b"/", b"/3", 1))
        await writer.drain()
        await asyncio.sleep(0)
        assert targets == ["/1"]
        go_on.set()
        for number in (b"/1", b"/2", b"/3"):
            await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(2) == number

    with_connection(waiting, client)


def test_pieces_are_sent_as_they_come_and_the_stream_has_an_end() -> None:
    ask = asyncio.Queue[bytes | None]()

    async def streaming(_request: Request, _body: bytes) -> Response:
        return Response(200, "text/plain", pieces())

    async def pieces() -> AsyncGenerator[bytes, None]:
        while (piece := await ask.get()) is not None:
            yield piece

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GET)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"chunked" in head
        for piece in (b"one", b"two"):
            ask.put_nowait(piece)
            assert await reader.readuntil(piece) == b"3\r\n" + piece
            await reader.readexactly(2)
        ask.put_nowait(None)
        assert await reader.readexactly(5) == b"0\r\n\r\n"
        writer.write(GET)
        ask.put_nowait(None)
        assert b"200" in await reader.readline()

    with_connection(streaming, client)
