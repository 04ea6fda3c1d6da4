"""How soon one round of comparing changed files with standing queries may follow another.

Invariant: while files keep changing, the rounds become fewer, up to a limit; after a rest they are frequent again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

ROUND_EVERY_S: Final = 0.1  # between two rounds; while files keep changing this grows …
STORM_FACTOR: Final = 1.5  # … by this factor


class RoundPace:
    """For one thread. ``next_at``: when the next round may begin (monotonic)."""

    def __init__(self, most_s: float) -> None:
        """``most_s``: the longest pause that a storm of changes brings about."""
        self.next_at = 0.0
        self._most_s = most_s
        self._pause_s = ROUND_EVERY_S

    def run(self, one_round: Callable[[], float]) -> None:
        """Run a round, which returns the least pause after it, in seconds."""
        began = time.monotonic()
        rested = began > self.next_at + self._most_s
        self._pause_s = ROUND_EVERY_S if rested else min(STORM_FACTOR * self._pause_s, self._most_s)
        self.next_at = began + max(self._pause_s, one_round())
