"""Runs the calls of the exchange on a thread of their own, and wakes those that wait for a message.

Invariant: a wake-up is advice. Those that wait look into the file again, at the latest after ``RECHECK_S`` when another
process has written to it, and when a lease ends. A file that cannot be used has a ``fault``, also if nobody calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Final, TypeVar

from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.exchange.dead_letters import DeadLetters
from livedex_daemon.exchange.exchange_store import Exchange
from livedex_daemon.exchange.log_watch import RECHECK_S, LogWatch
from livedex_daemon.precious.file_fault import FileFault
from livedex_daemon.precious.precious_database import BUSY_S, LOOK_S, DatabaseUnusable
from livedex_ipc.errors import Unavailable
from livedex_ipc.lasting_threads import LastingThreads

TIDY_EVERY_S: Final = 600.0

T = TypeVar("T")


class ExchangeThread:
    """Opens the file at the first call. For the event loop's thread.

    ``dead_letters``: as of the last look at the file.
    """

    def __init__(self, path: str, current: CurrentConfig) -> None:
        self._path = path
        self._current = current
        self._thread = LastingThreads(1, "exchange")
        self._exchange: Exchange | None = None  # for that thread alone
        self._tidied_at = 0.0
        self._fault = FileFault(path)
        self.dead_letters: list[DeadLetters] = []
        self.waiters = Waiters(path)

    async def run(self, action: Callable[[Exchange], T]) -> T:
        """Return the result of ``action``, and raise what it raises. Also raises DatabaseUnusable."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, action, time.monotonic())

    @property
    def fault(self) -> DatabaseUnusable | None:
        """Why the file cannot be used, None if it can."""
        return self._fault.found

    def _run(self, action: Callable[[Exchange], T], called_at: float | None = None) -> T:
        with self._fault.noted():
            exchange = self._opened()
            exchange.wait_from(called_at)
            return action(exchange)

    def _opened(self) -> Exchange:
        if self._exchange is None:
            self._exchange = Exchange(self._path, self._current.config.exchange)
        self._exchange.limits = self._current.config.exchange
        return self._exchange

    async def keep_checking(self) -> None:
        """Read a little of the file at the tick after it changed: nobody may call while it is lost."""
        await self._fault.keep_looking(lambda: self._thread.submit(self._look), lambda: self._note([]))

    def _look(self) -> None:
        called_at = time.monotonic() - BUSY_S + LOOK_S
        self._note(self._run(Exchange.dead_letters, called_at))
        self._fault.clear_if(lambda: self._run(Exchange.check_writable, called_at))

    def _note(self, dead_letters: list[DeadLetters]) -> None:
        self.dead_letters = dead_letters

    def tidy(self) -> None:
        """Remove what is old, now and then, after what is under way."""
        now = time.monotonic()
        if now - self._tidied_at > TIDY_EVERY_S:
            self._tidied_at = now
            with suppress(Unavailable):  # later, then
                self._thread.submit(self._run, lambda exchange: exchange.remove_old())

    def close(self) -> None:
        """Close the file after the call that is under way, which may hang: nobody waits for it here."""
        with suppress(Unavailable):  # without a thread the file was never opened
            self._thread.submit(self._close)
        self._thread.shutdown()
        self.waiters.close()

    def _close(self) -> None:
        if self._exchange is not None:
            self._exchange.close()


class Waiters:
    """Who waits for a change of the exchange. For the event loop's thread."""

    def __init__(self, path: str) -> None:
        self._log = LogWatch(path)
        self._events: set[asyncio.Event] = set()
        self._next_look: asyncio.TimerHandle | None = None

    def add(self) -> asyncio.Event:
        """Return an event that is set when something may have changed; ``remove`` it in the end."""
        event = asyncio.Event()
        self._events.add(event)
        if self._next_look is None:
            self._look_later()
        return event

    def remove(self, event: asyncio.Event) -> None:
        self._events.discard(event)
        if not self._events:
            self.close()

    def wake(self) -> None:
        """Let all look again."""
        for event in self._events:
            event.set()

    def close(self) -> None:
        if self._next_look is not None:
            self._next_look.cancel()
            self._next_look = None

    def _look_later(self) -> None:
        self._next_look = asyncio.get_running_loop().call_later(RECHECK_S, self._look)

    def _look(self) -> None:
        """Notice what other processes write. A timer costs half of what a task that sleeps does."""
        if self._log.may_have_changed():
            self.wake()
        self._look_later()
