"""Accepts clients from the listening socket, and pauses when no file descriptors are left.

Invariant: every accepted client becomes a connection or is closed, and few are on their way to either at once; running
out of descriptors costs no CPU, and who waited a whole pause for one in vain is refused with the reason.
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

SLICE = 16  # clients that are accepted and neither connected nor closed yet
REFUSED = 64  # clients refused at once for want of a descriptor
PAUSE_S = 0.25  # before the next attempt, when descriptors or memory ran out
DRAINED = 64 * 1024  # bytes of a refused client that are read: it would get a reset instead of the reason
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
NO_DESCRIPTOR = "the daemon has no free file descriptor for one more client: close some, and ask again"


class Listener:
    """Accepts on ``sock`` from start() to close(). ``factory`` makes the protocol of each client.

    ``leaving`` tells how many of them are being closed at once.

    asyncio's own servers leave a client hanging that was accepted while they close, and log a traceback every second
    when descriptors run out.
    """

    def __init__(
        self, sock: socket.socket, factory: Callable[[], asyncio.Protocol], leaving: Callable[[], int]
    ) -> None:
        self._sock = sock
        self._factory = factory
        self._leaving = leaving
        self._loop = asyncio.get_running_loop()
        self._arriving: set[asyncio.Task[object]] = set()
        self._pause: asyncio.TimerHandle | None = None
        self._starved = False
        self._reserve: socket.socket | None = None  # a descriptor for the refusal of those who wait for one
        self._is_marked = False  # the reserve is in the queue, as the marker behind those who wait for a whole pause
        self._token = os.urandom(16)  # what the marker says

    def start(self) -> None:
        """Begin to accept clients."""
        self._sock.setblocking(False)
        self._keep_reserve()
        self._resume()

    async def close(self) -> None:
        """Stop accepting. Returns when every accepted client has become a connection."""
        if self._pause is not None:
            self._pause.cancel()
        self._loop.remove_reader(self._sock)
        self._sock.close()
        self._free_reserve()
        if self._arriving:
            await asyncio.wait(self._arriving)

    def _resume(self) -> None:
        self._pause = None
        self._loop.add_reader(self._sock, self._accept)

    def _accept(self) -> None:
        error = self._accept_waiting()
        if error is None:
            return
        if not self._starved:  # log it once, not after every pause
            log.error("accept_failed", extra={"errno": error.errno, "reason": error.strerror})
        self._starved = True
        # The client stays in the queue, so the socket stays readable: without a pause this would spin.
        self._loop.remove_reader(self._sock)
        if error.errno in _NO_DESCRIPTOR:
            self._mark()
        self._pause = self._loop.call_later(PAUSE_S, self._after_pause)

    def _accept_waiting(self) -> OSError | None:
        """Accept clients as far as SLICE allows. Return the error that kept out the first of the rest, if any."""
        for _ in range(SLICE - len(self._arriving) - self._leaving()):
            try:
                client, _address = self._sock.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return None
            except OSError as error:
                return error
            self._starved = False
            task: asyncio.Task[object] = self._loop.create_task(
                self._loop.connect_accepted_socket(self._factory, client)
            )
            self._arriving.add(task)
            task.add_done_callback(self._arriving.discard)
        return None

    def _after_pause(self) -> None:
        error = self._accept_waiting()
        is_marked, self._is_marked = self._is_marked, False
        is_refusing = error is not None and error.errno in _NO_DESCRIPTOR
        if is_marked or is_refusing:
            self._free_reserve()
        if is_refusing:
            self._refuse(REFUSED if is_marked else 1)
        self._keep_reserve()
        self._resume()

    def _refuse(self, most: int) -> None:
        """Tell the clients in the queue up to the marker why they cannot be served."""
        refusal = encode(failure(None, Unavailable(NO_DESCRIPTOR).to_wire()), None)
        for _ in range(most):
            try:
                client, _address = self._sock.accept()
            except OSError:
                return
            with client, suppress(OSError):
                client.setblocking(False)
                with suppress(BlockingIOError):
                    if client.recv(len(self._token), socket.MSG_PEEK) == self._token:
                        return
                client.send(refusal)
                client.recv(DRAINED)

    def _mark(self) -> None:
        """Queue up as a client: whoever comes later has not waited for the whole pause."""
        if self._reserve is not None:
            with suppress(OSError):
                self._reserve.connect(self._sock.getsockname())
                self._reserve.send(self._token)
                self._is_marked = True

    def _keep_reserve(self) -> None:
        if self._reserve is None:
            with suppress(OSError):
                self._reserve = socket.socket(socket.AF_UNIX)
                self._reserve.setblocking(False)

    def _free_reserve(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
            self._reserve = None
