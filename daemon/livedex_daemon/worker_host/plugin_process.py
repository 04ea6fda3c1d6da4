"""Runs one plugin: the body to its stdin, its stdout and the end of its stderr back, within time and size.

Invariant: when a run has ended, its whole process group has ended; memory is bounded whatever the plugin prints, reads,
starts or ignores.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Final, Literal, NamedTuple

from livedex_daemon.worker_host.group_guard import GroupGuard
from livedex_daemon.worker_host.orphans import MARK, reap_group
from livedex_ipc.scratch_file import scratch_file

GRACE_S: Final = 5.0  # between SIGTERM and SIGKILL
STDERR_BYTES: Final = 8 * 1024  # of its end: six bytes each in JSON are less than metadata may have
READ_BYTES: Final = 256 * 1024
POLL_S: Final = 0.05  # if the system has no descriptor for a process's end

Cause = Literal["timeout", "stop", "lost"]


class PluginRun(NamedTuple):
    """``cause``: why it was ended; None if it ended by itself. ``exit_status``: negative, if a signal ended it."""

    cause: Cause | None
    exit_status: int
    stdout: bytes
    stderr: bytes
    is_truncated: bool
    duration_s: float


class RunLimits(NamedTuple):
    """``timeout_s``: of the whole run; ``stdout_bytes``: what is kept of stdout, what comes after is dropped."""

    timeout_s: float
    stdout_bytes: int


class Watch(NamedTuple):
    """What goes on during the run. ``stop``: a descriptor that can be read once the run is to be ended.

    ``beat`` is called every ``beat_s`` seconds; it returns False when the run has lost its purpose.
    """

    stop: int
    beat: Callable[[], bool]
    beat_s: float


class PluginProcess:
    """One run. For one thread. ``env`` has the run's mark. Raises OSError if the program cannot be started."""

    def __init__(
        self, command: Sequence[str], body: bytes, env: Mapping[str, str], limits: RunLimits, guard: GroupGuard
    ) -> None:
        self._limits = limits
        self._guard = guard
        self._stdout, self._stderr = bytearray(), bytearray()
        self._is_truncated = False
        self._began = time.monotonic()
        with scratch_file(body) as stdin:  # from a pipe a plugin would read a part of it, if its worker is killed
            self._process = guard.start(
                env[MARK],
                lambda: subprocess.Popen(
                    list(command),
                    env=dict(env),
                    stdin=stdin,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    bufsize=0,
                    start_new_session=True,
                ),
            )

    def run(self, watch: Watch) -> PluginRun:
        """Wait for its end; end it if it takes too long, or if ``watch`` says so."""
        process = self._process
        ended = _end_descriptor(process.pid)
        try:
            with selectors.DefaultSelector() as selector:
                cause = self._serve(selector, watch, ended)
                self._kill_group(signal.SIGKILL)  # what it started and left behind
                process.wait()
                reap_group(process.pid)
                self._drain()
        finally:
            if process.returncode is None:
                self._kill_group(signal.SIGKILL)
                process.wait()
            self._guard.remove(process.pid)
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()
            if ended is not None:
                os.close(ended)
        duration_s = time.monotonic() - self._began
        stdout, stderr = bytes(self._stdout), bytes(self._stderr)
        return PluginRun(cause, process.returncode, stdout, stderr, self._is_truncated, duration_s)

    def _serve(self, selector: selectors.BaseSelector, watch: Watch, ended: int | None) -> Cause | None:
        process = self._process
        assert process.stdout is not None and process.stderr is not None
        for stream, action in ((process.stdout, self._read_stdout), (process.stderr, self._read_stderr)):
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ, action)
        selector.register(watch.stop, selectors.EVENT_READ)
        if ended is not None:
            selector.register(ended, selectors.EVENT_READ)
        deadline = self._began + self._limits.timeout_s
        beat_at = self._began + watch.beat_s
        cause: Cause | None = None
        killed = False
        while not _has_ended(process):
            now = time.monotonic()
            if cause is not None and now >= deadline and not killed:
                self._kill_group(signal.SIGKILL)
                killed = True
            if cause is None:
                if now >= beat_at:
                    beat_at = now + watch.beat_s
                    cause = None if watch.beat() else "lost"
                if now >= deadline:
                    cause = "timeout"
                if cause is not None:
                    deadline = self._begin_end(now)
            pause = min(deadline, beat_at if cause is None else deadline) - now if not killed else POLL_S
            for key, _ in selector.select(max(0.0, pause if ended is not None else min(pause, POLL_S))):
                if key.data is not None:
                    key.data(selector)
                elif key.fd == watch.stop and cause is None:
                    cause = "stop"
                    deadline = self._begin_end(time.monotonic())
                    selector.unregister(watch.stop)
        return cause

    def _begin_end(self, now: float) -> float:
        """Ask the group to end; return when it is killed."""
        self._kill_group(signal.SIGTERM)
        self._kill_group(signal.SIGCONT)
        return now + GRACE_S

    def _kill_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS says so of a group of zombies
            os.killpg(self._process.pid, number)

    def _read_stdout(self, selector: selectors.BaseSelector) -> None:
        self._keep_stdout(self._read(selector, self._process.stdout))

    def _read_stderr(self, selector: selectors.BaseSelector) -> None:
        self._keep_stderr(self._read(selector, self._process.stderr))

    def _keep_stdout(self, data: bytes) -> None:
        left = self._limits.stdout_bytes - len(self._stdout)
        self._is_truncated |= len(data) > left
        self._stdout += data[:left]

    def _keep_stderr(self, data: bytes) -> None:
        self._stderr += data
        del self._stderr[: -STDERR_BYTES or None]

    @staticmethod
    def _read(selector: selectors.BaseSelector | None, stream: IO[bytes] | None) -> bytes:
        """Read what is there; no longer wait for a stream that has ended."""
        assert stream is not None
        try:
            data = os.read(stream.fileno(), READ_BYTES)
        except BlockingIOError:
            return b""
        if not data and selector is not None:
            selector.unregister(stream)
        return data

    def _drain(self) -> None:
        """Take what is in the pipes after the end of the group; a process outside of it may hold them open."""
        for stream, keep in ((self._process.stdout, self._keep_stdout), (self._process.stderr, self._keep_stderr)):
            with contextlib.suppress(OSError):
                for _ in range(64):  # more than a pipe has
                    data = self._read(None, stream)
                    if not data:
                        break
                    keep(data)


def _end_descriptor(pid: int) -> int | None:
    """Return a descriptor that can be read once the process has ended; None where the system has none."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Whether a child has ended. Where the system can, it stays a zombie, so that its group's number stays its own."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
