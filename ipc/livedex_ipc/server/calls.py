"""One request on its way through the server, and what its handler may do with the connection meanwhile.

Invariant: a request is answered once, by whichever comes first: its result, its error, or what ended it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from livedex_ipc.errors import Cancelled, InvalidRequest
from livedex_ipc.methods import Method
from livedex_ipc.server import message_json

RequestId = str | int | None
MAX_ID = 2**63 - 1
HAND_OVER_S = 5.0  # a message of another thread waits so long for a busy loop


class Channel(Protocol):
    """What a call needs of the connection that it came by."""

    closed: asyncio.Event

    @property
    def behind(self) -> bool:
        """Whether the client is slow to take what it was sent."""

    def send(self, message: bytes) -> None:
        """Sends an encoded message."""

    def supersede(self, key: str, request: Request) -> None:
        """Ends the request that holds ``key``, if another does, and gives the key to ``request``."""


class Call:
    """What a handler is given beside its params. All of it belongs to the event loop's thread, but for what says so."""

    __slots__ = ("_connection", "_loop", "_request", "connection_closed")

    def __init__(self, connection: Channel, request: Request) -> None:
        self._connection = connection
        self._request = request
        self._loop = asyncio.get_running_loop()
        self.connection_closed: asyncio.Event = connection.closed

    @property
    def behind(self) -> bool:
        """Whether the client is slow to take what it was sent. May be asked from any thread."""
        return self._connection.behind

    def when_answered(self, action: Callable[[], object]) -> None:
        """Runs ``action`` once the result that the handler returns has been sent."""
        self._request.after.append(action)

    def send_from_thread(self, message: bytes) -> None:
        """Sends an encoded message while the connection lives. For other threads: returns when it is handed over, so
        that `behind` is true as soon as it is too much."""
        handed = threading.Event()

        def send() -> None:
            self._connection.send(message)
            handed.set()

        with contextlib.suppress(RuntimeError):  # the loop has ended, and all connections with it
            self._loop.call_soon_threadsafe(send)
            handed.wait(HAND_OVER_S)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Sends a notification on the caller's connection, while it lives."""
        self._connection.send(message_json.notification(method, params))

    def progress(self, value: dict[str, Any]) -> None:
        """Sends ``$/progress`` if the caller asked for it and still waits; `report`s are left out when it is behind."""
        token = self._request.params.get("progress_token")
        if token is None or self._request.answered:
            return
        if not (self._connection.behind and value.get("kind") == "report"):
            self.notify("$/progress", {"token": token, "value": value})

    def supersede(self, key: str) -> None:
        """Ends this connection's running request with the same key (-32800) and takes its place."""
        self._connection.supersede(key, self._request)


Handler = Callable[[Call, dict[str, Any]], Awaitable[Any]]


class Batch:
    """The answers of one batch: sent as one array when the last is there, not at all when none is expected."""

    __slots__ = ("_after", "_answers", "_left", "_send")

    def __init__(self, size: int, send: Callable[[bytes], None]) -> None:
        self._left = size
        self._answers: list[bytes] = []
        self._after: list[Callable[[], object]] = []
        self._send = send

    def add(self, answer: bytes | None, after: Sequence[Callable[[], object]] = ()) -> None:
        """Counts one entry as done; None for one that has no answer. ``after``: to be run once all are sent."""
        if answer is not None:
            self._answers.append(answer)
        self._after += after
        self._left -= 1
        if self._left == 0:
            if self._answers:
                self._send(b"[" + b",".join(self._answers) + b"]")
            for action in self._after:
                action()


class Request:
    """A request or notification whose params were checked. ``task`` is None until it runs."""

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
    """What a request is told that made room for a newer one."""
    return Cancelled("a newer request with the same key took its place")


def id_of(message: Any) -> RequestId:
    """The id of a request, None where it has none. Raises InvalidRequest: no object, or an id of another type."""
    if not isinstance(message, dict):
        raise InvalidRequest("a request is an object")
    found = message.get("id")
    if isinstance(found, str):
        try:
            found.encode()
        except UnicodeEncodeError:
            raise InvalidRequest("id holds half of a surrogate pair") from None
        return found
    if found is None or (isinstance(found, int) and not isinstance(found, bool) and abs(found) <= MAX_ID):
        return found
    raise InvalidRequest("id must be a string, an integer of 64 bits, or null")


def method_of(message: dict[str, Any]) -> str:
    """The method's name. Raises InvalidRequest: none, or no JSON-RPC 2.0."""
    if message.get("jsonrpc") != "2.0":
        raise InvalidRequest('jsonrpc must be "2.0"')
    name = message.get("method")
    if not isinstance(name, str):
        raise InvalidRequest("method must be a string")
    return name
