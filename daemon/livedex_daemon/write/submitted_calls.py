"""Calls that other threads submit to one thread, which makes them in order.

Invariant: each call is made at most once, and its future ends: with the call's result or error, or as Unavailable once
the thread takes no more calls. None waits for a thread that has stopped.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from typing import Any, Final, TypeVar

from livedex_ipc.errors import Unavailable

STOPPING: Final = "the daemon is stopping: ask again when it is back"

T = TypeVar("T")


class SubmittedCalls:
    """``wake`` is set after each call that is submitted. All methods but ``make`` are for any thread."""

    def __init__(self, wake: threading.Event) -> None:
        self._wake = wake
        self._waiting: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._is_ended = False

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Return the future of ``call``. After ``end`` it has failed: Unavailable."""
        future: Future[T] = Future()
        self._waiting.append((call, future))
        if self._is_ended:
            self.refuse(STOPPING)
        self._wake.set()
        return future

    def end(self) -> None:
        """Make no more calls. Those that wait are refused by ``refuse``, once the thread had time to end."""
        self._is_ended = True
        self._wake.set()

    def refuse(self, message: str) -> None:
        """Fail all calls that wait."""
        while True:
            try:
                _, future = self._waiting.popleft()
            except IndexError:
                return
            if future.set_running_or_notify_cancel():
                future.set_exception(Unavailable(message))

    def make(self, within: Callable[[], AbstractContextManager[None]], failed: Callable[[BaseException], None]) -> bool:
        """Make the calls that wait; return whether there were any. Call it on the thread itself.

        ``within``: each call is made inside this context. ``failed`` gets its error after the future has it.
        """
        made = False
        while self._waiting and not self._is_ended:
            call, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue  # the caller has gone
            made = True
            try:
                with within():
                    result = call()
                future.set_result(result)
            except BaseException as error:  # passed to the caller
                future.set_exception(error)
                failed(error)
        return made
