"""One request in the server, and the parts of its connection that its handler may use.

Invariant: a request is answered once, with whichever comes first: its result, its error, or its cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Protocol

from livedex_ipc.errors import Cancelled, InvalidRequest
from livedex_ipc.method_types import Method
from livedex_ipc.server import message_json
from livedex_ipc.wire_results import ProgressValue

RequestId = str | int | None
IDS = range(-(2**63), 2**63)
LOOP_WAIT_S = 5.0  # how long a message from another thread waits for a busy event loop


class Channel(Protocol):
    """The part of a connection that requests and their handlers use. ``closed`` is set once it is closed."""

    closed: asyncio.Event

    @property
    def behind(self) -> bool:
        """Whether the client reads more slowly than it is sent to."""

    def send(self, message: bytes) -> None:
        """Send a message in the connection's own framing."""

    def supersede(self, key: str, request: Request) -> None:
        """Cancel another request with the same ``key``, if there is one, and give the key to ``request``."""


class Call:
    """A handler's access to its connection. For the event loop's thread only, except where a method says otherwise."""

    __slots__ = ("_channel", "_loop", "_request", "connection_closed")

    def __init__(self, channel: Channel, request: Request) -> None:
        self._channel = channel
        self._request = request
        self._loop = asyncio.get_running_loop()
        self.connection_closed: asyncio.Event = channel.closed

    @property
    def connection(self) -> Channel:
        """The caller's connection: what is fair between clients is fair between connections."""
        return self._channel

    @property
    def behind(self) -> bool:
        """Whether the client reads more slowly than it is sent to. Safe from any thread."""
        return self._channel.behind

    def when_answered(self, action: Callable[[], object]) -> None:
        """Call ``action`` once the handler's result has been sent."""
        self._request.after.append(action)

    def send_from_thread(self, message: bytes) -> None:
        """Send an encoded message from another thread. Does nothing once the connection is closed.

        Returns when the event loop has taken the message, so that ``behind`` is already true if it was too much.
        """
        handed = threading.Event()

        def send() -> None:
            self._channel.send(message)
            handed.set()

        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it all connections
            self._loop.call_soon_threadsafe(send)
            handed.wait(LOOP_WAIT_S)

    def notify(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification on the caller's connection. Does nothing once that is closed."""
        self._channel.send(message_json.notification(method, params))

    def progress(self, value: ProgressValue) -> None:
        """Send ``$/progress`` if the caller asked for it and still waits; skip a ``report`` if it is behind."""
        token = self._request.params.get("progress_token")
        if token is None or self._request.answered:
            return
        if not (self._channel.behind and value["kind"] == "report"):
            self.notify("$/progress", {"token": token, "value": value})

    def supersede(self, key: str) -> None:
        """Cancel this connection's running request with the same key (-32800), and take over the key."""
        self._channel.supersede(key, self._request)


# The params are checked, and of the type that ``request_params`` has for the method.
Handler = Callable[[Call, Any], Awaitable[object]]


class Batch:
    """Collects the answers of one batch and sends them as one array after the last; sends nothing if there are none.

    ``is_full``: they hold ``most_bytes``, so that no more may be added but small ones.
    """

    __slots__ = ("_after", "_answers", "_bytes_left", "_left", "_send")

    def __init__(self, size: int, send: Callable[[bytes], None], most_bytes: int) -> None:
        self._left = size
        self._answers: list[bytes] = []
        self._bytes_left = most_bytes
        self._after: list[Callable[[], object]] = []
        self._send = send

    @property
    def is_full(self) -> bool:
        return self._bytes_left <= 0

    def add(self, answer: bytes | None, after: Sequence[Callable[[], object]] = ()) -> None:
        """Count one entry as done. ``answer`` None: it has none. ``after``: called once the whole batch is sent."""
        if answer is not None:
            self._answers.append(answer)
            self._bytes_left -= len(answer)
        self._after += after
        self._left -= 1
        if self._left == 0:
            if self._answers:
                self._send(b"[" + b",".join(self._answers) + b"]")
            for action in self._after:
                action()


class Request:
    """A request or notification with checked params. ``task`` is None until it runs."""

    __slots__ = ("after", "answered", "batch", "id", "is_notification", "keys", "method", "params", "task")

    def __init__(
        self,
        method: Method,
        params: dict[str, Any],
        request_id: RequestId,
        *,
        is_notification: bool,
        batch: Batch | None,
    ) -> None:
        self.method = method
        self.params = params
        self.id = request_id
        self.is_notification = is_notification
        self.batch = batch
        self.answered = False
        self.keys: list[str] = []
        self.after: list[Callable[[], object]] = []
        self.task: asyncio.Task[None] | None = None


def superseded() -> Cancelled:
    """Return the error of a request that a newer one with the same key replaced."""
    return Cancelled("a newer request with the same key took its place")


def id_of(message: Any) -> RequestId:
    """Return the id of a request, None if it has none. Raises InvalidRequest: not an object, or a bad type of id."""
    if not isinstance(message, dict):
        raise InvalidRequest("a request is an object")
    found = message.get("id")
    if isinstance(found, str):
        try:
            found.encode()
        except UnicodeEncodeError:
            raise InvalidRequest("id contains half of a surrogate pair") from None
        return found
    if found is None or (isinstance(found, int) and not isinstance(found, bool) and found in IDS):
        return found
    raise InvalidRequest("id must be a string, an integer of 64 bits, or null")


def method_of(message: dict[str, Any]) -> str:
    """Return the method's name. Raises InvalidRequest: no name, or not JSON-RPC 2.0."""
    if message.get("jsonrpc") != "2.0":
        raise InvalidRequest('jsonrpc must be "2.0"')
    name = message.get("method")
    if not isinstance(name, str):
        raise InvalidRequest("method must be a string")
    return name
