"""Ends the process on a signal, in time, whatever hangs: a disk, a search, a chunk worker, the event loop itself.

Invariant: a signal is noticed while the event loop hangs. Once a stop has begun, the process ends within ``LIMIT_S``,
also where memory and threads are lacking: the threads that this takes run from the start. Only what a crash may also
interrupt is cut off: the index survives it.
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
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

from livedex_indexing.child import child_starter

log = logging.getLogger(__name__)

LIMIT_S = 4.5  # 5 s are promised
KILL_AFTER_S = 0.4  # the interpreter itself ends the process this much later, without any Python code
ALARM_AFTER_S = 0.05  # and the kernel this much after that
TRIES = 10  # of an action that lacks memory
PAUSE_S = 0.05  # between two of them

Action = Callable[[], object]


def end_process(code: int) -> NoReturn:
    """End the process at once: Python's own exit joins every executor's threads, and one of them may hang."""
    try:
        child_starter.kill_all()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or never there
                stream.flush()
    finally:  # memory may be lacking
        os._exit(code)


class SignalThread:
    """Runs an action for each signal on a thread of its own. Each must be quick."""

    def __init__(self, actions: Mapping[signal.Signals, Action]) -> None:
        """Call it on the main thread, which alone may choose what signals do."""
        self._actions = {int(number): action for number, action in actions.items()}
        self._received, self._written = socket.socketpair()
        self._written.setblocking(False)
        # The interpreter writes the number of each signal to this socket from its C handler, whichever thread runs.
        signal.set_wakeup_fd(self._written.fileno(), warn_on_full_buffer=False)
        for number in actions:
            signal.signal(number, _ignore)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # whoever started us may have had it ignored
        threading.Thread(target=self._run, name="signals", daemon=True).start()

    def close(self) -> None:
        """Stop listening. The process ends, or a test does."""
        signal.set_wakeup_fd(-1)
        self._written.close()

    def _run(self) -> None:
        number = bytearray(1)  # so that to receive one takes no memory
        with self._received:
            while self._receive(number):
                self._act(number[0])

    def _receive(self, number: bytearray) -> int:
        """Wait for the next signal; return 0 at the end."""
        while True:
            try:
                return self._received.recv_into(number)
            except (OSError, MemoryError):  # without this thread no signal would be heard
                time.sleep(PAUSE_S)

    def _act(self, number: int) -> None:
        action = self._actions.get(number, _nothing)
        for _ in range(TRIES):
            try:
                action()
                return
            except MemoryError:
                time.sleep(PAUSE_S)
            except Exception:
                with contextlib.suppress(MemoryError):
                    log.exception("signal_failed")
                return


def _ignore(_number: int, _frame: object) -> None:
    """A handler that exists, so that the signal does not end the process: the thread acts on it."""


def _nothing() -> None:
    """For a signal on which nobody acts."""


def end_without_python(seconds: float) -> None:
    """Have a thread of the interpreter, which needs no Python code, write all stacks to stderr and end the process.

    Where there is no memory for that thread, the kernel's alarm ends the process.
    """
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds + ALARM_AFTER_S)
    finally:
        with contextlib.suppress(RuntimeError, MemoryError):
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
        backstop: Callable[[float], object] = end_without_python,
    ) -> None:
        """``stop`` begins the orderly stop; ``last`` runs right before a forced end.

        ``backstop`` takes the seconds after which it ends the process.
        """
        self._stop = stop
        self._last = last
        self._limit_s = limit_s
        self._backstop_s = limit_s + KILL_AFTER_S
        self._end = end
        self._backstop = backstop
        self._has_begun = threading.Lock()  # locked for good by the first call
        self._counting = threading.Lock()  # locked until then
        self._counting.acquire()
        threading.Thread(target=self._count, name="deadline", daemon=True).start()

    def begin(self) -> None:
        """Begin the stop; a second call does nothing. Where memory is lacking, the deadline holds all the same."""
        if not self._has_begun.acquire(blocking=False):
            return
        try:
            self._backstop(self._backstop_s)
        finally:
            self._counting.release()
            self._stop()

    def _count(self) -> None:
        self._counting.acquire()
        time.sleep(self._limit_s)
        self._force()

    def _force(self) -> None:
        try:
            log.error("daemon_stop_forced", extra={"threads": sorted(thread.name for thread in threading.enumerate())})
            self._last()
        except Exception:
            with contextlib.suppress(MemoryError):
                log.exception("daemon_stop_failed")
        finally:
            self._end(0)
