"""Limits what a process may use up.

Invariant: a system that refuses a limit is no reason to end: macOS refuses some, and a filter of system calls all.
"""

from __future__ import annotations

import resource
from contextlib import suppress


def limit(which: int, most: int) -> None:
    """Set a limit, for good."""
    with suppress(OSError, ValueError):  # it may be lower already
        resource.setrlimit(which, (most, most))


def limit_softly(which: int, most: int) -> None:
    """Set a limit that this process may change again."""
    with suppress(OSError, ValueError):
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def can_be_set() -> bool:
    """Return whether the system lets this process set limits. Changes none."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, resource.getrlimit(resource.RLIMIT_CORE))
    except OSError:
        return False
    return True
