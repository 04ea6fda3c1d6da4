"""Calls one backend from one thread of its own, each call with a time limit.

Invariant: a call that hangs costs its caller its time and the backend its place: the object is given up with its
thread, and no other call waits for it.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar

from livedex_indexing.plugins import Backend, PluginUnavailable
from livedex_indexing.plugins.registry import described
from livedex_ipc import thread_start

T = TypeVar("T")


class BackendLost(Exception):
    """The backend raised, answered nonsense or did not answer in time; the message says what."""


class BackendCalls:
    """One object of a backend. ``make`` runs on its thread, too. After ``BackendLost``, close it and make another."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Backend],
        noted: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """``noted`` is around each call."""
        self._make = make
        self._noted = noted
        self._jobs: queue.SimpleQueue[tuple[Callable[[], object], Future[object]] | None] = queue.SimpleQueue()
        self._backend: Backend | None = None
        self._thread = threading.Thread(target=self._run, name=f"backend {name}", daemon=True)
        thread_start.start(self._thread)

    @property
    def ended(self) -> bool:
        """Whether its last call returned, after `close`."""
        return not self._thread.is_alive()

    def open(self, seconds: float) -> None:
        """Make the object. Raises BackendLost."""

        def make() -> None:
            self._backend = self._make()

        self._do(make, seconds)

    def call(self, action: Callable[[Backend], T], seconds: float) -> T:
        """Return what ``action`` returns. Raises BackendLost, whatever the backend does."""

        def run() -> T:
            if self._backend is None:
                raise BackendLost("it is closed")
            return action(self._backend)

        return self._do(run, seconds)

    def close(self) -> None:
        """Close the object when its thread is free; wait for nothing."""

        def end() -> None:
            backend, self._backend = self._backend, None
            if backend is not None:
                backend.close()

        self._jobs.put((end, Future()))
        self._jobs.put(None)

    def _do(self, action: Callable[[], T], seconds: float) -> T:
        future: Future[object] = Future()
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        self._jobs.put((action, future))
        if not done.wait(seconds):
            future.cancel()
            raise BackendLost(f"it does not answer within {seconds:.3g} s")
        try:
            return future.result()  # type: ignore[return-value]  # what the action returned
        except BackendLost:
            raise
        except PluginUnavailable as fault:
            raise BackendLost(str(fault)) from fault
        except BaseException as fault:  # a plugin may raise anything
            raise BackendLost(described(fault)) from fault

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            action, future = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                with self._noted():
                    future.set_result(action())
            except BaseException as fault:  # passed to the caller
                future.set_exception(fault)
