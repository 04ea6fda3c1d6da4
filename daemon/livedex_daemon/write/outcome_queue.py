"""The outcomes that wait for the worker, in the order in which they came.

Invariant: while too many wait, a thread that adds more waits too: each holds the whole text of its file.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from livedex_daemon.write.outcomes import Outcome
from livedex_indexing.model import ChunkedContent

UNCOLLECTED = 64  # reading pauses while so many outcomes wait …
UNCOLLECTED_BYTES = 32 << 20  # … or those of files with so many bytes: with a full disk they wait for long


class OutcomeQueue:
    """Call from any thread."""

    def __init__(self, on_outcome: Callable[[], None]) -> None:
        """``on_outcome`` wakes the worker."""
        self._on_outcome = on_outcome
        self._changed = threading.Condition()
        self._outcomes: deque[Outcome] = deque()
        self._bytes = 0
        self._closed = False

    def put(self, outcomes: list[Outcome]) -> None:
        """Add outcomes in one go: waking the worker for each would cost more than storing the outcome."""
        if not outcomes:
            return
        with self._changed:
            while self._is_full() and not self._closed:
                self._changed.wait(1.0)
            self._outcomes.extend(outcomes)
            self._bytes += sum(map(_size, outcomes))
        self._on_outcome()

    def take(self, limit: int) -> list[Outcome]:
        """Return up to ``limit`` outcomes, the oldest first."""
        with self._changed:
            taken = [self._outcomes.popleft() for _ in range(min(limit, len(self._outcomes)))]
            self._bytes -= sum(map(_size, taken))
            self._changed.notify_all()
            return taken

    def _is_full(self) -> bool:
        return len(self._outcomes) >= UNCOLLECTED or self._bytes >= UNCOLLECTED_BYTES

    def close(self) -> None:
        """Let no thread wait any longer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def _size(outcome: Outcome) -> int:
    """Return the bytes of the file whose text an outcome has; 0 if it has none."""
    return outcome.stat.size if isinstance(outcome.result, ChunkedContent) and outcome.stat is not None else 0
