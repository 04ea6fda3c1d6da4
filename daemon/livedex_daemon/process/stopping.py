"""Ends the process on a signal, in time, whatever hangs: a disk, a search, a chunk worker, the event loop itself.

Invariant: a signal is noticed while the event loop hangs. Once a stop has begun, the process ends within ``LIMIT_S``.
Only what a crash may also interrupt is cut off: the index survives it.
"""

from __future__ import annotations

import contextlib
import faulthandler
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import NoReturn

from livedex_indexing.child import child_starter

log = logging.getLogger(__name__)

LIMIT_S = 4.5  # 5 s are promised
KILL_AFTER_S = 0.4  # the interpreter itself ends the process this much later, without any Python code

Action = Callable[[], object]


def end_process(code: int) -> NoReturn:
    """End the process at once: Python's own exit joins every executor's threads, and one of them may hang."""
    child_starter.kill_all()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or never there
            stream.flush()
    os._exit(code)


class SignalThread:
    """Runs an action for each signal on a thread of its own. Each must be quick."""

    def __init__(self, actions: Mapping[signal.Signals, Action]) -> None:
        """Call it on the main thread, which alone may choose what signals do."""
        self._actions = actions
        self._received, self._written = socket.socketpair()
        self._written.setblocking(False)
        # The interpreter writes the number of each signal to this socket from its C handler, whichever thread runs.
        signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        for number in actions:
            signal.signal(number, _ignore)
        threading.Thread(target=self._run, name="signals", daemon=True).start()

    def close(self) -> None:
        """Stop listening. The process ends, or a test does."""
        signal.set_wakeup_fd(-1)
        self._written.close()

    def _run(self) -> None:
        with self._received:
            while data := self._received.recv(16):
                for number in data:
                    self._act(number)

    def _act(self, number: int) -> None:
        action = next((action for known, action in self._actions.items() if known == number), None)
        try:
            if action is not None:
                action()
        except Exception:
            log.exception("signal_failed")


def _ignore(_number: int, _frame: object) -> None:
    """A handler that exists, so that the signal does not end the process: the thread acts on it."""


def _end_without_python(seconds: float) -> None:
    """Have a thread of the interpreter, which needs no Python code, write all stacks to stderr and end the process."""
    faulthandler.dump_traceback_later(seconds, exit=True, file=2)


class StopDeadline:
    """Begins a stop, and ends the process if the stop takes longer than ``limit_s``. Any thread may call ``begin``."""

    def __init__(
        self,
        stop: Action,
        last: Action,
        limit_s: float = LIMIT_S,
        *,
        end: Callable[[int], object] = end_process,
        backstop: Callable[[float], object] = _end_without_python,
    ) -> None:
        """``stop`` begins the orderly stop; ``last`` runs right before a forced end.

        ``backstop`` takes the seconds after which it ends the process.
        """
        self._stop = stop
        self._last = last
        self._limit_s = limit_s
        self._end = end
        self._backstop = backstop
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Begin the stop; a second call does nothing."""
        with self._lock:
            if self._timer is not None:
                return
            timer = self._timer = threading.Timer(self._limit_s, self._force)
            timer.daemon = True
        timer.start()
        self._backstop(self._limit_s + KILL_AFTER_S)
        self._stop()

    def _force(self) -> None:
        try:
            log.error("daemon_stop_forced", extra={"threads": sorted(thread.name for thread in threading.enumerate())})
            self._last()
        except Exception:
            log.exception("daemon_stop_failed")
        finally:
            self._end(0)
