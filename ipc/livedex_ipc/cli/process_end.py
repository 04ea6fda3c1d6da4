"""Waits until a process has ended.

Invariant: a process that waits to be reaped has ended.
"""

from __future__ import annotations

import os
import select
import time


def has_ended(pid: int, timeout_s: float) -> bool:
    """Return whether process ``pid`` ends within ``timeout_s`` seconds. Its parent may reap it late."""
    if hasattr(os, "pidfd_open"):
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return True
        except OSError:
            return _gone_by_signal(pid, timeout_s)
        try:
            return bool(select.select([descriptor], [], [], timeout_s)[0])
        finally:
            os.close(descriptor)
    return _gone_by_signal(pid, timeout_s)


def _gone_by_signal(pid: int, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False
