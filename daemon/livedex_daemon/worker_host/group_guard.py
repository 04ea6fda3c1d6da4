"""Ends the process groups of plugins when their worker is killed: a small process of its own watches over it.

Invariant: when the worker has ended, in whatever way, no process of a group that it had started and not ended is left
(macOS: unless it was killed in the moment between the start and the note of it). Of the children of this process, those
that plugins left behind are reaped, and no other.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Collection
from typing import Final, NoReturn

from livedex_daemon.worker_host.orphans import children, marked_leaders

START_S: Final = 2.0  # a plugin whose worker was killed while it started carries its mark by then
LOOK_EVERY_S: Final = 0.01


class GroupGuard:
    """Forks. Create it while the process has one thread and no open database. Its methods are for any thread."""

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writer)
            _watch(reader)
        os.close(reader)

    def start(self, mark: str, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start the leader of a process group, and watch over the group. Raises what ``start`` raises.

        ``mark``: the run's, in the environment of the leader. By it the group is found if this process is killed
        before the leader is noted.
        """
        with self._lock:  # a child that is not noted yet must not be taken for one that was left behind
            self._send(f"?{mark}\n")
            try:
                process = start()
            except BaseException:
                self._send("!\n")
                raise
            self._groups.add(process.pid)
            self._send(f"+{process.pid}\n")
            return process

    def remove(self, group: int) -> None:
        """A group has ended, and its leader was waited for: its number may be used again."""
        with self._lock:
            self._groups.discard(group)
            self._send(f"-{group}\n")

    def reap_left_behind(self) -> None:
        """Reap the ended processes that this one adopted from plugins: else they fill the system's table."""
        with self._lock:
            for pid in children():
                if pid != self._pid and pid not in self._groups:
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)

    def _send(self, line: str) -> None:
        with contextlib.suppress(BrokenPipeError):
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
        starting = ""
        with os.fdopen(reader) as lines:
            for line in lines:
                kind, value = line[0], line[1:-1]
                starting = value if kind == "?" else ""
                if kind == "+":
                    groups.add(int(value))
                elif kind == "-":
                    groups.discard(int(value))
        _kill(groups)
        if starting:
            _kill(_unnoted(starting))
    finally:
        os._exit(0)


def _kill(groups: Collection[int]) -> None:
    for group in groups:
        with contextlib.suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _unnoted(mark: str) -> Collection[int]:
    """Wait for the group that the worker was starting when it was killed: its leader may be about to run its program.

    None comes if the worker had not come so far.
    """
    until = time.monotonic() + START_S
    while not (found := list(marked_leaders(mark))) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_S)
    return found
