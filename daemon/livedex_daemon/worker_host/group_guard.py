"""Ends the process groups of plugins when their worker is killed: a small process of its own watches over it.

Invariant: when the worker has ended, in whatever way, no process of a group that it had started and not ended is left.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import NoReturn


class GroupGuard:
    """Forks. Create it while the process has one thread and no open database. Its methods are for any thread."""

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self._lock = threading.Lock()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writer)
            _watch(reader)
        os.close(reader)

    def add(self, group: int) -> None:
        """Watch over a process group."""
        self._send(f"+{group}\n")

    def remove(self, group: int) -> None:
        """A group has ended: its number may be used again."""
        self._send(f"-{group}\n")

    def _send(self, line: str) -> None:
        with self._lock, contextlib.suppress(BrokenPipeError):
            os.write(self._writer, line.encode())

    def close(self) -> None:
        os.close(self._writer)
        os.waitpid(self._pid, 0)


def _watch(reader: int) -> NoReturn:
    """Read which groups there are, until the worker has ended; then kill those that are left."""
    try:
        os.setsid()  # neither Ctrl-C nor a kill of the worker's group is meant for this process
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for descriptor in (0, 1, 2):  # nobody waits for these to be closed
            with contextlib.suppress(OSError):
                os.close(descriptor)
        groups: set[int] = set()
        with os.fdopen(reader) as lines:
            for line in lines:
                (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
        for group in groups:
            with contextlib.suppress(OSError):
                os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)
