"""Runs the reads of the index in threads, in fair order between the clients.

Invariant: no client waits for the long reads of another. A client has at most two threads, a read that lasts gives up
its place to the next one, and one place is for reads that must end soon.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

from livedex_daemon.process.event_loop import on_loop
from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

PER_CLIENT: Final = 2
PLACES: Final = 4  # reads that have just begun: with more, each would only be slower
SHORT_PLACES: Final = 1  # of these, for short reads alone
LONG_PLACES: Final = 12  # reads that have lasted for LONG_S
LONG_S: Final = 0.25
SHORT_S: Final = 1.0  # a read with less time than this is short
POLL_S: Final = 0.05  # until a client that is behind is checked again
_MARGIN_S: Final = 0.01  # a timer may fire a little early

T = TypeVar("T")


class Client(Protocol):
    """Whose read it is. ``behind``: it reads its answers more slowly than they come, so it gets no more now."""

    @property
    def behind(self) -> bool: ...


class _Read:
    __slots__ = ("action", "check", "client", "ended", "is_long", "is_short", "number", "result", "started")
    _numbers = itertools.count()

    def __init__(
        self, client: Client, action: Callable[[], Any], result: asyncio.Future[Any], *, is_short: bool
    ) -> None:
        self.number = next(self._numbers)
        self.client = client
        self.action = action
        self.result = result
        self.is_short = is_short
        self.is_long = False
        self.started = 0.0
        self.ended: Future[Any] | None = None  # while it runs
        self.check: asyncio.TimerHandle | None = None  # whether it has become long


class _Waiting:
    """The reads of a client that have not begun. All it does costs the same, however many there are."""

    def __init__(self) -> None:
        self._long: deque[_Read] = deque()
        self._short: deque[_Read] = deque()

    def __bool__(self) -> bool:
        return bool(self._long or self._short)

    def add(self, read: _Read) -> None:
        (self._short if read.is_short else self._long).append(read)

    def first(self, *, only_short: bool) -> _Read | None:
        """Return the read whose turn it is, None if there is none."""
        heads = []
        for reads in (self._short, self._long):
            while reads and reads[0].result.done():  # its caller was cancelled
                reads.popleft()
            heads += [reads[0]] if reads and not (only_short and reads is self._long) else []
        return min(heads, key=lambda read: read.number, default=None)

    def take(self, read: _Read) -> None:
        """Remove the read that was the first."""
        (self._short if read.is_short else self._long).popleft()

    def withdraw(self, read: _Read) -> None:
        """Remove a read whose caller was cancelled, unless it has begun."""
        with suppress(ValueError):
            (self._short if read.is_short else self._long).remove(read)


class ReaderThreads:
    """Call it on the event loop."""

    def __init__(self, *, long_s: float = LONG_S) -> None:
        """``long_s``: seconds after which a read counts as long."""
        self._long_s = long_s
        self._threads = LastingThreads(PLACES + LONG_PLACES, "reader", at_once=1)
        self._status = LastingThreads(1, "status", at_once=1)
        self._waiting: dict[Client, _Waiting] = {}  # the client whose turn it is comes first
        self._running: set[_Read] = set()
        self._poll: asyncio.TimerHandle | None = None

    def close(self) -> None:
        for threads in (self._threads, self._status):
            threads.shutdown(wait=False, cancel_futures=True)
        if self._poll is not None:
            self._poll.cancel()

    async def run(self, client: Client, due: float, action: Callable[[], T]) -> T:
        """Return the result of ``action``, which runs in a thread when the client's turn comes.

        ``due``: when its answer is due (monotonic). If the caller is cancelled, an action that has not begun never
        runs; one that has begun keeps its thread until it ends.
        """
        result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        read = _Read(client, action, result, is_short=due - time.monotonic() <= SHORT_S)
        waiting = self._waiting.setdefault(client, _Waiting())
        waiting.add(read)
        self._start_waiting()
        try:
            return await result
        except asyncio.CancelledError:
            waiting.withdraw(read)
            raise

    async def run_status(self, action: Callable[[], T]) -> T:
        """Return the result of ``action``, which runs in the thread that is kept for the daemon's own state."""
        return await asyncio.get_running_loop().run_in_executor(self._status, action)

    def _start_waiting(self) -> None:
        while (read := self._next()) is not None:
            self._start(read)

    def _next(self) -> _Read | None:
        """Take the read that may run now, None if there is none."""
        self._find_ended()
        self._find_long()
        free = PLACES - sum(1 for read in self._running if not read.is_long)
        for client, waiting in list(self._waiting.items()) if free > 0 else ():
            read = waiting.first(only_short=free <= SHORT_PLACES)
            if not waiting:
                del self._waiting[client]
            elif client.behind:
                self._poll_soon()
            elif read is not None and sum(1 for one in self._running if one.client is client) < PER_CLIENT:
                waiting.take(read)
                self._waiting[client] = self._waiting.pop(client)  # the others' turn comes first
                return read
        return None

    def _start(self, read: _Read) -> None:
        loop = asyncio.get_running_loop()
        read.started = time.monotonic()
        try:
            ended = self._threads.submit(read.action)
        except Unavailable as error:
            read.result.set_exception(error)
            return
        read.ended = ended
        self._running.add(read)
        # A future keeps its callbacks: one that referred to it would keep the answer until a garbage collection.
        ended.add_done_callback(lambda done: on_loop(loop, lambda: self._finish(read, done))())
        read.check = loop.call_later(self._long_s + _MARGIN_S, self._start_waiting)

    def _finish(self, read: _Read, ended: Future[Any]) -> None:
        if read.ended is None:
            return
        read.ended = None
        self._running.discard(read)
        if read.check is not None:
            read.check.cancel()  # else it would wake the loop for nothing
        if not read.result.done():
            error = None if ended.cancelled() else ended.exception()
            if ended.cancelled():
                read.result.cancel()
            elif error is not None:
                read.result.set_exception(error)
            else:
                read.result.set_result(ended.result())
        self._start_waiting()

    def _poll_soon(self) -> None:
        if self._poll is None:
            self._poll = asyncio.get_running_loop().call_later(POLL_S, self._poll_now)

    def _poll_now(self) -> None:
        self._poll = None
        self._start_waiting()

    def _find_ended(self) -> None:
        """Finish the reads whose end was not heard of, because memory was lacking: they would keep their places."""
        for read in [read for read in self._running if read.ended is not None and read.ended.done()]:
            if read.ended is not None:
                self._finish(read, read.ended)

    def _find_long(self) -> None:
        """Let the reads that last give up their places, as long as there are places for long ones."""
        free = LONG_PLACES - sum(1 for read in self._running if read.is_long)
        now = time.monotonic()
        lasting = [r for r in self._running if not r.is_long and now - r.started >= self._long_s]
        for read in sorted(lasting, key=lambda read: read.started)[:free]:
            read.is_long = True
