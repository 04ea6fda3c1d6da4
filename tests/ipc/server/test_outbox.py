"""What a connection does when there is no memory for its answer."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from helpers.threaded_server import code_of, request, serving
from livedex_ipc import framing
from livedex_ipc.limits import Limits
from livedex_ipc.server.outbox import Outbox

LARGE = 100_000


class Transport(asyncio.Transport):
    """One that failed in a write: it waits for its socket to take more."""

    def __init__(self, peer: socket.socket) -> None:
        super().__init__({"socket": peer})
        self.is_aborted = False
        asyncio.get_running_loop().add_writer(peer, bool)

    def abort(self) -> None:
        self.is_aborted = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """It has no buffer."""


def test_a_connection_that_is_broken_off_waits_no_more_to_write() -> None:
    """asyncio's own end of it leaves that, if nothing is left to write: the loop would call back for ever."""

    async def test() -> None:
        here, there = socket.socketpair()
        with here, there:
            transport = Transport(here)
            Outbox(transport, Limits(), transport.abort).break_off()
            assert transport.is_aborted
            assert not asyncio.get_running_loop().remove_writer(here), "it was removed"

    asyncio.run(test())


def test_a_client_whose_answer_finds_no_memory_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(message: bytes, used: Any) -> bytes:
        if len(message) > LARGE:
            raise MemoryError
        return usual(message, used)

    usual = framing.encode
    monkeypatch.setattr(framing, "encode", encode)
    with serving() as server, server.connect() as client, server.connect() as other:
        client.line(request("test/big", {"bytes": LARGE}))
        assert client.read() is None
        assert code_of(other.ask("server/ping")) is None
