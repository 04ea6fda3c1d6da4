"""The times at which an idle daemon checks its surroundings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.process.tick import EVERY_S, seconds_to_next

CLOCKS = st.floats(min_value=0, max_value=1e7)


@given(CLOCKS, st.floats(min_value=0, max_value=3.9))
def test_whoever_sleeps_wakes_with_the_others(now: float, later: float) -> None:
    first = now + seconds_to_next(now)
    if now + later < first - 0.1:
        assert now + later + seconds_to_next(now + later) == pytest.approx(first, abs=1e-6)


@given(CLOCKS)
def test_two_ticks_are_at_most_one_period_apart(now: float) -> None:
    assert 0 < seconds_to_next(now) <= EVERY_S + 0.1


@given(CLOCKS)
def test_a_timer_that_fires_too_soon_does_not_tick_twice(now: float) -> None:
    moment = now + seconds_to_next(now)
    assert seconds_to_next(moment - 1e-3) == pytest.approx(EVERY_S, abs=0.1)
