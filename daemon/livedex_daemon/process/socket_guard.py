"""The socket under which clients find this daemon: bound, watched, bound again when somebody took it away, given back.

Invariant: nothing is removed but our own socket or one that nobody answers on; what else stands in its place stays, and
the status says so. A socket that a supervisor handed over is the supervisor's: it is neither watched nor removed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Callable

from livedex_daemon.process.tick import tick
from livedex_ipc.errors import LivedexError
from livedex_ipc.server.binding import Identity, bind, identity, unbind
from livedex_ipc.server.rpc_server import Server

log = logging.getLogger(__name__)

GIVE_UP_S = 60.0  # without the folder of the socket, as after a logout: nobody can come in any more


class SocketGuard:
    """Used on the event loop. ``fault``: why clients cannot come in, None while they can."""

    def __init__(
        self, path: str, inherited: socket.socket | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Binds ``path`` unless a socket was ``inherited``. Raises what `bind` raises."""
        self.fault: str | None = None
        self.path = path
        self.sock = inherited or bind(path)
        self._bound: Identity | None = None if inherited else identity(path)
        self._clock = clock
        self._unreachable_since: float | None = None

    async def watch(self, server: Server, give_up: Callable[[], None]) -> None:
        """Looks every few seconds whether the socket still is ours, for as long as it runs."""
        while self._bound is not None:
            await tick()
            if identity(self.path) != self._bound:
                await self._bind_again(server)
            if self._is_hopeless():
                log.error("socket_folder_gone", extra={"path": self.path})
                give_up()
                return

    async def _bind_again(self, server: Server) -> None:
        try:
            sock = await asyncio.to_thread(bind, self.path)
        except LivedexError as error:
            if self.fault is None:
                log.warning("socket_lost", extra={"reason": error.message})
                self._unreachable_since = self._clock()
            self.fault = error.message
            return
        log.warning("socket_bound_again", extra={"path": self.path})
        self._bound = identity(self.path)
        self.sock, self.fault, self._unreachable_since = sock, None, None
        await server.listen_elsewhere(sock)

    def _is_hopeless(self) -> bool:
        if self._unreachable_since is None or os.path.isdir(os.path.dirname(os.path.abspath(self.path))):
            return False
        return self._clock() - self._unreachable_since > GIVE_UP_S

    def close(self) -> None:
        """Removes the socket's file where it is ours."""
        if self._bound is not None:
            unbind(self.path, self._bound)
