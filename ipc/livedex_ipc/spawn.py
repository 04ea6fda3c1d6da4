"""Starts the daemon in the background, once even if many clients ask at the same time, and waits until it answers.

Invariant: a client starts a daemon only while it holds the lock next to the socket, and only if none answers then.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, TypeVar

from livedex_ipc.errors import LivedexError, NoDaemon, Unavailable, from_wire
from livedex_ipc.paths import make_missing, remedy_for

POLL_S = 0.01  # between two attempts to connect
RIVAL_S = 0.25  # between two starts while another daemon has locked the home and does not answer
TAIL_BYTES = 64 * 1024  # how much of the daemon's stderr is read

Connected = TypeVar("Connected")  # what the client makes of a daemon that answers
Attempt = Callable[[str], Connected | None]  # None where no daemon listens at that socket

# Daemons that this process started and that have not ended: a long-lived client reaps them here.
_started: list[subprocess.Popen[bytes]] = []


def start(where: str, attempt: Attempt[Connected], *, wait_s: float, command: Sequence[str] | None) -> Connected:
    """Return what ``attempt`` returns for the daemon on the socket ``where``, started here or by a faster client.

    ``attempt`` takes the socket's path. Raises as client.connect().
    """
    deadline = time.monotonic() + wait_s
    folder = os.path.dirname(where)
    if os.environ.get("LIVEDEX_SOCKET") and not os.path.isdir(folder):  # it may be mistyped: as root it would be made
        message = f"LIVEDEX_SOCKET is {where}, and there is no folder {folder}: make it, or name another socket"
        raise Unavailable(message, {"path": folder})
    _make_folder(folder)
    with _lock(where + ".lock", where, attempt, deadline) as found:
        return found or attempt(where) or _launch(where, attempt, deadline, wait_s, command)


@contextmanager
def _lock(path: str, where: str, attempt: Attempt[Connected], deadline: float) -> Iterator[Connected | None]:
    """Take the lock and yield None; or yield a connection if a daemon came up while another client had the lock."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        found = None
        while found is None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                found = attempt(where)
                if found is None:
                    _pause(where, deadline)
        yield found
    finally:
        os.close(descriptor)


def _launch(
    where: str, attempt: Attempt[Connected], deadline: float, wait_s: float, command: Sequence[str] | None
) -> Connected:
    """Start a daemon and connect to it; start again only if the first one found another daemon in its place."""
    outcome: Connected | LivedexError | None = None
    while True:
        try:
            outcome = _launch_once(where, attempt, deadline, wait_s, command)
        except NoDaemon:
            if isinstance(outcome, LivedexError):  # more specific than "did not answer in time"
                raise outcome from None
            raise
        if not isinstance(outcome, LivedexError):
            return outcome
        # Another daemon has locked this home (the error gives its pid): it will answer soon, or end after `down`.
        if "pid" not in (outcome.data or {}) or time.monotonic() > deadline:
            raise outcome
        again = min(deadline, time.monotonic() + RIVAL_S)
        while time.monotonic() < again:
            found = attempt(where)
            if found is not None:
                return found
            time.sleep(POLL_S)


def _launch_once(
    where: str, attempt: Attempt[Connected], deadline: float, wait_s: float, command: Sequence[str] | None
) -> Connected | LivedexError:
    """Start a daemon once; return a connection to it, or the error with which it ended. Raises NoDaemon."""
    from livedex_ipc.scratch_file import scratch_file

    with scratch_file() as stderr:
        process = _popen(command, where, stderr)
        while True:
            ended = process.poll() is not None
            found = attempt(where)
            if found is not None:
                return found
            if ended:
                return _error_of(process.returncode, stderr)
            _pause(where, deadline, f"the daemon was started but did not answer on {where} in {wait_s:g} s")


def _popen(command: Sequence[str] | None, where: str, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    # -P: the daemon's working folder is /, and no file there may shadow a module.
    words = list(command) if command is not None else [sys.executable, "-P", "-m", "livedex_daemon", "daemon", "--json"]
    environment = {**os.environ, "LIVEDEX_SOCKET": where}
    if environment.get("LIVEDEX_HOME"):
        environment["LIVEDEX_HOME"] = os.path.abspath(environment["LIVEDEX_HOME"])
    try:
        process = subprocess.Popen(
            words,
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        path = error.filename or words[0]  # it may be /dev/null that is not there
        raise Unavailable(f"the daemon cannot be started: {path}: {error.strerror}") from error
    _started[:] = [child for child in _started if child.poll() is None]
    _started.append(process)
    return process


def _error_of(status: int, stderr: IO[bytes]) -> LivedexError:
    """Return the error of a daemon that ended at start: from the last line of its stderr, as JSON or as plain text."""
    size = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, size - TAIL_BYTES))
    lines = stderr.read().decode("utf-8", "replace").strip().splitlines()
    last = lines[-1] if lines else "it printed nothing"
    try:
        wire: Any = json.loads(last)
    except ValueError:
        wire = None
    if isinstance(wire, dict) and isinstance(wire.get("error"), dict):
        return from_wire(wire["error"])
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return Unavailable(f"the daemon {how} at start: {last[:500]}", {"status": status})


def _make_folder(folder: str) -> None:
    try:
        make_missing(folder)
    except OSError as error:
        raise _unusable(folder, error) from error


def _unusable(path: str, error: OSError) -> Unavailable:
    message = f"the daemon cannot be started: {path}: {error.strerror}"
    remedy = remedy_for(error, "make its folder writable, or set LIVEDEX_HOME to another one")
    return Unavailable(f"{message}; {remedy}", {"path": path})


def _pause(where: str, deadline: float, message: str | None = None) -> None:
    if time.monotonic() > deadline:
        raise NoDaemon(message or f"no daemon answers on {where}: start one with `livedex up`", {"socket": where})
    time.sleep(POLL_S)
