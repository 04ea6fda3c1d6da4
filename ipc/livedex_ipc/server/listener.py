"""Accepts clients from the listening socket, and pauses when no file descriptors are left.

Invariant: every accepted client becomes a connection or is closed; running out of descriptors costs no CPU.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)

SLICE = 64  # clients accepted at once, before connected ones are served
REST_S = 1.0  # pause before the next attempt, when descriptors or memory ran out


class Listener:
    """Accepts on ``sock`` from start() to close(). ``factory`` makes the protocol of each client.

    asyncio's own servers leave a client hanging that was accepted while they close, and log a traceback every second
    when descriptors run out.
    """

    def __init__(self, sock: socket.socket, factory: Callable[[], asyncio.Protocol]) -> None:
        self._sock = sock
        self._factory = factory
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[object]] = set()
        self._rest: asyncio.TimerHandle | None = None
        self._starved = False

    def start(self) -> None:
        """Begin to accept clients."""
        self._sock.setblocking(False)
        self._resume()

    async def close(self) -> None:
        """Stop accepting. Returns when every accepted client has become a connection."""
        if self._rest is not None:
            self._rest.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        if self._arriving:
            await asyncio.wait(self._arriving)

    def _resume(self) -> None:
        self._rest = None
        self._loop.add_reader(self._sock, self._accept)

    def _accept(self) -> None:
        for _ in range(SLICE):
            try:
                client, _address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # of any kind: the socket stays readable, so that trying on at once would spin
                self._starve(error)
                return
            self._starved = False
            task: asyncio.Task[object] = self._loop.create_task(
                self._loop.connect_accepted_socket(self._factory, client)
            )
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    def _starve(self, error: OSError) -> None:
        if not self._starved:  # log it once, not every second
            log.error("accept_failed", extra={"errno": error.errno, "reason": error.strerror})
        self._starved = True
        # The client stays in the queue, so the socket stays readable: without a pause this would spin.
        self._loop.remove_reader(self._sock)
        self._rest = self._loop.call_later(REST_S, self._resume)
