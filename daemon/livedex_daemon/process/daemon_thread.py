"""Runs a long blocking action for the event loop, on a thread of its own.

Invariant: it takes no thread from the executors that short actions share, and the end of the process never joins it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from livedex_ipc.thread_start import start_thread

T = TypeVar("T")


async def in_daemon_thread(action: Callable[[], T], name: str) -> T:
    """Return what ``action`` returns. A caller that is cancelled does not wait for it: the action goes on.

    Raise Unavailable if no thread can be started.
    """
    future: Future[T] = Future()

    def run() -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(action())
        except BaseException as error:  # passed to the caller
            future.set_exception(error)

    start_thread(run, name)
    return await asyncio.wrap_future(future)
