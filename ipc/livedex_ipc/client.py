"""The blocking client: connects to the daemon, starting it if none runs, and makes one call at a time.

Invariant: nothing is sent before the kernel confirms that the peer runs as us or as root, and a daemon that fails to
start is reported with its own error.
"""

from __future__ import annotations

import errno
import json
import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from livedex_ipc import paths
from livedex_ipc.constants import MAX_MESSAGE
from livedex_ipc.errors import LivedexError, NoDaemon, TimedOut, Unavailable, from_wire
from livedex_ipc.method_calls import MethodCalls
from livedex_ipc.peers import peer_uid

TYPE_CHECKING = False  # typing's own would cost the import of typing
if TYPE_CHECKING:
    from typing import Any

    from livedex_ipc.wire_results import ServerInfo

RECV_BYTES = 256 * 1024
MAX_FIRST = 64 * 1024  # bytes of the first answer, if it says who answers
WHO_S = 10.0
ENDING_S = 2.0  # after that, a daemon that was killed has closed its socket
FIRST_WAIT_S = 0.3
NEXT_WAIT_S = 0.1
REFUSED = frozenset({
    errno.ENOENT, errno.ECONNREFUSED, errno.ENOTDIR, errno.ENOTSOCK, errno.ECONNRESET,
    errno.ELOOP,  # a link to itself: a daemon that is started says that it is no socket
})  # fmt: skip
_REMEDIES = {
    errno.EMFILE: "; close some files of this program, or raise its limit (`ulimit -n`)",
    errno.EPERM: "; allow Unix sockets in the sandbox of this program",
    errno.EACCES: "; allow Unix sockets in the sandbox of this program",
}


class ForeignProgram(Unavailable):
    """What answers at the socket is no livedex daemon."""


class _ReportError(Exception):
    """What ``on_progress`` raised: it may be an OSError, and then has nothing to do with the connection."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Client(MethodCalls):
    """One connection to the daemon. Not thread-safe. Closing it cancels the requests it waits for."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()
        self._notifications: deque[tuple[str, Any]] = deque()  # received, not yet taken
        self._last_id = 0
        self._most_bytes = MAX_MESSAGE
        self._last_answer: tuple[str, object] = ("", None)
        self._is_interrupted = False

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. A second call does nothing."""
        self._sock.close()

    def detach(self) -> socket.socket:
        """Return the socket, to be used in another way; this client is closed. Only before a notification may
        come."""
        return socket.socket(fileno=self._sock.detach())

    def who(self, timeout_s: float, *, on_wait: Callable[[float], None] | None = None) -> ServerInfo:
        """Return who answers. Raises ForeignProgram, which names the socket, if that is no livedex daemon."""
        if not self._last_id:
            self._most_bytes = MAX_FIRST
        info: ServerInfo = self.call("server/info", timeout_s=timeout_s, on_wait=on_wait)
        self._most_bytes = MAX_MESSAGE
        if not isinstance(info, dict) or info.get("name") != paths.APP:
            raise self.stranger()
        return info

    def refuse_nonsense(self) -> None:
        """Raise ForeignProgram if the last answer does not have the form that its method promises: call it when an
        answer could not be understood."""
        from livedex_ipc.result_check import is_answer

        if not is_answer(*self._last_answer):
            raise self.stranger()

    def interrupt(self) -> None:
        """End the call that another thread waits for, and the connection: that call and further ones raise
        Unavailable."""
        self._is_interrupted = True
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it is closed

    def call(
        self,
        method: str,
        params: Mapping[str, object] | None = None,
        *,
        timeout_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
        on_wait: Callable[[float], None] | None = None,
    ) -> Any:
        """Call ``method`` and return its result, the object that the protocol documents for the method.

        ``params``: by name, the names and units as in the method table; None sends none. ``timeout_s``: seconds; None
        waits forever. ``on_progress`` is called with each ``$/progress`` value of a method that reports progress;
        ``on_wait``, after 300 ms without an answer and then ten times a second, with the seconds waited.

        Raises the daemon's error as its LivedexError subclass; TimedOut after ``timeout_s`` (the request is cancelled,
        and the connection stays usable if the daemon has taken the whole request); Unavailable when the daemon closes
        the connection, or it was closed before.
        """
        if self._sock.fileno() < 0:
            raise Unavailable("this connection was closed: connect again")
        self._last_id += 1
        request: dict[str, object] = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        if on_progress is not None:
            params = {**(params or {}), "progress_token": self._last_id}
        if params:
            request["params"] = params
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        is_sent: bool | None = False  # None: perhaps a part of it
        try:
            _left(deadline)
            is_sent = None
            self._send(request, deadline)
            is_sent = True
            if on_wait is not None and not self._buffer:
                self._wait(deadline, on_wait)
            result = self._answer(deadline, on_progress)
            self._last_answer = method, result
            return result
        except _ReportError as raised:
            raise raised.error from None
        except TimeoutError:
            if is_sent:
                self._cancel()
            elif is_sent is None:
                self.close()  # what followed half a request would be taken for its rest
            raise TimedOut(f"{method} was not answered in {timeout_s:g} s") from None
        except OSError as error:
            raise self._gone(f"closed the connection before it answered {method}: ask again, on a new one") from error

    @property
    def has_buffered(self) -> bool:
        """Whether a message was already received, so that notification() may return without reading the socket."""
        return bool(self._notifications) or b"\n" in self._buffer

    def fileno(self) -> int:
        """Return the socket's descriptor, for ``select`` and ``poll``."""
        return self._sock.fileno()

    def notification(self, timeout_s: float | None = None) -> tuple[str, Any]:
        """Return the next notification as ``(method, params)``, in the order the daemon sent them.

        ``timeout_s``: seconds; None waits forever. Raises TimedOut after that, and Unavailable when the daemon closes
        the connection.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            while not self._notifications:
                self._keep_notification(self._receive(deadline))
        except TimeoutError:
            raise TimedOut(f"no notification arrived within {timeout_s:g} s") from None
        except OSError as error:
            raise self._gone("closed the connection: it stopped, or was killed") from error
        return self._notifications.popleft()

    def _gone(self, how: str) -> Unavailable:
        who = "this client was interrupted: connect again" if self._is_interrupted else f"the daemon {how}"
        return Unavailable(who)

    def _keep_notification(self, message: dict[str, Any]) -> None:
        """Queue a notification. Drop late answers, and ``$/`` messages, which belong to a call."""
        if "method" in message and not message["method"].startswith("$/"):
            self._notifications.append((message["method"], message.get("params") or {}))

    def _answer(self, deadline: float | None, on_progress: Callable[[Any], None] | None) -> Any:
        while True:
            message = self._receive(deadline)
            if "method" in message:
                params = message.get("params") or {}
                if on_progress is not None and message["method"] == "$/progress" and params["token"] == self._last_id:
                    try:
                        on_progress(params["value"])
                    except Exception as error:
                        raise _ReportError(error) from error
                self._keep_notification(message)
            elif message.get("id") == self._last_id or ("error" in message and message.get("id") is None):
                if isinstance(message.get("error"), dict):
                    raise from_wire(message["error"])
                if "result" not in message:
                    raise self.stranger()
                return message["result"]

    def _send(self, message: Mapping[str, object], deadline: float | None) -> None:
        data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        self._sock.settimeout(_left(deadline))
        try:
            self._sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            # A daemon that refuses us sends the reason before it closes; that answer can still be read.
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
            if len(self._buffer) > self._most_bytes:
                raise self.stranger()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("method", ""), str):
            raise self.stranger()
        return message

    def stranger(self) -> ForeignProgram:
        """Return the error of a connection to another program, as to one whose socket LIVEDEX_SOCKET names."""
        try:
            where = os.fsdecode(self._sock.getpeername()) or "the connection"
        except OSError:  # it is closed by now
            where = paths.socket_path()
        message = f"what answers on {where} is no livedex daemon: end it, or set LIVEDEX_SOCKET to another path"
        return ForeignProgram(message, {"socket": where})

    def _wait(self, deadline: float | None, on_wait: Callable[[float], None]) -> None:
        """Wait until the daemon sends something."""
        began = time.monotonic()
        pause = FIRST_WAIT_S
        while not select.select([self._sock], [], [], pause)[0]:
            _left(deadline)
            on_wait(time.monotonic() - began)
            pause = NEXT_WAIT_S

    def _cancel(self) -> None:
        note = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self._last_id}}
        try:
            self._send(note, time.monotonic() + 1.0)
        except OSError:  # closing the connection cancels the request too
            self.close()


def connect(
    *, spawn: bool = True, wait_s: float = 10.0, path: str | None = None, command: Sequence[str] | None = None
) -> Client:
    """Connect to the daemon. If none answers, start one in the background.

    ``spawn`` False, or ``LIVEDEX_NO_SPAWN=1`` in the environment: never start one. ``wait_s``: seconds to wait for a
    started daemon. ``path``: the socket; None for the default of ``paths.socket_path()``. ``command``: the program and
    arguments that start a daemon; None for this Python's ``livedex_daemon``.

    Raises NoDaemon when none answers; Unavailable when another user owns the socket or the daemon cannot be started;
    the daemon's own error (such as ConfigInvalid) when it exits at start; InvalidParams when the socket's path is too
    long for the operating system.
    """
    where = os.path.abspath(path) if path else paths.socket_path()
    paths.check_length(where)
    client = attempt(where)
    if client is not None:
        return client
    if not (spawn and may_spawn()):
        raise NoDaemon(f"no daemon answers on {where}: start one with `livedex up`", {"socket": where})
    from livedex_ipc.spawn import start

    return start(where, attempt, wait_s=wait_s, command=command)


def may_spawn() -> bool:
    """Return whether the environment lets a client start a daemon."""
    return os.environ.get("LIVEDEX_NO_SPAWN", "0") in ("", "0")


def connect_known(*, spawn: bool = True) -> Client:
    """Connect as ``connect`` does. Raises ForeignProgram, too, if what answers is no livedex daemon.

    A daemon that is killed accepts connections until the kernel has closed its socket: then the next one is asked.
    """
    ends = time.monotonic() + ENDING_S
    while True:
        client = connect(spawn=spawn)
        try:
            client.who(WHO_S)
        except LivedexError as error:
            client.close()
            if not isinstance(error.__cause__, OSError) or time.monotonic() > ends:
                raise
            time.sleep(0.02)
        else:
            return client


def attempt(where: str, wait_s: float = 10.0) -> Client | None:
    """Connect to a running daemon; None if none listens at ``where``. Wait ``wait_s`` seconds for one that is busy.

    Raises NoDaemon for other faults of the socket, and Unavailable when another user owns it, or none can be made.
    """
    sock = _new_socket()
    try:
        _connect(sock, where, time.monotonic() + wait_s)
        owner = peer_uid(sock)
    except OSError as error:
        sock.close()
        if error.errno in REFUSED:
            return None
        remedy = "; make it usable for you, or set LIVEDEX_SOCKET" if isinstance(error, PermissionError) else ""
        raise NoDaemon(f"no connection to {where}: {error.strerror}{remedy}", {"socket": where}) from error
    if owner not in (os.geteuid(), 0):
        sock.close()
        raise Unavailable(
            f"{where} belongs to uid {owner}, not to you: remove it or set LIVEDEX_SOCKET", {"socket": where}
        )
    return Client(sock)


def _new_socket() -> socket.socket:
    try:
        return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    except OSError as error:
        raise Unavailable(f"no socket can be made: {error.strerror}{_REMEDIES.get(error.errno or 0, '')}") from error


def _connect(sock: socket.socket, where: str, deadline: float) -> None:
    # A blocking connect would hang on a stopped daemon whose queue of connections is full.
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
