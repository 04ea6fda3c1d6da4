"""Raises the limit of open file descriptors, and says how many clients it leaves room for.

Invariant: clients never use up the descriptors that indexing and searching need.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from livedex_ipc.limits import Limits

MOST = 65_536
RESERVE = 192  # for the index's files, watches, children, files that are read, and clients that are being refused
FEWEST_CLIENTS = 8


def raise_limit() -> int:
    """Raise the soft limit towards the hard one. Return the limit that applies now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for wanted in _wanted(hard):
        if _count(soft) >= wanted:
            break
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            continue  # macOS refuses more than kern.maxfilesperproc, whatever the hard limit says
        soft = wanted
        break
    return min(MOST, _count(soft))


def _count(limit: int) -> int:
    return MOST if limit == resource.RLIM_INFINITY else limit


def _wanted(hard: int) -> Iterator[int]:
    wanted = min(MOST, _count(hard))
    while wanted >= 256:
        yield wanted
        wanted //= 2


def raised_limits() -> Limits:
    """Raise the limit, and return those of the server that it allows."""
    return limits_for(raise_limit())


def limits_for(descriptors: int) -> Limits:
    """Return the limits of the server in a process that may open so many descriptors."""
    limits = Limits()
    return limits._replace(connections=max(FEWEST_CLIENTS, min(limits.connections, descriptors - RESERVE)))
