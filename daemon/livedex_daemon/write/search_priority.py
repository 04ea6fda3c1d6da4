"""Lets searches go first while much is indexed: both share the interpreter's lock and a few cores.

Invariant: a thread never waits longer than `SHARE` times what it worked since it last did, so that searches without end
make indexing take three times as long at most; and a few files never wait.
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
LATELY_S: Final = 30.0  # after the last question, until nobody is thought to wait for what is being indexed
FEW: Final = 8  # files: an edit, or some, is stored before the next search asks for it


class SearchPriority:
    """Threads that search say when; threads that index stop between two files meanwhile."""

    def __init__(self, most_s: float = MOST_S) -> None:
        self._most_s = most_s
        self._lock = threading.Lock()
        self._searches = 0
        self.last = 0.0  # when a search last ended (monotonic); 0: none did
        self._asked_at = -inf  # unlike `last`: no look at the status, and before it is fresh
        self._none = threading.Event()
        self._thread = threading.local()  # `since`: when it last waited

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

    def ask(self) -> None:
        """Somebody asks for what is indexed, be it or be it not yet."""
        self._asked_at = time.monotonic()

    def is_asked(self) -> bool:
        """Whether somebody did so lately: then what is indexed is stored soon."""
        return time.monotonic() - self._asked_at < LATELY_S

    def yield_to_searches(self, files: int) -> None:
        """Between two files, of so many that are to be done: waits for the searches that are under way."""
        if not self._searches or files <= FEW:
            return
        worked_s = time.monotonic() - getattr(self._thread, "since", 0.0)
        self._none.wait(min(self._most_s, SHARE * worked_s))
        self._thread.since = time.monotonic()
