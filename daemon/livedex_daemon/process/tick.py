"""The clock tick at which an idle daemon checks its roots, its socket and its configuration.

Invariant: all tasks use the same ticks, so that an idle process wakes up once for all of them.
"""

from __future__ import annotations

import asyncio

EVERY_S = 4.0  # a change of a root or of the socket is reported within 5 s
_EARLY_S = 0.01  # a timer may fire this much too early


def seconds_to_next(now: float) -> float:
    """Return the seconds from ``now`` to the next tick, a multiple of ``EVERY_S`` on the loop's clock."""
    passed = (now + _EARLY_S) // EVERY_S
    return (passed + 1) * EVERY_S - now


async def tick() -> None:
    """Sleep until the next tick."""
    await asyncio.sleep(seconds_to_next(asyncio.get_running_loop().time()))
