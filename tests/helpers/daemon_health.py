"""What must be true of a daemon when a test is done with it: its threads live, nothing pends, no process is left.

Invariant: a daemon that cannot be asked (it is paused, it is ending) says nothing here; how it ends is judged anyway.
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
SETTLED_S = 20.0  # what a test wrote last may not be indexed yet
ENDED_S = 10.0


@contextmanager
def healthy_to_the_end(daemon: Daemon) -> Iterator[None]:
    """Judge a daemon that runs: before the block, which ends it, and then what it leaves behind."""
    children = _children(daemon.pid)
    status = _settled(daemon)
    yield
    wait_until(lambda: not any(map(is_alive, children)), ENDED_S, what=f"the end of the daemon's children {children}")
    found = UNHEALTHY & {warning["code"] for warning in status.get("warnings", ())}
    assert not found, f"the daemon was not healthy at the end: {status['warnings']}"
    assert status.get("state") != "ready" or not status["pending"], f"ready, and {status['pending']} pending"


def _settled(daemon: Daemon) -> dict[str, Any]:
    """The last status, once it is not both ready and pending; an empty one if the daemon does not answer."""
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
    """The processes that the daemon started; none where the system does not tell."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        with suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found
