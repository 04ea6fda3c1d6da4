"""Remembers whether the index can be written, and whether it is being rebuilt.

Invariant: only the worker's thread writes it; other threads read single attributes.
"""

from __future__ import annotations

import logging
import time

from livedex_indexing.store.index_store import IndexUnwritable

log = logging.getLogger(__name__)

STORE_PAUSE_S = 2.0  # between tries of a store that cannot be written


class StoreHealth:
    """``fault``: why the store cannot be written, None while it can. ``rebuilding``: some root is not yet whole again.

    ``retry_at``: when to try a failed store again, in seconds on the monotonic clock.
    """

    def __init__(self) -> None:
        self.fault: IndexUnwritable | None = None
        self.retry_at = 0.0
        self.rebuilding = False

    def failed(self, error: IndexUnwritable) -> None:
        """Record the fault; log it only when the store was writable before."""
        if self.fault is None:
            log.error("store_failed", extra={"error": type(error).__name__, "cause": repr(error.__cause__)})
        self.fault = error
        self.postpone()

    def postpone(self) -> None:
        """Put off the next try."""
        self.retry_at = time.monotonic() + STORE_PAUSE_S

    def recovered(self) -> None:
        self.fault = None
