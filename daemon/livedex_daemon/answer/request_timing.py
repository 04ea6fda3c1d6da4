"""Whose request it is, and when its parts must be over: the wait for freshness, the query, the answer.

Invariant: whatever a request waits for, it is answered at most ``GRACE_S`` after the time that its params allow.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from livedex_daemon.answer.reader_threads import Client
from livedex_ipc.errors import TimedOut
from livedex_ipc.request_params import FreshParams
from livedex_ipc.server.rpc_server import Call

QUERY_SHARE = 0.8  # the share of a search's time that may go into waiting for freshness
LEAST_QUERY_S = 0.05  # for the query itself, however late it is
MOST_QUERY_S = 60.0  # for the query itself, however much time is left
GRACE_S = 0.05  # after the deadline, for the answer with what was found by then

T = TypeVar("T")


class Timing(NamedTuple):
    """Whose request it is, when it began and when its answer is due (monotonic). ``fresh``: the param."""

    client: Client
    began: float
    due: float
    fresh: bool

    @staticmethod
    def of(call: Call, params: FreshParams) -> Timing:
        began = time.monotonic()
        return Timing(call.connection, began, began + params["timeout_ms"] / 1000, params["fresh"])

    @property
    def fresh_until(self) -> float:
        """Return how long to wait for freshness."""
        return self.began + (self.due - self.began) * QUERY_SHARE

    def query_ends(self) -> float:
        """Return when a query that begins now must end."""
        now = time.monotonic()
        return min(max(self.due, now + LEAST_QUERY_S), now + MOST_QUERY_S)

    async def within(self, answer: Awaitable[T]) -> T:
        """Return ``answer``. Raise TimedOut if it is not there shortly after it is due."""
        loop = asyncio.get_running_loop()
        due = max(self.due, self.began + LEAST_QUERY_S) + GRACE_S
        try:
            async with asyncio.timeout_at(loop.time() + due - time.monotonic()) as limit:
                return await answer
        except TimeoutError:
            if not limit.expired():
                raise
            raise TimedOut("the request ran out of time: raise timeout_ms, or ask for less") from None
