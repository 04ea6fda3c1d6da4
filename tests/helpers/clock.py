"""A clock that a test sets."""

from __future__ import annotations


class Clock:
    """Tells ``now``, which the test moves on."""

    def __init__(self, now: float = 100.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
