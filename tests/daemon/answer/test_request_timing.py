"""How much of a request's time each of its steps may take."""

from __future__ import annotations

import time
from typing import Any

import pytest

from livedex_daemon.answer.request_timing import LEAST_QUERY_S, MOST_QUERY_S, Timing

NOBODY: Any = None


@pytest.mark.parametrize(("asked_s", "most_s"), [(0.5, 0.5), (24 * 3600, MOST_QUERY_S), (0.0, LEAST_QUERY_S)])
def test_a_query_runs_no_longer_than_it_may(asked_s: float, most_s: float) -> None:
    """A wait for freshness may last a day; a query of that length would take a thread from other clients."""
    began = time.monotonic()
    ends = Timing(NOBODY, began, began + asked_s, fresh=True).query_ends()
    assert began <= ends <= time.monotonic() + most_s
