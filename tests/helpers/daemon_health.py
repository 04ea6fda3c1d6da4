"""Checks a daemon at the end of a test: its threads are alive, nothing is pending or left open, no process is left.

Invariant: a daemon that cannot answer is not judged here; how it ends is always judged. One that is paused goes on.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from helpers.support import Daemon, is_alive, wait_until
from livedex_ipc.client import connect
from livedex_ipc.errors import LivedexError

UNHEALTHY = {"thread_dead", "worker_dead", "stuck"}
ASKED_S = 5.0
SETTLED_S = 20.0  # the last write of a test may not be indexed yet
ENDED_S = 10.0


@contextmanager
def healthy_to_the_end(daemon: Daemon) -> Iterator[None]:
    """Check a running daemon before the block, which ends it, and afterwards what it leaves behind."""
    daemon.resume()
    started = children(daemon.pid)
    status = _settled(daemon)
    left_open = _left_open(daemon) if status and not status["pending"] else []
    yield
    wait_until(lambda: not any(map(is_alive, started)), ENDED_S, what=f"the end of the daemon's children {started}")
    found = UNHEALTHY & {warning["code"] for warning in status.get("warnings", ())}
    assert not found, f"the daemon was not healthy at the end: {status['warnings']}"
    assert status.get("state") != "ready" or not status["pending"], f"ready, and {status['pending']} pending"
    assert not left_open, f"nothing was to be done, and these were open: {left_open}"


def _settled(daemon: Daemon) -> dict[str, Any]:
    """Return the last status once it is not both ready and pending; an empty one if the daemon does not answer."""
    status: dict[str, Any] = {}

    def is_settled() -> bool:
        nonlocal status
        status = {}
        with suppress(LivedexError, OSError), connect(spawn=False, path=str(daemon.home.socket)) as client:
            status = client.call("status", timeout_s=ASKED_S)
        return status.get("state") != "ready" or not status["pending"]

    with suppress(AssertionError):
        wait_until(is_settled, SETTLED_S)
    return status


def _left_open(daemon: Daemon) -> list[str]:
    """Return the files and folders of the user that the daemon keeps open; an empty list once there are none.

    What is in its home is its own, and so is what its configuration names: a model, the folder of a backend.
    """
    found: list[str] = []
    own = (f"{daemon.home.path}/", *_configured(daemon))

    def is_closed() -> bool:
        nonlocal found
        found = sorted(path for path in _open_paths(daemon.pid) if not path.startswith(own))
        return not found

    with suppress(AssertionError):
        wait_until(is_closed, ENDED_S)
    return found


def _configured(daemon: Daemon) -> Iterator[str]:
    """Yield the absolute paths in the configuration that are no roots."""
    values: list[Any] = []
    with suppress(OSError, tomllib.TOMLDecodeError):
        values = [value for key, value in tomllib.loads(daemon.home.config.read_text()).items() if key != "roots"]
    while values:
        value = values.pop()
        if isinstance(value, dict | list):
            values += value.values() if isinstance(value, dict) else value
        elif isinstance(value, str) and value.startswith("/"):
            yield value


def _open_paths(pid: int) -> Iterator[str]:
    """Yield what the process has open of the file system, but for its standard streams and what the system makes, and
    for the file of libffi, which ctypes loads and which keeps itself open."""
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        if int(link.name) > 2:
            with suppress(OSError):
                path = os.readlink(link)
                made = path.startswith(("/dev/", "/proc/", "/memfd:")) or "/libffi.so" in path
                if path.startswith("/") and not made:
                    yield path


def children(pid: int) -> list[int]:
    """Return the processes that a process started; none where the system does not list them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def rss_kib(pid: int, field: str = "VmRSS") -> int:
    """The resident memory of a process, where the system says it; else 0. ``VmHWM``: the most that it had."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), 0)
