"""The requests of one connection: checks, queues, runs, cancels and answers them.

Invariant: every accepted request is answered once, a notification never; at most ``Limits.in_flight`` of them run at
once, and an id or key is taken only until its request is answered.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from livedex_ipc.errors import Cancelled, InternalError, InvalidRequest, LivedexError, Unavailable
from livedex_ipc.limits import Limits
from livedex_ipc.method_types import Method
from livedex_ipc.methods import check_params, method_named
from livedex_ipc.server import message_json
from livedex_ipc.server.calls import Batch, Call, Channel, Handler, Request, RequestId, id_of, method_of, superseded

log = logging.getLogger(__name__)

SMALL_BYTES = 64 * 1024  # an answer up to this is sent though its batch is full
NO_MEMORY = "the daemon found no memory for the answer: ask for less at once, or give it more"


class Dispatcher(Protocol):
    """The part of the server that requests use. ``closing``: it stops, and takes no new requests."""

    handlers: dict[str, Handler]
    methods: dict[str, Method]
    limits: Limits
    closing: bool

    def watch(self, task: asyncio.Task[None], *, waits: bool = False) -> None:
        """Keep a reference to the task until it is done. ``waits``: it only waits for others."""


class Requests:
    """Made by a connection. ``channel`` sends the answers; ``wake`` is called when more may be started."""

    def __init__(self, server: Dispatcher, channel: Channel, wake: Callable[[], None]) -> None:
        self._server = server
        self._channel = channel
        self._wake = wake
        self._loop = asyncio.get_running_loop()
        self._pending: deque[Request] = deque()  # accepted, not yet started
        self._running: set[Request] = set()
        self._active: dict[RequestId, Request] = {}  # accepted and not yet answered, by id
        self._keys: dict[str, Request] = {}

    @property
    def is_full(self) -> bool:
        """Whether as many requests wait to run as one connection may have."""
        return len(self._pending) >= self._server.limits.queued

    @property
    def is_busy(self) -> bool:
        """Whether a request waits or runs."""
        return bool(self._pending or self._running)

    # ------------------------------------------------------------------ from messages to requests

    def accept(self, parse: Callable[[], Any], *, allow_batch: bool) -> None:
        """Take one message, which ``parse`` returns, and queue its requests; answer at once what is wrong in it.

        ``parse`` may raise ParseError. ``allow_batch`` False: the connection's framing has no batches.
        """
        try:
            message = parse()
            if not isinstance(message, list):
                self._accept_one(message, None)
                return
            if not allow_batch:
                raise InvalidRequest("this framing takes no batches")
            limit = self._server.limits.batch
            if not 1 <= len(message) <= limit:
                raise InvalidRequest(f"a batch has 1 to {limit} requests, not {len(message)}")
        except LivedexError as error:
            self._channel.send(message_json.failure(None, error.to_wire()))
            return
        batch = Batch(len(message), self._channel.send, self._server.limits.output_bytes)
        for entry in message:
            self._accept_one(entry, batch)

    def _accept_one(self, message: Any, batch: Batch | None) -> None:
        """Queue a request whose shape, method and params are right; answer any other at once."""
        is_notification = isinstance(message, dict) and "id" not in message and isinstance(message.get("method"), str)
        known_id: RequestId = None
        answer: bytes | None = None
        try:
            known_id = id_of(message)
            name = method_of(message)
            if is_notification and name.startswith("$/"):
                self._handle_dollar(name, message.get("params"))
            else:
                self._queue(name, message.get("params"), known_id, is_notification, batch)
                return
        except LivedexError as error:
            if not is_notification:
                answer = message_json.failure(known_id, error.to_wire())
        if batch is not None:
            batch.add(answer)
        elif answer is not None:
            self._channel.send(answer)

    def _queue(self, name: str, params: Any, request_id: RequestId, is_notification: bool, batch: Batch | None) -> None:
        if not is_notification and request_id in self._active:
            raise InvalidRequest("a request with this id is still running")
        method = method_named(name, self._server.methods)
        checked = check_params(name, params, self._server.methods)
        if self._server.closing:
            raise Unavailable("the daemon is stopping: ask again when it is back")
        request = Request(method, checked, request_id, is_notification=is_notification, batch=batch)
        if not is_notification:
            self._active[request_id] = request
        self._pending.append(request)

    def _handle_dollar(self, name: str, params: Any) -> None:
        """Handle a ``$/`` notification: cancel a request, or ignore it as LSP requires."""
        if name != "$/cancelRequest" or not isinstance(params, dict):
            return
        wanted = params.get("id")
        if isinstance(wanted, str | int) and not isinstance(wanted, bool) and wanted in self._active:
            self._end(self._active[wanted], Cancelled("the request was cancelled"))

    # ------------------------------------------------------------------ from requests to answers

    def start_pending(self) -> None:
        """Start a waiting request, if one more may run and the client reads its answers; in the next turns the others.

        Those of a hundred clients in one turn of the event loop would hold up everybody else.
        """
        while self._pending and len(self._running) < self._server.limits.in_flight and not self._channel.behind:
            request = self._pending.popleft()
            if not request.answered:
                self._start(request)
                self._wake()
                return

    def _start(self, request: Request) -> None:
        if self._channel.closed.is_set() and request.method.cancel_on_close:
            self._answer(request, None)
            return
        if request.batch is not None and request.batch.is_full:
            self._answer(request, self._batch_is_full(request))
            return
        self._running.add(request)
        request.task = self._loop.create_task(self._run(request))
        # A task that is cancelled before its first step never enters _run, nor its ``finally``.
        request.task.add_done_callback(lambda _task: self._finish(request))
        self._server.watch(request.task, waits=request.method.waits)

    async def _run(self, request: Request) -> None:
        name = request.method.name
        try:
            # Without a name for the result: a large one must not outlive its encoding.
            handler = self._server.handlers[name]
            answer = message_json.answer(request.id, await handler(Call(self._channel, request), request.params))
            self._answer(request, answer)
        except LivedexError as error:
            self._answer(request, message_json.failure(request.id, error.to_wire()))
        except asyncio.CancelledError:
            self._answer(request, message_json.failure(request.id, Cancelled("the request was cancelled").to_wire()))
        except MemoryError:
            try:
                log.warning("request_without_memory", extra={"method": name})
            finally:
                self._answer(request, message_json.failure(request.id, Unavailable(NO_MEMORY).to_wire()))
        except Exception as error:
            if isinstance(error, ImportError):  # its folder could not be examined: look again, the next time
                importlib.invalidate_caches()
            fault = InternalError("internal error: the daemon's log says more", {"exception": type(error).__name__})
            try:
                log.exception("request_failed", extra={"method": name})
            finally:  # it may lack what the method lacked: memory, or a clock that Python can read
                self._answer(request, message_json.failure(request.id, fault.to_wire()))
        finally:
            self._finish(request)

    def _batch_is_full(self, request: Request) -> bytes:
        limit = self._server.limits.output_bytes
        error = Unavailable(f"the batch's answers reached {limit} bytes: ask for less at once", {"limit": limit})
        return message_json.failure(request.id, error.to_wire())

    def _finish(self, request: Request) -> None:
        if request in self._running:
            self._running.discard(request)
            self._wake()

    def supersede(self, key: str, request: Request) -> None:
        """Cancel another request with the same ``key``, if there is one, and give the key to ``request``."""
        former = self._keys.get(key)
        if former is not None and former is not request:
            self._end(former, superseded())
        if not request.answered:
            self._keys[key] = request
            request.keys.append(key)

    def end_all(self, error: LivedexError) -> None:
        """Answer every unanswered request with ``error`` and cancel it."""
        for request in [*self._pending, *self._running]:
            self._end(request, error)

    def end_unwanted(self) -> None:
        """Cancel the requests that no one else wants once the connection is closed."""
        for request in [*self._pending, *self._running]:
            if request.method.cancel_on_close:
                self._end(request, Cancelled("the connection was closed"))

    def _end(self, request: Request, error: LivedexError) -> None:
        """Answer with ``error`` at once, however long the handler takes to clean up."""
        if not request.answered:
            self._answer(request, message_json.failure(request.id, error.to_wire()))
            if request.task is not None:
                request.task.cancel()

    def _answer(self, request: Request, answer: bytes | None) -> None:
        """Send the answer unless one was sent before. ``answer`` None: send nothing, only count it as answered."""
        if request.answered:
            return
        request.answered = True
        for key in request.keys:
            if self._keys.get(key) is request:
                del self._keys[key]
        if request.is_notification:
            answer = None
        else:
            del self._active[request.id]
        if request.batch is not None:
            if answer is not None and request.batch.is_full and len(answer) > SMALL_BYTES:
                answer = self._batch_is_full(request)
            request.batch.add(answer, request.after)
            return
        if answer is not None:
            self._channel.send(answer)
        for action in request.after:
            action()
