"""The way from any thread back to the event loop.

Invariant: an action runs on the loop's thread, or not at all once the loop is closed.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable


def on_loop(loop: asyncio.AbstractEventLoop, action: Callable[[], object]) -> Callable[[], None]:
    """``action``, to be called from any thread and run on ``loop``: at once where it is called there."""

    def call() -> None:
        if _running_loop() is loop:
            action()
            return
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(action)

    return call


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the loop of this thread, None outside of one."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
