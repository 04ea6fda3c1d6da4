"""A process of its own for a check: a plugin that ends its process ends this one, and the check still answers.

Invariant: nothing of a plugin runs in the process that waits.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

_BYTES: Final = 4_096
_DONE: Final = b"\x01"


class CheckNotes:
    """What a check does now, in memory that its process and the one that waits for it share."""

    avoided_code: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self._shared = mmap.mmap(-1, _BYTES)

    @property
    def plugin(self) -> str:
        """The plugin whose code ran last; "" if none does."""
        return self._shared[1:].rstrip(b"\0").decode(errors="replace")

    @property
    def is_done(self) -> bool:
        return self._shared[:1] == _DONE

    def done(self) -> None:
        self._shared[:1] = _DONE

    @contextlib.contextmanager
    def checking(self, name: str) -> Iterator[None]:
        """Note that code of this plugin runs: the note stays if the process ends meanwhile."""
        self._note(name)
        try:
            yield
        finally:
            self._note("")

    def running(self, key: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def loading(self, key: str) -> contextlib.AbstractContextManager[None]:
        """``key``: ``plugin NAME STAMP``."""
        return self.checking(key.removeprefix("plugin ").rpartition(" ")[0])

    def _note(self, name: str) -> None:
        self._shared[1:] = name.encode(errors="replace")[: _BYTES - 1].ljust(_BYTES - 1, b"\0")


def run_apart(action: Callable[[], int], notes: CheckNotes) -> tuple[int, str | None]:
    """Run an action in a child. Return its exit code, and None, or how the child ended before it was done.

    For a process with one thread.
    """
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            code = action()
        except BaseException:
            traceback.print_exc()
        with contextlib.suppress(Exception):  # a plugin may have put anything in its place
            sys.stderr.flush()
        notes.done()
        os._exit(code)
    signal.signal(signal.SIGTERM, partial(_end_with, pid))
    signal.signal(signal.SIGINT, lambda number, frame: None)  # the terminal sends it to the child, too
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if notes.is_done:
        return code, None
    with contextlib.suppress(ValueError):  # a signal without a name
        return code, f"exit status {code}" if code >= 0 else signal.Signals(-code).name
    return code, f"signal {-code}"


def _end_with(pid: int, number: int, _frame: object) -> None:
    """End the child, then this process by the same signal."""
    os.kill(pid, signal.SIGKILL)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
