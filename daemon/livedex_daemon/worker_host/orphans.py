"""Finds and ends what a plugin has left running outside of its process group, where the system can tell (Linux).

Invariant: only processes that carry the run's mark in their environment are ended.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MARK = "LIVEDEX_RUN"

_PR_SET_CHILD_SUBREAPER = 36
_MOST_ROUNDS = 1_000  # each ends at least one process, whose children are found in the next


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that they can be found. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def mark_of(claim_id: int) -> str:
    """Return the value of `MARK` for this process's run with a claim: no other run on the machine has it meanwhile."""
    return f"{os.getpid()}.{claim_id}"


def end_orphans(mark: str) -> int:
    """Kill the children of this process that carry the mark of a run, and theirs. Return how many."""
    ended = 0
    for _ in range(_MOST_ROUNDS):
        found = [pid for pid in children() if _has_mark(pid, mark)]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            ended += 1
    return ended


def reap_group(group: int) -> None:
    """Wait for the adopted processes of a group that was killed. One that still dies has no environment any more, and
    its children are not those of this process yet: `end_orphans` would find neither."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-group, 0)


def children() -> Iterator[int]:
    """Yield the children of this process, also those that have ended and were not waited for. Linux only."""
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError, ValueError):
            yield from map(int, path.read_text().split())


def marked_leaders(mark: str) -> Iterator[int]:
    """Yield the leaders of sessions that carry the mark of a run, of all processes. Linux only."""
    for path in Path("/proc").glob("[0-9]*"):
        pid = int(path.name)
        with contextlib.suppress(OSError):
            if os.getsid(pid) == pid and _has_mark(pid, mark):
                yield pid


def _has_mark(pid: int, mark: str) -> bool:
    try:
        return f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
