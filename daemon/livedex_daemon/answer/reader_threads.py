"""Runs the reads of the index in threads, in fair order between the clients.

Invariant: no client waits for the long reads of another. A client has at most two threads, a read that lasts gives up
its place to the next one, and one place is for reads that must end soon.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
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
    __slots__ = ("action", "check", "client", "ended", "is_long", "is_short", "result", "started")

    def __init__(
        self, client: Client, action: Callable[[], Any], result: asyncio.Future[Any], *, is_short: bool
    ) -> None:
        self.client = client
        self.action = action
        self.result = result
        self.is_short = is_short
        self.is_long = False
        self.started = 0.0
        self.ended: Future[Any] | None = None  # while it runs
        self.check: asyncio.TimerHandle | None = None  # whether it has become long


class ReaderThreads:
    """Call it on the event loop."""

    def __init__(self, *, long_s: float = LONG_S) -> None:
        """``long_s``: seconds after which a read counts as long."""
        self._long_s = long_s
        self._threads = LastingThreads(PLACES + LONG_PLACES, "reader", at_once=1)
        self._status = LastingThreads(1, "status", at_once=1)
        self._waiting: dict[Client, deque[_Read]] = {}  # the client whose turn it is comes first
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
        self._waiting.setdefault(client, deque()).append(read)
        self._start_waiting()
        return await result

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
        for client, reads in list(self._waiting.items()):
            for read in [read for read in reads if read.result.done()]:  # its caller was cancelled
                reads.remove(read)
            if not reads:
                del self._waiting[client]
            elif client.behind:
                self._poll_soon()
            elif sum(1 for read in self._running if read.client is client) < PER_CLIENT:
                found = next((read for read in reads if free > (0 if read.is_short else SHORT_PLACES)), None)
                if found is not None:
                    reads.remove(found)
                    self._waiting[client] = self._waiting.pop(client)  # the others' turn comes first
                    return found
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
