"""Checks a daemon at the end of a test: its threads are alive, nothing is pending, no process is left.

Invariant: a daemon that cannot answer (paused, ending) is not judged here; how it ends is always judged.
"""

from __future__ import annotations

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
    children = _children(daemon.pid)
    status = _settled(daemon)
    yield
    wait_until(lambda: not any(map(is_alive, children)), ENDED_S, what=f"the end of the daemon's children {children}")
    found = UNHEALTHY & {warning["code"] for warning in status.get("warnings", ())}
    assert not found, f"the daemon was not healthy at the end: {status['warnings']}"
    assert status.get("state") != "ready" or not status["pending"], f"ready, and {status['pending']} pending"


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


def _children(pid: int) -> list[int]:
    """Return the processes that the daemon started; none where the system does not list them."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found
