"""One client's connection: reads frames, limits how much is read, and closes the connection in order.

Invariant: whatever a client sends or fails to read, its connection buffers a bounded amount, and no other client waits.
"""

from __future__ import annotations

import asyncio
import enum
import logging
import select
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, Protocol

from livedex_ipc import framing
from livedex_ipc.errors import LivedexError, ParseError, TimedOut, Unavailable
from livedex_ipc.framing import Decoder, Frame, FrameError
from livedex_ipc.peers import peer_uid
from livedex_ipc.server import message_json
from livedex_ipc.server.calls import Request
from livedex_ipc.server.outbox import Outbox
from livedex_ipc.server.requests import Dispatcher, Requests
from livedex_ipc.server.unfinished import UnfinishedRequests
from livedex_ipc.server.unread_bytes import may_have_unread

log = logging.getLogger(__name__)

SLICE = 64  # frames handled at once, before other connections have their turn
THREAD_BYTES = 64 * 1024  # a larger text is parsed in a thread: 4 MiB of `{},` take half a second
PEER_S = 0.25  # between two checks of a client that is not read from


class State(enum.IntEnum):
    """How far a connection's life has come; it only grows."""

    OPEN = 0
    ENDING = 1  # an error that ends the connection was sent: further input is discarded
    HUNG_UP = 2  # the end of the stream was sent: the client has the time to read it
    CLOSED = 3


class Host(Dispatcher, Protocol):
    """The part of the server that a connection uses. ``uid``: whose processes may connect, besides root's."""

    uid: int

    @property
    def unfinished(self) -> UnfinishedRequests[Connection]:
        """The memory that unfinished requests use."""

    @property
    def parser(self) -> Executor:
        """The thread that parses large texts."""

    @property
    def may_linger(self) -> bool:
        """Whether one more refused connection may stay open until it has read the reason."""

    def admit(self, connection: Connection) -> bool:
        """Count a new connection. Returns False if the limit is reached."""

    def forget(self, connection: Connection) -> None:
        """Drop a closed connection."""


class Connection(asyncio.Protocol):
    """Made by the server for each client that connects. ``state`` says how far its life has come."""

    def __init__(self, server: Host) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._decoder = Decoder(server.limits)
        self._frames: deque[Frame | FrameError] = deque()  # decoded, not yet handled
        self._requests = Requests(server, self, self._work_soon)
        self._frame_timer: asyncio.TimerHandle | None = None
        self._peer_timer: asyncio.TimerHandle | None = None
        self._turn: asyncio.Handle | None = None
        self._parsing: asyncio.Task[None] | None = None  # a large text, in a thread: later frames wait
        self._at_end = False  # the client sends no more; it may still read, in any state
        self.state = State.OPEN
        self.closed = asyncio.Event()

    # ------------------------------------------------------------------ called by the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Refuse other users before reading a byte, and more clients than the limit."""
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
            self._advance(State.ENDING)
            transport.abort()
            return
        if not self._server.admit(self):
            limit = self._limits.connections
            self._fail(Unavailable(f"{limit} connections are open: close some, or ask again", {"limit": limit}))
            if not self._server.may_linger:
                transport.close()

    def data_received(self, data: bytes) -> None:
        if self.state is not State.OPEN:
            return
        frames = self._decoder.feed(data)
        self._frames.extend(frames)
        self._time_frame(restart=bool(frames))
        self._work()
        largest = self._server.unfinished.count(self, self._decoder.buffered)
        if largest is not None:
            largest.refuse_unfinished()

    def eof_received(self) -> bool:
        """Keep the connection of a client that only ended its side (``… | nc -U``) until its answers are sent."""
        self._stop_frame_timer()
        if self.state is not State.OPEN or self.is_hung_up():
            return False
        self._at_end = True
        if self._decoder.partial:
            self._fail(ParseError("the stream ended in the middle of a request"))
        self._watch_peer()
        return not self._transport.is_closing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._advance(State.CLOSED)
        self._stop_frame_timer()
        self._outbox.resume()
        self.closed.set()
        self._server.forget(self)
        self._requests.end_unwanted()
        self._work()

    def pause_writing(self) -> None:
        self._outbox.pause()
        self._work_soon()

    def resume_writing(self) -> None:
        self._outbox.resume()
        self._work_soon()

    # ------------------------------------------------------------------ called by handlers and the server

    @property
    def behind(self) -> bool:
        """Whether the client reads more slowly than it is sent to."""
        return self._outbox.behind

    def is_hung_up(self) -> bool:
        """Return whether the client has closed the connection altogether, and not only its sending side."""
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), 0)
        return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))

    def send(self, message: bytes) -> None:
        """Send a message in the connection's own framing. One that finds no memory ends it: the client waits for it."""
        try:
            self._outbox.write(framing.encode(message, self._decoder.framing))
        except MemoryError:
            self._outbox.break_off()
            raise

    def supersede(self, key: str, request: Request) -> None:
        """Cancel another request with the same ``key``, if there is one, and give the key to ``request``."""
        self._requests.supersede(key, request)

    def end_all(self, error: LivedexError) -> None:
        """Answer every unanswered request with ``error`` and cancel it."""
        self._requests.end_all(error)

    def leave(self) -> None:
        """Close the connection at the end of the server; one whose client has read all of it at once."""
        descriptor = self._transport.get_extra_info("socket").fileno()
        if self.state < State.HUNG_UP and not self._outbox.waiting and not may_have_unread(descriptor):
            self.abort()
        else:
            self.hang_up()

    def hang_up(self) -> None:
        """Close the connection once the client has read what was sent, or had the time to."""
        if self.state >= State.HUNG_UP:
            return
        self._advance(State.HUNG_UP)
        self._stop_frame_timer()
        self._outbox.end()
        self._transport.resume_reading()  # further input is read and discarded, so that the client gets no reset
        self._loop.call_later(self._limits.linger_s, self._transport.close)
        self._loop.call_later(self._limits.linger_s + self._limits.write_s, self._transport.abort)

    def refuse_unfinished(self) -> None:
        """End the connection: what it keeps of an unfinished request is needed for others."""
        limit = self._limits.unfinished_bytes
        message = f"unfinished requests may have {limit} bytes in all: finish one before you begin the next"
        self._fail(Unavailable(message, {"limit": limit}))

    def abort(self) -> None:
        """Close the connection now, even if answers are unread."""
        self._transport.abort()

    # ------------------------------------------------------------------ frames

    def _work(self) -> None:
        """Handle some frames, start requests, and read on only while there is room for more."""
        if self._turn is not None:
            self._turn.cancel()
            self._turn = None
        for _ in range(SLICE):
            if not self._frames or not self._may_read_on():
                break
            self._take(self._frames.popleft())
        self._requests.start_pending()
        if self._frames and self._may_read_on():
            self._work_soon()
        if self.state is State.CLOSED or self._transport.is_closing():
            return
        if self.state is State.OPEN:
            self._adjust_reading()
        elif not self._is_busy():
            self.hang_up()

    def _adjust_reading(self) -> None:
        if self._frames or not self._may_read_on():
            self._stop_frame_timer()  # the rest of a frame cannot arrive while reading is paused
            self._transport.pause_reading()
            self._watch_peer()
        elif not self._transport.is_reading():
            self._transport.resume_reading()
            self._time_frame(restart=True)

    def _work_soon(self) -> None:
        if self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def _may_read_on(self) -> bool:
        return not self._requests.is_full and not self._outbox.behind and self._parsing is None

    def _is_busy(self) -> bool:
        return bool(self._frames or self._requests.is_busy or self._parsing is not None)

    def _take(self, frame: Frame | FrameError) -> None:
        if isinstance(frame, FrameError):
            self._fail(frame.error)
        elif len(frame.body) > THREAD_BYTES:
            self._parsing = self._loop.create_task(self._parse_in_thread(frame.body))
            self._server.watch(self._parsing)
        else:
            self._requests.accept(lambda: framing.parse(frame.body), allow_batch=self._allows_batch())

    async def _parse_in_thread(self, body: bytes) -> None:
        result: Callable[[], Any] = lambda: framing.parse(body)  # noqa: E731
        with suppress(Unavailable):  # no thread can be started
            parsed = self._loop.run_in_executor(self._server.parser, framing.parse, body)
            await asyncio.wait([parsed])
            result = parsed.result
        self._parsing = None
        self._requests.accept(result, allow_batch=self._allows_batch())
        self._work()

    def _allows_batch(self) -> bool:
        return self._decoder.framing != "headers"

    def _time_frame(self, *, restart: bool) -> None:
        """Start the time limit of an unfinished frame, counted from its first byte."""
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

    # ------------------------------------------------------------------ the end

    def _advance(self, state: State) -> None:
        self.state = max(self.state, state)

    def _fail(self, error: LivedexError) -> None:
        """Send ``error``; the connection ends when earlier requests are answered, or had the time for it."""
        log.debug("connection_refused", extra={"code": error.code, "reason": error.message})
        self.send(message_json.failure(None, error.to_wire()))
        self._advance(State.ENDING)
        self._stop_frame_timer()
        self._decoder.discard()
        self._server.unfinished.count(self, 0)
        self._frames.clear()
        self._loop.call_later(self._limits.linger_s, self.hang_up)
        self._work()

    def _drop(self) -> None:
        log.info("connection_stalled", extra={"waiting_bytes": self._outbox.waiting})
        self._transport.abort()

    def _watch_peer(self) -> None:
        """Check whether the client has gone, or is done and answered, while no reading would show it."""
        if self._peer_timer is None:
            self._check_peer()

    def _check_peer(self) -> None:
        self._peer_timer = None
        if self.state is State.CLOSED or self._transport.is_closing():
            return
        if self.is_hung_up():
            self._transport.abort()
        elif self._at_end and not self._is_busy():
            self._transport.close()
        elif self._at_end or not self._transport.is_reading():
            self._peer_timer = self._loop.call_later(PEER_S, self._check_peer)
