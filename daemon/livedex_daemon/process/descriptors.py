"""Raises the limit of open file descriptors, and says how many clients it leaves room for.

Invariant: clients never use up the descriptors that indexing and searching need. A daemon that could not work starts
nothing.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator

from livedex_ipc.errors import Unavailable
from livedex_ipc.limits import Limits

MOST = 65_536
USUAL = 256  # the least that systems let a process open, where this one does not say how many
RESERVE = 192  # for the index's files, watches, children, files that are read, and clients that are being refused
FEWEST_CLIENTS = 8
FEWEST = 64  # a daemon with one client has some 40 files open


def raise_limit() -> int:
    """Raise the soft limit towards the hard one. Return the limit that applies now."""
    try:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    except OSError:  # a filter of system calls may forbid it
        return USUAL
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


def require() -> None:
    """Raise the limit, and raise Unavailable if it is too low for a daemon."""
    limit = raise_limit()
    if limit < FEWEST:
        remedy = "raise the hard limit (`ulimit -Hn`, `LimitNOFILE=` of a service), and start livedex again"
        message = f"the system lets a process open only {limit} files, and livedex needs {FEWEST}: {remedy}"
        raise Unavailable(message, {"limit": limit, "needed": FEWEST})


def _count(limit: int) -> int:
    return MOST if limit == resource.RLIM_INFINITY else limit


def _wanted(hard: int) -> Iterator[int]:
    wanted = min(MOST, _count(hard))
    yield wanted
    while wanted >= 512:
        wanted //= 2
        yield wanted


def raised_limits() -> Limits:
    """Raise the limit, and return those of the server that it allows."""
    return limits_for(raise_limit())


def limits_for(descriptors: int) -> Limits:
    """Return the limits of the server in a process that may open so many descriptors."""
    limits = Limits()
    missing = max(0, RESERVE + FEWEST_CLIENTS - descriptors)
    return limits._replace(
        connections=max(FEWEST_CLIENTS, min(limits.connections, descriptors - RESERVE)),
        refused=max(0, limits.refused - missing),
    )
