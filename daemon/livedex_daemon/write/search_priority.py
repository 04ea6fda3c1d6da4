"""Let searches go first during bulk indexing: both share the interpreter's lock and a few cores.

Invariant: a thread never waits longer than ``SHARE`` times the time it worked since its last wait, so that endless
searches make indexing take three times as long at most; and a few files never wait.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from typing import Final

MOST_S: Final = 0.05
SHARE: Final = 2.0
RECENT_S: Final = 30.0  # after the last query; later, no client is assumed to wait for indexing
FEW: Final = 8  # files: one edit or a few are stored before the next search asks for them


class SearchPriority:
    """Searching threads report their searches; indexing threads pause between two files during them."""

    def __init__(self, most_s: float = MOST_S) -> None:
        self._most_s = most_s
        self._lock = threading.Lock()
        self._searches = 0
        self.last = 0.0  # when the last search ended (monotonic); 0: no search yet
        self._queried_at = -inf  # unlike ``last``: not set by a status query, and set before the answer is fresh
        self._none = threading.Event()
        self._thread = threading.local()  # ``since``: when the thread last waited

    @contextmanager
    def searching(self) -> Iterator[None]:
        with self._lock:
            self._searches += 1
            self._none.clear()
        try:
            yield
        finally:
            with self._lock:
                self.last = time.monotonic()
                self._searches -= 1
                if not self._searches:
                    self._none.set()

    def record_query(self) -> None:
        """Record that a client queries the index, whether or not its answer is indexed yet."""
        self._queried_at = time.monotonic()

    def is_queried(self) -> bool:
        """Return True when a client queried the index in the last ``RECENT_S``: then outcomes are stored soon."""
        return time.monotonic() - self._queried_at < RECENT_S

    def yield_to_searches(self, files: int) -> None:
        """Wait for the running searches, between two files. ``files``: how many files are to be done."""
        if not self._searches or files <= FEW:
            return
        worked_s = time.monotonic() - getattr(self._thread, "since", 0.0)
        self._none.wait(min(self._most_s, SHARE * worked_s))
        self._thread.since = time.monotonic()
