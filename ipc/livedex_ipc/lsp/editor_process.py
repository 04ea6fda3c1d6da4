"""Waits for the end of the editor's process, which the editor names when it begins.

Invariant: waiting costs nothing. A process that is not there is not waited for: from inside a container, no editor is.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress

from livedex_ipc.errors import Unavailable
from livedex_ipc.thread_start import start_thread


def when_ended(pid: int, action: Callable[[], object]) -> None:
    """Call ``action`` on a thread of its own once the process ``pid`` has ended. Do nothing if there is none."""
    wait = _wait_for(pid)
    if wait is not None:
        with suppress(Unavailable):  # then the end of stdin alone tells it
            start_thread(lambda: (wait(), action()), "editor")


def _wait_for(pid: int) -> Callable[[], object] | None:
    """Return what waits for the end of a process; None if there is none, or the system cannot tell."""
    try:
        if sys.platform == "darwin":
            queue = select.kqueue()
            end = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([end], 0)
            return lambda: queue.control([], 1)
        poll = select.poll()
        poll.register(os.pidfd_open(pid), select.POLLIN)
        return poll.poll
    except (AttributeError, OSError, OverflowError):
        return None
