"""Keeps threads and tasks of the daemon going: one that fails is logged, named in the status, and started again.

Invariant: a failure hands back what the part had in hand before the part starts again, and ``fault`` names it until the
part has worked for ``WELL_S`` or a task has ended its work.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from livedex_ipc import thread_start
from livedex_ipc.errors import Unavailable
from livedex_ipc.thread_start import NO_THREAD

log = logging.getLogger(__name__)

PAUSE_S = 1.0  # before a part that failed starts again
WELL_S = 30.0  # without another failure, until the last one is forgotten

Clock = Callable[[], float]


class Part(Protocol):
    """What the status asks of each thread or task. ``fault``: why it failed lately; None while it is well."""

    @property
    def name(self) -> str: ...

    @property
    def fault(self) -> str | None: ...


class _Failures:
    """The last failure of a part."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._last: tuple[str, float] | None = None

    def add(self, error: BaseException) -> None:
        if isinstance(error, ImportError):  # Python takes a library for missing if its folder could not be examined
            importlib.invalidate_caches()
        self._last = type(error).__name__, self._clock()
        log.error("part_failed", extra={"part": self._name}, exc_info=error)

    def forget(self) -> None:
        self._last = None

    def recent(self) -> str | None:
        last = self._last
        return last[0] if last is not None and self._clock() - last[1] < WELL_S else None


class SupervisedThread:
    """A daemon thread that runs ``run`` until it returns; after an exception it runs it again."""

    def __init__(
        self,
        name: str,
        run: Callable[[], None],
        *,
        recover: Callable[[], None] = lambda: None,
        pause_s: float = PAUSE_S,
        clock: Clock = time.monotonic,
    ) -> None:
        """``recover`` runs on the thread after each exception: unfinished work must be queued again."""
        self.name = name
        self._run = run
        self._recover = recover
        self._pause_s = pause_s
        self._failures = _Failures(name, clock)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_running, name=name, daemon=True)

    @property
    def fault(self) -> str | None:
        return self._failures.recent()

    def start(self) -> None:
        """Start it. Raise Unavailable if the system starts no more threads."""
        try:
            thread_start.start(self._thread)
        except RuntimeError as error:
            raise Unavailable(NO_THREAD) from error

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def end(self, timeout_s: float) -> bool:
        """Do not run it again, and wait for it to return. Return False if it has not returned after ``timeout_s``."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _keep_running(self) -> None:
        while not self._ended.is_set():
            try:
                self._run()
                return
            except BaseException as error:  # also SystemExit: nothing may end the thread without a word
                self._failures.add(error)
            try:
                self._recover()
            except Exception as error:
                self._failures.add(error)
            self._ended.wait(self._pause_s)


class SupervisedTask:
    """A task of the event loop that awaits ``run`` until it returns; after an exception it awaits it again."""

    def __init__(
        self,
        name: str,
        run: Callable[[], Awaitable[None]],
        *,
        pause_s: float = PAUSE_S,
        clock: Clock = time.monotonic,
    ) -> None:
        self.name = name
        self._run = run
        self._pause_s = pause_s
        self._failures = _Failures(name, clock)
        self._task: asyncio.Task[None] | None = None

    @property
    def fault(self) -> str | None:
        return self._failures.recent()

    def start(self) -> None:
        """Start it on the running loop."""
        self._task = asyncio.get_running_loop().create_task(self._keep_running(), name=self.name)

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _keep_running(self) -> None:
        while True:
            try:
                await self._run()
                self._failures.forget()
                return
            except Exception as error:
                self._failures.add(error)
            await asyncio.sleep(self._pause_s)
