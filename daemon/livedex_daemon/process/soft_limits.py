"""Raises the soft limits that would end the daemon or stop its index from growing.

Invariant: they come from the shell that happens to start the daemon, and were meant for one command. Hard limits, which
are meant for all that follows, stay.
"""

from __future__ import annotations

import resource
from contextlib import suppress

_RAISED = (resource.RLIMIT_CPU, resource.RLIMIT_FSIZE)


def raise_all() -> None:
    """Raise each of them to its hard limit."""
    for which in _RAISED:
        with suppress(OSError, ValueError):  # a filter of system calls may forbid it
            hard = resource.getrlimit(which)[1]
            resource.setrlimit(which, (hard, hard))


def hard_limit(which: int) -> int | None:
    """Return a hard limit of this process; None if there is none, or the system does not say."""
    try:
        hard = resource.getrlimit(which)[1]
    except OSError:
        return None
    return None if hard == resource.RLIM_INFINITY else hard
