"""The HTTP server of the page: it listens on the loopback interface and hands each connection its answers.

Invariant: it listens on 127.0.0.1 alone. Other users of the machine can connect, and get nothing without the token;
of too many connections, the oldest that has not shown it is closed.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable

from livedex_ipc.errors import Unavailable
from livedex_ipc.web.daemon_calls import DaemonCalls
from livedex_ipc.web.http_connection import HttpConnection
from livedex_ipc.web.page_answers import PageAnswers
from livedex_ipc.web.request_gate import Gate

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 64


def serve(port: int, token: str, calls: DaemonCalls, say: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM. ``port``: 0 for a free one; ``say`` gets the address. Raises Unavailable."""
    try:
        listening = socket.create_server((ADDRESS, port))
    except OSError as error:
        raise Unavailable(
            f"port {port} cannot be used: {error.strerror}; name another one by --port, or none"
        ) from error
    with listening:
        host = f"{ADDRESS}:{listening.getsockname()[1]}"
        server = WebServer(Gate(host, token), calls)
        asyncio.run(server.run(listening, lambda: say(f"http://{host}/#token={token}")))


class WebServer:
    """One server, for one event loop."""

    def __init__(self, gate: Gate, calls: DaemonCalls) -> None:
        self._gate, self._calls = gate, calls
        self._answers = PageAnswers(calls)
        self._open: dict[HttpConnection, asyncio.Task[None]] = {}  # the oldest first

    async def run(self, listening: socket.socket, on_ready: Callable[[], None]) -> None:
        """Serve until SIGINT or SIGTERM."""
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, ended.set)
        server = await asyncio.start_server(self._connected, sock=listening)
        on_ready()
        await ended.wait()
        server.close()
        for task in self._open.values():
            task.cancel()
        await asyncio.gather(*self._open.values(), return_exceptions=True)
        await self._calls.close()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = HttpConnection(reader, writer, self._gate.check, self._answers.answer)
        if len(self._open) >= MOST_CONNECTIONS and not self._end_untrusted():
            connection.abort()
            return
        task = self._open[connection] = asyncio.create_task(connection.serve())
        task.add_done_callback(lambda _: self._ended(connection))

    def _ended(self, connection: HttpConnection) -> None:
        del self._open[connection]
        # A task that is cancelled before its first step, as in a burst of connections, never served and closed it.
        connection.abort()

    def _end_untrusted(self) -> bool:
        """End the oldest connection that has not shown the token. Return False if all have."""
        for connection, task in self._open.items():
            if not connection.is_trusted and not task.cancelling():
                task.cancel()
                return True
        return False
