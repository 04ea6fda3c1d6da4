"""Tells the supervisor that the daemon is alive, and in a line for people what it does.

Invariant: no ping is sent unless the event loop turns and the thread that writes the index has answered lately.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol

from livedex_daemon.process.tick import tick
from livedex_service import supervisor

SILENT_S = 300.0  # one step of the writer, such as a commit to a slow disk, may take this long


class Writer(Protocol):
    """The thread that writes the index."""

    def alive(self) -> bool: ...

    def submit(self, action: Callable[[], None]) -> Future[None]: ...


class Heartbeat:
    """Whether the writer works. Use it on the event loop."""

    def __init__(self, writer: Writer, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._writer = writer
        self._clock = clock
        self._probe: Future[None] | None = None
        self._answered_at = clock()

    def beats(self) -> bool:
        """Send the writer a probe unless one is under way. Return False if it is dead, or silent for ``SILENT_S``."""
        if self._probe is None or self._probe.done():
            if self._probe is not None and self._probe.exception() is None:
                self._answered_at = self._clock()
            self._probe = self._writer.submit(_do_nothing)
        return self._writer.alive() and self._clock() - self._answered_at < SILENT_S


class SupervisorReports:
    """The daemon's tasks for the supervisor. Without one, both end at once."""

    def __init__(self, writer: Writer, pending: Callable[[], int]) -> None:
        """``pending``: the number of changes that are not indexed yet."""
        self._heartbeat = Heartbeat(writer)
        self._pending = pending
        self._last = ""  # the line that the supervisor has

    async def feed_watchdog(self) -> None:
        """Ping the watchdog from this loop, as often as it wants."""
        interval = supervisor.watchdog_interval_s()
        while interval is not None:
            if self._heartbeat.beats():
                supervisor.watchdog()
            await asyncio.sleep(interval)

    def ready(self) -> None:
        """Report that the socket answers."""
        self._last = self.status()
        supervisor.ready(self._last)

    async def follow_status(self) -> None:
        """Keep the status line up to date, and say again what was not taken."""
        while supervisor.is_present():
            await tick()
            supervisor.repeat()
            if (text := self.status()) != self._last and supervisor.status(text):
                self._last = text

    def status(self) -> str:
        """Return the line: what is served, and how much is to be done."""
        pending = self._pending()
        changes = "1 change" if pending == 1 else f"{pending:,} changes"
        return f"serving, {changes} to index" if pending else "serving"


def _do_nothing() -> None:
    return None
