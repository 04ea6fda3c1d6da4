"""The chores that the schedule starts: check the roots and maintain the index.

Invariant: a chore returns at once; long work runs on the worker's thread, and its failure is logged.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from livedex_daemon.upkeep.idle_maintenance import IdleMaintenance
from livedex_daemon.upkeep.root_check import RootCheck
from livedex_ipc.errors import Unavailable

log = logging.getLogger(__name__)


class DaemonChores:
    """Call on the event loop."""

    def __init__(self, root_check: RootCheck, maintenance: IdleMaintenance) -> None:
        self._root_check = root_check
        self._maintenance = maintenance

    def check_roots(self) -> None:
        _log_failure_of(self._root_check.start())
        _log_failure_of(self._maintenance.merge(_later_on(asyncio.get_running_loop())))

    def maintain(self) -> None:
        _log_failure_of(self._maintenance.maintain(_later_on(asyncio.get_running_loop())))


def _later_on(loop: asyncio.AbstractEventLoop) -> Callable[[float, Callable[[], object]], None]:
    """Return a function that any thread may call to run an action on ``loop`` after some seconds."""

    def later(seconds: float, action: Callable[[], object]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the daemon with it
            loop.call_soon_threadsafe(loop.call_later, seconds, action)

    return later


def _log_failure_of(chore: Future[Any] | None) -> None:
    """Log the failure of a chore, since no caller waits for its end; the schedule tries it again.

    Unavailable is none of its own: the daemon stops, or a fault of the index was logged before.
    """
    if chore is not None:
        chore.add_done_callback(_log_failure)


def _log_failure(chore: Future[Any]) -> None:
    error = None if chore.cancelled() else chore.exception()
    if error is not None and not isinstance(error, Unavailable):
        log.error("chore_failed", extra={"error": repr(error)})
