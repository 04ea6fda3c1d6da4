"""Decide when to commit outcomes: a single edit at once, many edits together.

Invariant: it reads no clock and no other object; the caller passes times in seconds of one monotonic clock.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import NamedTuple

from livedex_daemon.watch.backlog import Entry

COLLECT = 256  # outcomes committed in one transaction
GATHER_S = 0.25  # gather bulk outcomes so long into one transaction: each commit adds a segment to each index
UNASKED = 2  # while no client searches, multiply both limits by this
APART_S = 0.05  # between two commits of edits that no search waits for: a storm caused 170 commits a second


class Undecided(NamedTuple):
    """The pending work outside the gathered outcomes.

    ``has_changes``: decided rows or removals wait to be stored. ``must_commit``: inspection, or a search of a
    part of a walked folder, waits for their commit.
    ``finished``: entries that need no more outcomes. ``reading``: files are still being read.
    """

    has_changes: bool
    must_commit: bool
    finished: list[Entry]
    reading: bool


class CommitPolicy:
    """Count the outcomes that wait for the next commit, by entry."""

    def __init__(self) -> None:
        self._gathered: Counter[Entry] = Counter()
        self._count = 0
        self._most = COLLECT
        self._gather_until = 0.0
        self._committed_at = 0.0

    def wanted_outcomes(self, now: float, *, searched: bool) -> int:
        """Return how many more outcomes to collect. ``searched``: a client queried the index recently."""
        if not self._count:
            times = 1 if searched else UNASKED
            self._most = COLLECT * times
            self._gather_until = now + GATHER_S * times
        return self._most - self._count

    def gather(self, entry: Entry) -> None:
        """Count one more outcome, for a file of ``entry``, that waits for the commit."""
        self._gathered[entry] += 1
        self._count += 1

    def drop(self) -> None:
        """Reset the count: no outcome waits."""
        self._gathered.clear()
        self._count = 0

    def committed(self, now: float) -> None:
        self._committed_at = now

    def due(self, other: Undecided) -> float:
        """Return when to commit. A time in the past means at once; infinity means there is nothing to commit.

        Commit an edit at once, and any outcome that completes a search's wait; gather edits that come in a storm.
        """
        if not (other.has_changes or self._count):
            return 0.0 if other.finished or other.must_commit else inf
        if other.must_commit or self._count >= self._most or self._releases_a_waiter(other.finished):
            return 0.0
        if other.finished or not other.reading or not all(entry.tree for entry in self._gathered):
            return self._committed_at + APART_S
        return self._gather_until if self._count else inf

    def _releases_a_waiter(self, finished: list[Entry]) -> bool:
        complete = [entry for entry, works in self._gathered.items() if works >= entry.works] + finished
        return any(waiter.left <= len(complete) for entry in complete for waiter in entry.waiters)
