"""Runs actions on threads of its own, which start as they are needed and end with the process.

Invariant: an action that is accepted runs. Where the system starts no more threads, those that there are do the work;
only if there is none, an action is refused. The end of the process never joins these threads.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, ParamSpec, TypeVar

from livedex_ipc.errors import Unavailable
from livedex_ipc.thread_start import start_thread

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")


class LastingThreads(Executor):
    def __init__(self, most: int, name: str, *, at_once: int = 0) -> None:
        """``most``: how many threads there may be. ``at_once``: start so many now, while there is no shortage yet."""
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        # Its waiting is in C: a condition wakes a thread twice for each action, which a search would feel.
        self._actions: SimpleQueue[_Action | None] = SimpleQueue()
        self._threads = 0
        self._unfinished = 0
        self._ended = False
        for _ in range(at_once):
            self._start()

    def submit(self, action: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``action(*args)`` on a thread. Raise Unavailable if there is none and none can be started."""
        future: Future[T] = Future()
        with self._lock:
            if self._ended:
                raise Unavailable("the daemon is stopping: ask again when it is back")
            if self._unfinished >= self._threads and self._threads < self._most:
                self._start()
            self._unfinished += 1
            self._actions.put(_Action(partial(action, *args, **kwargs), future))
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """Accept nothing more. ``cancel_futures``: drop what has not begun. It never waits."""
        with self._lock:
            self._ended = True
            if cancel_futures:
                with suppress(Empty):
                    while (action := self._actions.get_nowait()) is not None:
                        action.future.cancel()
            for _ in range(self._threads):
                self._actions.put(None)

    def _start(self) -> None:
        try:
            start_thread(self._run, self._name)
        except Unavailable:
            if not self._threads:
                raise
        else:
            self._threads += 1

    def _run(self) -> None:
        goes_on = True
        while goes_on:
            try:
                goes_on = self._run_next()
            except BaseException:  # memory was lacking, even to say so: the thread must not go with all that waits
                with suppress(MemoryError):
                    log.exception("action_not_settled", extra={"part": self._name})

    def _run_next(self) -> bool:
        """Wait for an action and run it. Return False at the end."""
        action = self._actions.get()
        if action is None:
            return False
        if action.future.set_running_or_notify_cancel():
            action.run(self._finished)
        else:
            self._finished()
        return True

    def _finished(self) -> None:
        with self._lock:
            self._unfinished -= 1


class _Action(NamedTuple):
    call: Callable[[], Any]
    future: Future[Any]

    def run(self, finished: Callable[[], None]) -> None:
        """Run the call, count it as finished, and then hand over its result."""
        try:
            result = self.call()
        except BaseException as error:  # passed to the caller
            finished()
            self.future.set_exception(error)
        else:
            finished()
            self.future.set_result(result)
