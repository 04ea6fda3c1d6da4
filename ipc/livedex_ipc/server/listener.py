"""Takes clients off the listening socket, and rests when there are no descriptors left for them.

Invariant: every client that was accepted becomes a connection or is closed; running out of descriptors costs no CPU.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
from collections.abc import Callable

log = logging.getLogger(__name__)

SLICE = 64  # clients taken in one go, before those that are in have their turn
REST_S = 1.0  # before the next try, when there was no descriptor or memory for one more
STARVED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})


class Listener:
    """Accepts on ``sock`` from start() to close(). ``factory`` makes the protocol of each client.

    asyncio's own servers leave a client that was accepted while they are closed hanging, and log a traceback a second
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
        """Accepts from now on."""
        self._sock.setblocking(False)
        self._resume()

    async def close(self) -> None:
        """Accepts nobody more. Returns when everybody who was accepted is a connection."""
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
            except OSError as error:
                if error.errno not in STARVED:
                    raise
                self._starve(error)
                return
            self._starved = False
            task: asyncio.Task[object] = self._loop.create_task(
                self._loop.connect_accepted_socket(self._factory, client)
            )
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)

    def _starve(self, error: OSError) -> None:
        if not self._starved:  # once, not once a second
            log.error("accept_failed", extra={"errno": error.errno, "reason": error.strerror})
        self._starved = True
        # The client stays in the queue and the socket readable: without a rest this would spin.
        self._loop.remove_reader(self._sock)
        self._rest = self._loop.call_later(REST_S, self._resume)
