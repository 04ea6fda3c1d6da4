"""Runs actions on threads of its own, which start as they are needed and end with the process.

Invariant: an action that is accepted runs. Where the system starts no more threads, those that there are do the work;
only if there is none, an action is refused. The end of the process never joins these threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, Final, ParamSpec, TypeVar

from livedex_ipc.errors import Unavailable

NO_THREAD: Final = (
    "the system starts no more threads: raise the limit of processes (`ulimit -u`, `TasksMax` of the service), "
    "or end other programs"
)

P = ParamSpec("P")
T = TypeVar("T")


class LastingThreads(Executor):
    def __init__(self, most: int, name: str, *, at_once: int = 0) -> None:
        """``most``: how many threads there may be. ``at_once``: start so many now, while there is no shortage yet."""
        self._most = most
        self._name = name
        self._more = threading.Condition()
        self._actions: deque[tuple[Callable[[], None], Future[Any]]] = deque()
        self._threads = 0
        self._idle = 0
        self._ended = False
        for _ in range(at_once):
            self._start()

    def submit(self, action: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``action(*args)`` on a thread. Raise Unavailable if there is none and none can be started."""
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(action(*args, **kwargs))
            except BaseException as error:  # passed to the caller
                future.set_exception(error)

        with self._more:
            if self._ended:
                raise Unavailable("the daemon is stopping: ask again when it is back")
            if self._idle <= len(self._actions) and self._threads < self._most:
                self._start()
            self._actions.append((run, future))
            self._more.notify()
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        """Accept nothing more. ``cancel_futures``: drop what has not begun. It never waits."""
        with self._more:
            self._ended = True
            while cancel_futures and self._actions:
                self._actions.popleft()[1].cancel()
            self._more.notify_all()

    def _start(self) -> None:
        try:
            threading.Thread(target=self._run, name=self._name, daemon=True).start()
        except RuntimeError as error:
            if not self._threads:
                raise Unavailable(NO_THREAD) from error
        else:
            self._threads += 1

    def _run(self) -> None:
        while (action := self._next()) is not None:
            action()

    def _next(self) -> Callable[[], None] | None:
        with self._more:
            self._idle += 1
            while not self._actions and not self._ended:
                self._more.wait()
            self._idle -= 1
            return self._actions.popleft()[0] if self._actions else None


def start_thread(run: Callable[[], Any], name: str) -> None:
    """Start a thread that the end of the process never joins. Raise Unavailable."""
    try:
        threading.Thread(target=run, name=name, daemon=True).start()
    except RuntimeError as error:
        raise Unavailable(NO_THREAD) from error
