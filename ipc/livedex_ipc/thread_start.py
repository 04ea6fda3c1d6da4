"""Starts threads, and fails where Python itself would wait for ever.

Invariant: after ``start`` the thread's ``run`` has begun; after its error it never will. Python (before 3.15) waits
without limit for a thread that lacked the memory to begin (https://github.com/python/cpython/issues/140746).
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from livedex_ipc.errors import Unavailable

NO_THREAD: Final = (
    "the system starts no more threads: raise the limit of processes (`ulimit -u`, `TasksMax` of the service) "
    "or of memory, or end other programs"
)
LOOK_S: Final = 0.05  # how often a thread that is late is looked at


def start_thread(run: Callable[[], object], name: str) -> None:
    """Start a thread that the end of the process never joins. Raise Unavailable."""
    try:
        start(threading.Thread(target=run, name=name, daemon=True))
    except RuntimeError as error:
        raise Unavailable(NO_THREAD) from error


def start(thread: threading.Thread) -> None:
    """Start a thread, once. Raise RuntimeError, as Python does, if the system has no thread or no memory for it.

    It uses three private names of Python's threads, ``_bootstrap``, ``_started`` and ``_limbo``:
    ``tests/ipc/test_thread_start.py`` detects a Python without them.
    """
    begun = threading.Lock()
    begun.acquire()
    run = thread.run

    def begin() -> None:
        del thread.run  # a cycle of references otherwise
        begun.release()
        run()

    boot = _Boot(getattr(thread, "_bootstrap"))  # noqa: B009  (private)
    lives = weakref.ref(boot)  # the new thread holds it, and nothing else after this
    vars(thread).update(run=begin, _bootstrap=boot, _started=_NotAwaited())
    with suppress(RuntimeError, MemoryError):
        thread.start()
    del vars(thread)["_bootstrap"], boot
    while not begun.acquire(timeout=LOOK_S):
        if not _has_ended(lives()):
            continue
        if not begun.acquire(blocking=False):  # else it began and ended meanwhile
            getattr(threading, "_limbo", {}).pop(thread, None)
            raise RuntimeError("can't start new thread")
        return


class _Boot:
    """What the new thread calls first. It goes with the thread, whether it could be called or not."""

    def __init__(self, bootstrap: Callable[[], None]) -> None:
        self.has_ended = False
        self._bootstrap = bootstrap

    def __call__(self) -> None:
        try:
            self._bootstrap()
        finally:
            self.has_ended = True


def _has_ended(boot: _Boot | None) -> bool:
    return boot is None or boot.has_ended


class _NotAwaited(threading.Event):
    """The event for which Python waits after it started a thread."""

    def wait(self, timeout: float | None = None) -> bool:
        return True
