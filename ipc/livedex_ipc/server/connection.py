"""One client's connection: bytes in, requests run side by side, answers out.

Invariant: whatever a client sends or fails to read, this connection holds a bounded amount of it, and no other waits.
"""

from __future__ import annotations

import asyncio
import logging
import select
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from livedex_ipc import framing
from livedex_ipc.errors import Cancelled, InternalError, InvalidRequest, LivedexError, ParseError, TimedOut, Unavailable
from livedex_ipc.framing import Decoder, Frame, FrameError
from livedex_ipc.methods import check_params, method_named
from livedex_ipc.peers import peer_uid
from livedex_ipc.server import message_json
from livedex_ipc.server.calls import Batch, Call, Request, RequestId, id_of, method_of, superseded
from livedex_ipc.server.outbox import Outbox

if TYPE_CHECKING:
    from livedex_ipc.server.rpc_server import Server

log = logging.getLogger(__name__)

SLICE = 64  # frames read in one go, before other connections have their turn
ASIDE_BYTES = 64 * 1024  # a larger text is parsed in a thread: 4 MiB of `{},` take half a second
PEER_S = 0.25  # between two looks at a client that is not read from


class Connection(asyncio.Protocol):
    """Made by the Server for each client that connects."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._decoder = Decoder(server.limits)
        self._frames: deque[Frame | FrameError] = deque()  # read but not looked into
        self._pending: deque[Request] = deque()  # accepted, waiting for their turn
        self._running: set[Request] = set()
        self._active: dict[RequestId, Request] = {}  # accepted and not answered, by id
        self._keys: dict[str, Request] = {}
        self._frame_timer: asyncio.TimerHandle | None = None
        self._turn: asyncio.Handle | None = None
        self._parsing = False  # a large text, in a thread: what came after it waits
        self._ending = False  # an error has been told that ends the connection: what comes now is thrown away
        self._hung_up = False
        self._watched = False  # for the other end's going, where reading does not show it
        self._at_end = False  # the client sends no more
        self.closed = asyncio.Event()

    # ------------------------------------------------------------------ the transport's calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuses strangers before a byte of theirs is read, and more clients than there is room for."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._outbox = Outbox(transport, self._limits, self._drop)
        try:
            uid = peer_uid(transport.get_extra_info("socket"))
        except OSError:
            uid = -1
        if uid not in (self._server.uid, 0):
            log.warning("peer_refused", extra={"uid": uid})
        if uid not in (self._server.uid, 0) or self._server.closing:
            self._ending = True
            transport.abort()
            return
        if not self._server.admit(self):
            limit = self._limits.connections
            self._fail(Unavailable(f"{limit} connections are open: close some, or ask again", {"limit": limit}))
            if not self._server.may_linger:
                transport.close()

    def data_received(self, data: bytes) -> None:
        if self._ending:
            return
        frames = self._decoder.feed(data)
        self._frames.extend(frames)
        self._time_frame(restart=bool(frames))
        self._work()

    def eof_received(self) -> bool:
        """Keeps a connection whose client only ended its side (``… | nc -U``) until its answers are out."""
        self._stop_frame_timer()
        if self._ending or self._is_hung_up():
            return False
        self._at_end = True
        if self._decoder.partial:
            self._fail(ParseError("the stream ended in the middle of a request"))
        self._watch_peer()
        return not self._transport.is_closing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ending = True
        self._stop_frame_timer()
        self._outbox.resume()
        self.closed.set()
        self._server.forget(self)
        for request in [*self._pending, *self._running]:
            if request.method.cancel_on_close:
                self._end(request, Cancelled("the connection was closed"))
        self._work()

    def pause_writing(self) -> None:
        self._outbox.pause()
        self._work_soon()

    def resume_writing(self) -> None:
        self._outbox.resume()
        self._work_soon()

    # ------------------------------------------------------------------ what calls and the server ask for

    @property
    def behind(self) -> bool:
        """Whether the client is slow to take what it was sent."""
        return self._outbox.behind

    def send(self, message: bytes) -> None:
        """Sends a message in the connection's own framing."""
        self._outbox.write(framing.encode(message, self._decoder.framing))

    def supersede(self, key: str, request: Request) -> None:
        """Ends the request that holds ``key``, if another does, and gives the key to ``request``."""
        holder = self._keys.get(key)
        if holder is not None and holder is not request:
            self._end(holder, superseded())
        if not request.answered:
            self._keys[key] = request
            request.keys.append(key)

    def end_all(self, error: LivedexError) -> None:
        """Answers everything that is not answered with ``error`` and cancels it."""
        for request in [*self._pending, *self._running]:
            self._end(request, error)

    def hang_up(self) -> None:
        """Closes the connection once what was written is taken, or was given the time for it."""
        if self._hung_up or self.closed.is_set():
            return
        self._hung_up = self._ending = True
        self._stop_frame_timer()
        self._outbox.end()
        self._transport.resume_reading()  # what a client still sends is thrown away, so that it is not reset
        self._loop.call_later(self._limits.linger_s, self._transport.close)
        self._loop.call_later(self._limits.linger_s + self._limits.write_s, self._transport.abort)

    def abort(self) -> None:
        """Closes the connection now, whatever was not taken."""
        self._transport.abort()

    # ------------------------------------------------------------------ from frames to requests

    def _work(self) -> None:
        """Looks into some frames, starts what has room, and reads on only where there is room for more."""
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        for _ in range(SLICE):
            if not self._frames or not self._has_room():
                break
            self._take(self._frames.popleft())
        while self._pending and len(self._running) < self._limits.in_flight and not self._outbox.behind:
            request = self._pending.popleft()
            if not request.answered:
                self._start(request)
        if self._frames and self._has_room():
            self._work_soon()
        if self.closed.is_set() or self._transport.is_closing():
            return
        if self._ending:
            if not self._is_busy():
                self.hang_up()
        elif self._frames or not self._has_room():
            self._stop_frame_timer()  # the rest of a frame cannot come while nobody reads
            self._transport.pause_reading()
            self._watch_peer()
        elif not self._transport.is_reading():
            self._transport.resume_reading()
            self._time_frame(restart=True)

    def _work_soon(self) -> None:
        if self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def _has_room(self) -> bool:
        return len(self._pending) < self._limits.queued and not self._outbox.behind and not self._parsing

    def _is_busy(self) -> bool:
        return bool(self._frames or self._pending or self._running or self._parsing)

    def _take(self, frame: Frame | FrameError) -> None:
        if isinstance(frame, FrameError):
            self._fail(frame.error)
        elif len(frame.body) > ASIDE_BYTES:
            self._parsing = True
            self._server.watch(self._loop.create_task(self._parse_aside(frame.body)))
        else:
            self._take_text(lambda: framing.parse(frame.body))

    async def _parse_aside(self, body: bytes) -> None:
        parsed = self._loop.run_in_executor(self._server.parser, framing.parse, body)
        await asyncio.wait([parsed])
        self._parsing = False
        self._take_text(parsed.result)
        self._work()

    def _take_text(self, parse: Callable[[], Any]) -> None:
        try:
            message = parse()
            if not isinstance(message, list):
                self._accept(message, None)
                return
            if self._decoder.framing == "headers":
                raise InvalidRequest("no batches in this framing")
            if not 1 <= len(message) <= self._limits.batch:
                raise InvalidRequest(f"a batch has 1 to {self._limits.batch} requests, not {len(message)}")
        except LivedexError as error:
            self.send(message_json.failure(None, error.to_wire()))
            return
        batch = Batch(len(message), self.send)
        for entry in message:
            self._accept(entry, batch)

    def _accept(self, message: Any, batch: Batch | None) -> None:
        """Queues a request whose shape, method and params are right; answers any other at once."""
        is_notification = isinstance(message, dict) and "id" not in message and isinstance(message.get("method"), str)
        known_id: RequestId = None
        answer: bytes | None = None
        try:
            known_id = id_of(message)
            name = method_of(message)
            if is_notification and name.startswith("$/"):
                self._told(name, message.get("params"))
            else:
                self._queue(name, message.get("params"), known_id, is_notification, batch)
                return
        except LivedexError as error:
            if not is_notification:
                answer = message_json.failure(known_id, error.to_wire())
        if batch is not None:
            batch.add(answer)
        elif answer is not None:
            self.send(answer)

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

    def _told(self, name: str, params: Any) -> None:
        """A ``$/`` notification: cancels, or is ignored as LSP has it."""
        if name != "$/cancelRequest" or not isinstance(params, dict):
            return
        wanted = params.get("id")
        if isinstance(wanted, str | int) and not isinstance(wanted, bool) and wanted in self._active:
            self._end(self._active[wanted], Cancelled("the request was cancelled"))

    # ------------------------------------------------------------------ from requests to answers

    def _start(self, request: Request) -> None:
        if self.closed.is_set() and request.method.cancel_on_close:
            self._answer(request, None)
            return
        self._running.add(request)
        request.task = self._loop.create_task(self._run(request))
        self._server.watch(request.task)

    async def _run(self, request: Request) -> None:
        name = request.method.name
        try:
            result = await self._server.handlers[name](Call(self, request), request.params)
            self._answer(request, message_json.answer(request.id, result))
        except LivedexError as error:
            self._answer(request, message_json.failure(request.id, error.to_wire()))
        except asyncio.CancelledError:
            self._answer(request, message_json.failure(request.id, Cancelled("the request was cancelled").to_wire()))
        except Exception as error:
            log.exception("request_failed", extra={"method": name})
            told = InternalError("internal error: the daemon's log says more", {"exception": type(error).__name__})
            self._answer(request, message_json.failure(request.id, told.to_wire()))
        finally:
            self._running.discard(request)
            self._work_soon()

    def _end(self, request: Request, error: LivedexError) -> None:
        """Answers at once, however long the handler takes to clean up."""
        if not request.answered:
            self._answer(request, message_json.failure(request.id, error.to_wire()))
            if request.task is not None:
                request.task.cancel()

    def _answer(self, request: Request, answer: bytes | None) -> None:
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
            request.batch.add(answer, request.after)
            return
        if answer is not None:
            self.send(answer)
        for action in request.after:
            action()

    # ------------------------------------------------------------------ the end

    def _fail(self, error: LivedexError) -> None:
        """Tells what was wrong; the connection ends when what was asked before is answered, or had the time for it."""
        log.debug("connection_refused", extra={"code": error.code, "reason": error.message})
        self.send(message_json.failure(None, error.to_wire()))
        self._ending = True
        self._stop_frame_timer()
        self._frames.clear()
        self._loop.call_later(self._limits.linger_s, self.hang_up)
        self._work()

    def _drop(self) -> None:
        log.info("connection_stalled", extra={"waiting_bytes": self._outbox.waiting})
        self._transport.abort()

    def _watch_peer(self) -> None:
        """Sees that the client is gone, or done and answered, while nothing is read that would show it."""
        if not self._watched:
            self._watched = True
            self._look_at_peer()

    def _look_at_peer(self) -> None:
        self._watched = False
        if self.closed.is_set() or self._transport.is_closing():
            return
        if self._is_hung_up():
            self._transport.abort()
        elif self._at_end and not self._is_busy():
            self._transport.close()
        elif self._at_end or not self._transport.is_reading():
            self._watched = True
            self._loop.call_later(PEER_S, self._look_at_peer)

    def _is_hung_up(self) -> bool:
        """Whether the other end is gone altogether, and not only done with sending."""
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))

    def _time_frame(self, *, restart: bool) -> None:
        """Gives an unfinished frame its time, counted from its first byte."""
        if restart or not self._decoder.partial:
            self._stop_frame_timer()
        if self._decoder.partial and self._frame_timer is None:
            self._frame_timer = self._loop.call_later(self._limits.frame_s, self._frame_overdue)

    def _stop_frame_timer(self) -> None:
        if self._frame_timer is not None:
            self._frame_timer.cancel()
            self._frame_timer = None

    def _frame_overdue(self) -> None:
        self._frame_timer = None
        self._fail(TimedOut(f"a request was not finished in {self._limits.frame_s:g} s"))
