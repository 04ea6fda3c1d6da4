"""Runs code of a plugin for a limited time.

Invariant: the caller goes on at its deadline, whatever the code does. Code that hangs is left behind on a thread that
the end of the process does not join. What it raises reaches the caller as an ``Exception``: `sys.exit` in a plugin
ends nothing but its call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TypeVar

from livedex_indexing.plugins.registry import described
from livedex_ipc import thread_start

T = TypeVar("T")


class PluginEnds(Exception):
    """The code tried to end the process, or its thread; the message says what it raised."""


def within(seconds: float, action: Callable[[], T], name: str) -> T:
    """Return what ``action`` returns, or raise what it raises. Raises TimeoutError past the time; ``name``: whose."""
    future = _begun(action, name)
    if not _is_done(future, seconds):
        raise TimeoutError(f"it does not return within {seconds:g} s")
    return future.result()


class LimitedCalls:
    """The calls of one plugin's object, from any threads. While one that was given up still runs, no other begins."""

    def __init__(self, name: str, noted: Callable[[], AbstractContextManager[None]] = nullcontext) -> None:
        """``noted`` is around each call."""
        self._name = name
        self._noted = noted
        self._late: Future[object] | None = None

    @property
    def hangs(self) -> bool:
        """Whether a call that was given up still runs."""
        return self._late is not None and not self._late.done()

    def run(self, seconds: float, action: Callable[[], T]) -> T:
        """Return what ``action`` returns, or raise what it raises. Raises TimeoutError past the time, and at once while
        a former call hangs."""
        if self.hangs:
            raise TimeoutError("it does not return from an earlier call")

        def run() -> T:
            with self._noted():
                return action()

        future = _begun(run, self._name)
        if not _is_done(future, seconds):
            self._late = future  # type: ignore[assignment]  # only whether it is done counts
            raise TimeoutError(f"it does not return within {seconds:g} s")
        return future.result()

    def close(self, seconds: float, made: object) -> None:
        """Close an object if it can be closed. Nobody uses it any more: what that raises is dropped."""

        def close() -> None:
            end = getattr(made, "close", None)  # which may run code, too
            if callable(end):
                end()

        with suppress(Exception):
            self.run(seconds, close)


def _begun(action: Callable[[], T], name: str) -> Future[T]:
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except Exception as fault:  # passed to the caller
            future.set_exception(fault)
        except BaseException as fault:
            future.set_exception(PluginEnds(described(fault)))

    thread_start.start(threading.Thread(target=run, name=name, daemon=True))
    return future


def _is_done(future: Future[T], seconds: float) -> bool:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(seconds)
