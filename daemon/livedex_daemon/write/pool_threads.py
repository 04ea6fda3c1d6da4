"""The threads of the pool by their role: start the missing ones, and notice those that ended.

Invariant: a thread counts as alive only while it runs and has not said that it is about to end.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Literal

from livedex_ipc import thread_start

log = logging.getLogger(__name__)

Role = Literal["edits", "spare", "bulk"]


class PoolThreads:
    """Call its methods under the pool's lock. ``fault``: why a thread could not be started; None: all could."""

    def __init__(self, run: Callable[[Role], None]) -> None:
        """``run(role)`` is the life of a thread."""
        self.fault: str | None = None
        self._run = run
        self._threads: dict[threading.Thread, Role] = {}

    def start_missing(self, wanted: dict[Role, int]) -> None:
        """Start threads until ``wanted`` of each role are alive, as far as the system lets them start."""
        self._threads = {thread: role for thread, role in self._threads.items() if thread.is_alive()}
        running = list(self._threads.values())
        try:
            for role, count in wanted.items():
                for _ in range(count - running.count(role)):
                    self._start(role)
        except RuntimeError as error:  # no more threads, or no memory for one
            log.warning("pool_thread_not_started", extra={"error": str(error)})
            self.fault = str(error)
        else:
            self.fault = None

    def alive(self, role: Role) -> bool:
        return any(known == role and thread.is_alive() for thread, known in self._threads.items())

    def lacks(self, role: Role) -> bool:
        """Whether no thread of that role runs, and the system does not let one start."""
        return self.fault is not None and not self.alive(role)

    def ending(self) -> None:
        """The calling thread takes no more work."""
        self._threads.pop(threading.current_thread(), None)

    def join(self, timeout_s: float) -> None:
        """Wait for all threads. Call it without the lock, once no more are started."""
        until = time.monotonic() + timeout_s
        for thread in list(self._threads):
            thread.join(max(0.0, until - time.monotonic()))

    def _start(self, role: Role) -> None:
        thread = threading.Thread(target=self._run, args=(role,), name=role, daemon=True)
        thread_start.start(thread)
        self._threads[thread] = role
