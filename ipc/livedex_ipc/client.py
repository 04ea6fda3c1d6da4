"""The blocking client: one connection to the daemon, one call at a time, and the daemon started where none runs.

Invariant: nothing is sent before the kernel has said that the other end belongs to us or to root, and a daemon that
could not be started is reported in its own words.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from livedex_ipc import paths
from livedex_ipc.errors import InternalError, NoDaemon, TimedOut, Unavailable, from_wire
from livedex_ipc.peers import peer_uid

RECV_BYTES = 256 * 1024
REFUSED = frozenset({errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR, errno.ENOTSOCK, errno.ECONNRESET})


class Client:
    """A connection. Not for several threads at once; closing it ends what it waits for in the daemon."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()
        self._notes: deque[tuple[str, dict[str, Any]]] = deque()  # that came while an answer was waited for
        self._last_id = 0

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection; a second time does nothing."""
        self._sock.close()

    def call(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """The result of ``method``. Raises the daemon's error as its class of the tree.

        ``timeout_s`` None waits for ever; past it the request is cancelled and TimedOut raised (the connection stays
        usable: a late answer is skipped). ``on_progress`` gets each ``$/progress`` value. Unavailable: the daemon went.
        """
        self._last_id += 1
        request: dict[str, Any] = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        if on_progress is not None:
            params = {**(params or {}), "progress_token": self._last_id}
        if params:
            request["params"] = params
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            self._send(request, deadline)
            return self._answer(deadline, on_progress)
        except TimeoutError:
            self._cancel()
            raise TimedOut(f"{method} was not answered in {timeout_s:g} s") from None
        except OSError as error:
            raise _gone(method) from error

    @property
    def has_news(self) -> bool:
        """Whether a notification may be taken without reading from the socket."""
        return bool(self._notes) or b"\n" in self._buffer

    def fileno(self) -> int:
        """The socket's descriptor, for waiting until something comes."""
        return self._sock.fileno()

    def notification(self, timeout_s: float | None = None) -> tuple[str, dict[str, Any]]:
        """The next notification, its method and params, in the order in which they were sent.

        ``timeout_s`` None waits for ever, else raises TimedOut. Unavailable: the daemon went.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while not self._notes:
                self._note(self._receive(deadline))
        except TimeoutError:
            raise TimedOut(f"no notification came in {timeout_s:g} s") from None
        except OSError as error:
            raise Unavailable("the daemon closed the connection: it stopped, or was killed") from error
        return self._notes.popleft()

    def _note(self, message: dict[str, Any]) -> None:
        """Keeps a notification; what came too late for its call is no news."""
        if "method" in message and not message["method"].startswith("$/"):
            self._notes.append((message["method"], message.get("params") or {}))

    def _answer(self, deadline: float | None, on_progress: Callable[[Any], None] | None) -> Any:
        while True:
            message = self._receive(deadline)
            if "method" in message:
                told = message.get("params") or {}
                if on_progress is not None and message["method"] == "$/progress" and told["token"] == self._last_id:
                    on_progress(told["value"])
                self._note(message)
            elif message.get("id") == self._last_id or ("error" in message and message.get("id") is None):
                if "error" in message:
                    raise from_wire(message["error"])
                return message["result"]

    def _send(self, message: dict[str, Any], deadline: float | None) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._sock.settimeout(_left(deadline))
        try:
            self._sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            # A daemon that refuses us says why before it closes: the answer is still there to be read.
            return

    def _receive(self, deadline: float | None) -> dict[str, Any]:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            self._sock.settimeout(_left(deadline))
            data = self._sock.recv(RECV_BYTES)
            if not data:
                raise ConnectionResetError("end of stream")
            self._buffer += data
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        message = json.loads(line)
        if not isinstance(message, dict):
            raise InternalError("the daemon's answer is no JSON-RPC message")
        return message

    def _cancel(self) -> None:
        note = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self._last_id}}
        try:
            self._send(note, time.monotonic() + 1.0)
        except OSError:  # not even that got through: closing the connection cancels too
            self.close()


def connect(
    *, spawn: bool = True, wait_s: float = 10.0, path: str | None = None, command: Sequence[str] | None = None
) -> Client:
    """A connection to the daemon, which is started in the background where none answers.

    ``spawn`` False, or ``LIVEDEX_NO_SPAWN=1`` in the environment: never start one. ``wait_s``: seconds it may take.
    ``path``: the socket, else where ``paths`` says. ``command``: what starts a daemon, else this Python's
    ``livedex_daemon``. Raises NoDaemon; Unavailable when the socket is not to be trusted or the daemon cannot start;
    the daemon's own error (ConfigInvalid, say) when it ended at once; InvalidParams when the socket's path is too long.
    """
    where = os.path.abspath(path) if path else paths.socket_path()
    paths.check_length(where)
    client = attempt(where)
    if client is not None:
        return client
    if not spawn or os.environ.get("LIVEDEX_NO_SPAWN", "0") not in ("", "0"):
        raise NoDaemon(f"no daemon answers on {where}: start one with `livedex up`", {"socket": where})
    from livedex_ipc.spawn import start

    return start(where, attempt, wait_s=wait_s, command=command)


def attempt(where: str, wait_s: float = 10.0) -> Client | None:
    """A connection to the daemon that listens there now, or None where none does; ``wait_s`` is for one too busy to."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _connect(sock, where, time.monotonic() + wait_s)
        owner = peer_uid(sock)
    except OSError as error:
        sock.close()
        if error.errno in REFUSED:
            return None
        raise NoDaemon(f"no connection to {where}: {error.strerror}", {"socket": where}) from error
    if owner not in (os.geteuid(), 0):
        sock.close()
        raise Unavailable(
            f"{where} belongs to uid {owner}, not to you: remove it or set LIVEDEX_SOCKET", {"socket": where}
        )
    return Client(sock)


def _connect(sock: socket.socket, where: str, deadline: float) -> None:
    # Blocking, it would wait for ever for a daemon that is stopped and whose queue of connections is full.
    sock.setblocking(False)
    while True:
        try:
            return sock.connect(where)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _gone(method: str) -> Unavailable:
    return Unavailable(f"the daemon closed the connection before it answered {method}: ask again")
