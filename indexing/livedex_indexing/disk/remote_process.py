"""The daemon's side of the child that touches network and FUSE mounts.

Invariant: each call that was submitted is answered, or fails once the child has ended: with EAGAIN, which says nothing
about the path. No thread of this process ever enters one of these mounts, so that it can always end.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import pickle
import subprocess
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TooLate
from typing import Any, Final, TypeVar

from livedex_indexing.child import code_version
from livedex_indexing.child.child_starter import start_child
from livedex_indexing.disk.remote_child import read, write
from livedex_ipc import thread_start

START_S: Final = 60.0  # time for the imports of a child on a busy machine
RETRY_S: Final = 1.0  # pause after a child that did not become ready

T = TypeVar("T")


class RemoteProcess:
    """One child at most, started at the first call and again after it has ended. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self._refuse_until = 0.0

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Have the child make a call: a function of ``disk`` or ``os`` with its arguments, in ``partial``.

        Raise EAGAIN if there is no child now.
        """
        return self._ready().submit(call)

    def end(self) -> None:
        """End the child: nothing is left to call. The next call starts another one."""
        with self._lock:
            child, self._child = self._child, None
        if child is not None:
            child.end()

    def _ready(self) -> _Child:
        with self._lock:
            if self._child is None or self._child.has_ended:
                if time.monotonic() < self._refuse_until:
                    raise _no_child()
                self._child = None
                try:
                    self._child = _started()
                finally:
                    if self._child is None:
                        self._refuse_until = time.monotonic() + RETRY_S
            return self._child


def _started() -> _Child:
    """Return a child that is ready. Raises EAGAIN."""
    try:
        child = _Child()
    except OSError as error:
        raise _no_child() from error
    try:
        child.ready.result(START_S)
    except TooLate:
        child.end()
        raise _no_child() from None
    return child


class _Child:
    """One child, from its start to its end. ``ready`` fails if it ends before, or runs other code than this process."""

    def __init__(self) -> None:
        arguments = ["-P", "-m", "livedex_indexing.disk.remote_child"]
        self._process = start_child(arguments, {**os.environ, "PYTHONUTF8": "1"})
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        for pipe in (self._in, self._out):
            os.set_blocking(pipe.fileno(), True)
        self.ready: Future[None] = Future()
        self.has_ended = False
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        try:
            thread_start.start(threading.Thread(target=self._run, name="remote-answers", daemon=True))
        except RuntimeError:
            self._close()
            raise _no_child() from None

    def submit(self, call: Callable[[], T]) -> Future[T]:
        body = pickle.dumps(call, pickle.HIGHEST_PROTOCOL)
        outcome: Future[T] = Future()
        with self._lock:
            if self.has_ended:
                raise _no_child()
            number = next(self._numbers)
            self._waiting[number] = outcome
            with contextlib.suppress(OSError):  # it has ended: the thread that reads its answers says so
                write(self._in.fileno(), number, body)
        return outcome

    def end(self) -> None:
        """Kill it. On a mount that does not answer it lives on in the kernel until that answers."""
        self._process.kill()

    def _run(self) -> None:
        """Hand on its answers until its output ends."""
        try:
            _, version = read(self._out.fileno())
            if version == code_version.OWN:
                self.ready.set_result(None)
                while True:
                    number, body = read(self._out.fileno())
                    self._settle(number, body)
        except (EOFError, OSError):
            pass
        finally:
            self._close()

    def _settle(self, number: int, body: bytes) -> None:
        with self._lock:
            outcome = self._waiting.pop(number)
        fault, result = pickle.loads(body)
        if fault is None:
            outcome.set_result(result)
        else:
            outcome.set_exception(fault)

    def _close(self) -> None:
        self._process.kill()
        with self._lock:
            self.has_ended = True
            waiting, self._waiting = self._waiting, {}
            self._in.close()
            self._out.close()
        for outcome in (*waiting.values(), *([] if self.ready.done() else [self.ready])):
            outcome.set_exception(_no_child())
        with contextlib.suppress(subprocess.SubprocessError):
            self._process.wait()  # so that it leaves no zombie


def _no_child() -> OSError:
    return OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


PROCESS: Final = RemoteProcess()
