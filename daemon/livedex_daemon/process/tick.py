"""When an idle daemon looks around: at its roots, its socket, its configuration.

Invariant: the moments are the same for all who look, so that it is woken once for all of them.
"""

from __future__ import annotations

import asyncio

EVERY_S = 4.0  # what happens to a root or to the socket is told within 5 s
_EARLY_S = 0.01  # a timer may fire this much too soon


async def tick() -> None:
    """Sleeps to the next of these moments, each a multiple of `EVERY_S` on the loop's clock."""
    now = asyncio.get_running_loop().time()
    passed = (now + _EARLY_S) // EVERY_S
    await asyncio.sleep((passed + 1) * EVERY_S - now)
