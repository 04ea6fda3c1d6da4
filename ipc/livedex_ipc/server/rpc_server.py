"""The Unix server: accepts clients, limits how many there are, and shuts them down in order.

Invariant: only processes of our own uid or of root are served, and never more of them at once than the limit.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Mapping

from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads
from livedex_ipc.limits import Limits
from livedex_ipc.method_types import Method
from livedex_ipc.methods import METHODS
from livedex_ipc.server.binding import bind, identity, unbind
from livedex_ipc.server.calls import Call, Handler
from livedex_ipc.server.connection import Connection
from livedex_ipc.server.listener import Listener
from livedex_ipc.server.unfinished import UnfinishedRequests

__all__ = ["Call", "Handler", "Limits", "Server", "bind", "identity", "unbind"]

CANCEL_S = 0.5  # for requests that were cancelled to clean up
FLUSH_S = 0.25  # for transports to close after the time that a client has to read


class Server:
    """Answers requests on one listening socket with ``handlers``, by method name.

    A method without a handler does not exist (-32601). ``methods``: the table of the methods and their params;
    ``uid``: whose processes may connect, besides root's; None for our own. Raises ValueError for a handler whose
    method is not in the table.
    """

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        limits: Limits = Limits(),  # noqa: B008  (immutable)
        uid: int | None = None,
        methods: Mapping[str, Method] = METHODS,
    ) -> None:
        unknown = handlers.keys() - methods.keys()
        if unknown:
            raise ValueError(f"handlers for methods that do not exist: {', '.join(sorted(unknown))}")
        self.handlers = dict(handlers)
        self.methods = {name: method for name, method in methods.items() if name in handlers}
        self.limits = limits
        self.uid = os.geteuid() if uid is None else uid
        self.closing = False
        self.parser = LastingThreads(1, "parser")  # starts its thread on first use
        self.unfinished = UnfinishedRequests[Connection](limits.unfinished_bytes)
        self._connections: set[Connection] = set()
        self._refused: set[Connection] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[None]] = set()
        self._listener: Listener | None = None

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    @property
    def busy(self) -> bool:
        """Whether a request is running, besides the one that asks, and those that only wait for others."""
        current = asyncio.current_task()
        return any(task is not current for task in self._tasks)

    @property
    def refused(self) -> int:
        """How many refused clients are still connected, to read the reason."""
        return len(self._refused)

    async def start(self, sock: socket.socket) -> None:
        """Begin to answer at ``sock``, a listening socket from bind() or from a supervisor.

        close() closes it but leaves its file, which unbind() removes if it is ours.
        """
        self._listener = Listener(sock, lambda: Connection(self), self._leaving)
        self._listener.start()

    async def listen_elsewhere(self, sock: socket.socket) -> None:
        """Accept at ``sock`` and no longer at the former socket. Existing connections stay open."""
        former = self._listener
        await self.start(sock)
        if former is not None:
            await former.close()

    async def close(self, grace_s: float) -> None:
        """Stop accepting, give running requests ``grace_s`` seconds, then fail them (code 4) and close connections."""
        self.closing = True
        if self._listener is not None:
            await self._listener.close()
        await self._wait_for_tasks(grace_s)
        for connection in list(self._connections):
            connection.end_all(Unavailable("the daemon is stopping: ask again when it is back"))
        await self._wait_for_tasks(CANCEL_S)
        leaving = [*self._connections, *self._refused]
        for connection in leaving:
            connection.leave()
        gone = asyncio.gather(*(connection.closed.wait() for connection in leaving))
        await asyncio.wait([gone], timeout=self.limits.linger_s + FLUSH_S)
        for connection in leaving:
            connection.abort()
        await gone
        self.parser.shutdown(wait=False)

    def admit(self, connection: Connection) -> bool:
        """Count a new connection. Returns False if the limit is reached, not counting clients that have gone."""
        limit = self.limits.connections
        if len(self._connections) < limit or sum(not one.is_hung_up() for one in self._connections) < limit:
            self._connections.add(connection)
            return True
        self._refused.add(connection)
        return False

    @property
    def may_linger(self) -> bool:
        """Whether one more refused connection may stay open until it has read the reason."""
        return not self._leaving()

    def _leaving(self) -> int:
        """How many refused connections do not linger, and are not closed yet."""
        return max(0, len(self._refused) - self.limits.refused)

    def forget(self, connection: Connection) -> None:
        """Drop a closed connection."""
        self._connections.discard(connection)
        self._refused.discard(connection)
        self.unfinished.count(connection, 0)

    def watch(self, task: asyncio.Task[None], *, waits: bool = False) -> None:
        """Keep a reference to a request's task until it is done: it may outlive its connection.

        ``waits``: it only waits for others, so that the end need not wait for it.
        """
        tasks = self._waiting if waits else self._tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _wait_for_tasks(self, timeout_s: float) -> None:
        current = asyncio.current_task()
        waiting = [task for task in self._tasks if task is not current]
        if waiting:
            await asyncio.wait(waiting, timeout=timeout_s)
