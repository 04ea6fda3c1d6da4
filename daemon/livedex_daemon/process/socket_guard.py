"""Binds the socket at which clients find this daemon, binds it again if it is removed, and removes it at the end.

Invariant: only our own socket, or one on which nothing answers, is removed. Any other file at its path stays, and the
status reports it. A socket inherited from a supervisor is neither watched nor removed.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable

from livedex_daemon.process.daemon_thread import in_daemon_thread
from livedex_daemon.process.tick import tick
from livedex_ipc.errors import LivedexError, Unavailable
from livedex_ipc.file_stamp import is_gone
from livedex_ipc.server.binding import Identity, bind, identity, unbind
from livedex_ipc.server.rpc_server import Server

log = logging.getLogger(__name__)

GIVE_UP_S = 60.0  # after the socket's folder is gone, as after a logout, so that no client can connect


class SocketGuard:
    """Use it on the event loop. ``fault``: why clients cannot connect; None while they can."""

    def __init__(
        self, path: str, inherited: socket.socket | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Bind ``path`` unless a socket was ``inherited``. Raises what ``bind`` raises."""
        self.fault: str | None = None
        self.path = path
        self._bound: Identity | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        if inherited is None:
            self.sock, self._bound = _bind(path)
        else:
            self.sock = inherited
        self._clock = clock
        self._unreachable_since: float | None = None

    async def watch(self, server: Server, give_up: Callable[[], None]) -> None:
        """Check at every tick that the socket is still ours, until cancelled. Calls ``give_up`` after ``GIVE_UP_S``."""
        while self._bound is not None:
            await tick()
            if identity(self.path) != self._bound:
                await self._bind_again(server)
            else:  # it may be that the check itself had failed
                self.fault, self._unreachable_since = None, None
            if self._is_hopeless():
                log.error("socket_folder_gone", extra={"path": self.path})
                give_up()
                return

    async def _bind_again(self, server: Server) -> None:
        try:
            sock = await in_daemon_thread(self._bind_unless_closed, "socket")
        except LivedexError as error:
            if self.fault is None:
                log.warning("socket_lost", extra={"reason": error.message})
                self._unreachable_since = self._clock()
            self.fault = error.message
            return
        log.warning("socket_bound_again", extra={"path": self.path})
        self.sock, self.fault, self._unreachable_since = sock, None, None
        await server.listen_elsewhere(sock)

    def _bind_unless_closed(self) -> socket.socket:
        """Return the new socket. The daemon may end meanwhile: then nobody waits for the result, and nobody accepts."""
        sock, bound = _bind(self.path)
        with self._lock:
            if not self._is_closed:
                self._bound = bound
                return sock
        unbind(self.path, bound)
        sock.close()
        raise Unavailable("the daemon ends", {"path": self.path})

    def _is_hopeless(self) -> bool:
        if self._unreachable_since is None or not is_gone(os.path.dirname(os.path.abspath(self.path))):
            return False
        return self._clock() - self._unreachable_since > GIVE_UP_S

    def close(self) -> None:
        """Remove the socket's file if it is ours. A second call does nothing: the file may be another daemon's by then,
        with the same inode."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
        if self._bound is not None and not was_closed:
            unbind(self.path, self._bound)


def _bind(path: str) -> tuple[socket.socket, Identity]:
    """Return the new socket and what tells its file from others. Raises what ``bind`` raises."""
    sock = bind(path)
    bound = identity(path)
    if bound is None:  # nobody would notice its removal
        sock.close()
        raise Unavailable(f"the system cannot say what is at {path}", {"path": path})
    return sock, bound
