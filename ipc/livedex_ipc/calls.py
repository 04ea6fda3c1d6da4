"""One request on its way through the server, and what its handler may do with the connection meanwhile.

Invariant: a request is answered once, by whichever comes first: its result, its error, or what ended it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from livedex_ipc import wire
from livedex_ipc.errors import Cancelled, InvalidRequest
from livedex_ipc.methods import Method

if TYPE_CHECKING:
    from livedex_ipc.connection import Connection

RequestId = str | int | None
MAX_ID = 2**63 - 1


class Call:
    """What a handler is given beside its params. All of it belongs to the event loop's thread."""

    __slots__ = ("_connection", "_request", "connection_closed")

    def __init__(self, connection: Connection, request: Request) -> None:
        self._connection = connection
        self._request = request
        self.connection_closed: asyncio.Event = connection.closed

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Sends a notification on the caller's connection, while it lives."""
        self._connection.send(wire.notification(method, params))

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

    __slots__ = ("_answers", "_left", "_send")

    def __init__(self, size: int, send: Callable[[bytes], None]) -> None:
        self._left = size
        self._answers: list[bytes] = []
        self._send = send

    def add(self, answer: bytes | None) -> None:
        """Counts one entry as done; None for one that has no answer."""
        if answer is not None:
            self._answers.append(answer)
        self._left -= 1
        if self._left == 0 and self._answers:
            self._send(b"[" + b",".join(self._answers) + b"]")


class Request:
    """A request or notification whose params were checked. ``task`` is None until it runs."""

    __slots__ = ("answered", "batch", "id", "is_notification", "keys", "method", "params", "task")

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
