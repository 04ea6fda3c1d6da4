"""Accepts clients from the listening socket, and pauses when no file descriptors are left.

Invariant: every accepted client becomes a connection or is closed; running out of descriptors costs no CPU, and who
waits for one is refused with the reason.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress

from livedex_ipc.errors import Unavailable
from livedex_ipc.framing import encode
from livedex_ipc.server.message_json import failure

log = logging.getLogger(__name__)

SLICE = 64  # clients accepted at once, before connected ones are served
REST_S = 1.0  # pause before the next attempt, when descriptors or memory ran out
DRAINED = 64 * 1024  # bytes of a refused client that are read: it would get a reset instead of the reason
NO_DESCRIPTOR = "the daemon has no free file descriptor for one more client: close some, and ask again"


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
        self._reserve: int | None = None  # a descriptor for the refusal of those who wait for one

    def start(self) -> None:
        """Begin to accept clients."""
        self._sock.setblocking(False)
        self._keep_reserve()
        self._resume()

    async def close(self) -> None:
        """Stop accepting. Returns when every accepted client has become a connection."""
        if self._rest is not None:
            self._rest.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        self._free_reserve()
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
        elif error.errno in (errno.EMFILE, errno.ENFILE):
            self._refuse_waiting()
        self._starved = True
        # The client stays in the queue, so the socket stays readable: without a pause this would spin.
        self._loop.remove_reader(self._sock)
        self._rest = self._loop.call_later(REST_S, self._resume)

    def _refuse_waiting(self) -> None:
        """Tell the clients that have waited through a pause why they cannot be served."""
        refusal = encode(failure(None, Unavailable(NO_DESCRIPTOR).to_wire()), None)
        self._free_reserve()
        for _ in range(SLICE):
            try:
                client, _address = self._sock.accept()
            except OSError:
                break
            with client, suppress(OSError):
                client.setblocking(False)
                client.send(refusal)
                client.recv(DRAINED)
        self._keep_reserve()

    def _keep_reserve(self) -> None:
        with suppress(OSError):
            self._reserve = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _free_reserve(self) -> None:
        if self._reserve is not None:
            os.close(self._reserve)
            self._reserve = None
