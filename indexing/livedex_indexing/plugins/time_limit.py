"""Runs code of a plugin for a limited time.

Invariant: the caller goes on at its deadline, whatever the code does. Code that hangs is left behind on a thread that
the end of the process does not join.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, action: Callable[[], T], name: str) -> T:
    """Return what ``action`` returns, or raise what it raises. Raises TimeoutError past the time; ``name``: whose."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(action())
        except BaseException as fault:  # passed to the caller
            future.set_exception(fault)

    threading.Thread(target=run, name=name, daemon=True).start()
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(seconds):
        raise TimeoutError(f"it does not return within {seconds:g} s")
    return future.result()
