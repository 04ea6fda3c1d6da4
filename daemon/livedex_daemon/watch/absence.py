"""Decide when a root has been absent for so long that its entries go, whatever becomes of the wall clock.

Invariant: a clock that is set ahead does not count as time that passed. A clock that was wrong when the machine started
cannot end an absence before this process has seen ``OBSERVED_S`` of it. In doubt the entries are kept longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from livedex_indexing.store.index_store import KEEP_S

OBSERVED_S = 3_600.0  # by then a machine without a clock of its own has got the time from the network
SET_S = 5.0  # the wall clock is so much further ahead than at the last look: it was set


def awake_time() -> float:
    """Return seconds of a clock that nobody sets and that counts sleep too, where the system has one."""
    boottime = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if boottime is None else time.clock_gettime(boottime)


class _Look(NamedTuple):
    since: float  # when this process first saw the absence, on the clock that nobody sets
    ahead: float  # how far the wall clock was ahead of that one at the last look


class Absences:
    """Times are in seconds; ``wall`` since the epoch, ``steady`` on a clock that nobody sets."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = awake_time) -> None:
        self._wall = wall
        self._steady = steady
        self._looks: dict[int, _Look] = {}

    def begin(self, root_id: int) -> float:
        """Return the present wall clock time, as the begin of the root's absence."""
        self._looks.pop(root_id, None)
        return self._wall()

    def corrected(self, root_id: int, since: float) -> float:
        """Return ``since``, later by what the wall clock was set ahead after the last look, and never in the future."""
        wall, steady = self._wall(), self._steady()
        ahead = wall - steady
        look = self._looks.get(root_id)
        if look is None:
            look = _Look(steady, ahead)
        elif ahead - look.ahead > SET_S:
            since += ahead - look.ahead
        self._looks[root_id] = look._replace(ahead=ahead)
        return min(since, wall)

    def has_expired(self, root_id: int, since: float) -> bool:
        """Return True when the root has been absent for longer than ``KEEP_S``. Call ``corrected`` first."""
        observed = self._steady() - self._looks[root_id].since
        return self._wall() - since > KEEP_S and observed > OBSERVED_S

    def end(self, root_id: int) -> None:
        """The root is there again."""
        self._looks.pop(root_id, None)
