"""The moments at which an idle daemon looks around."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.process import tick

CLOCKS = st.floats(min_value=0, max_value=1e7)


def slept(now: float) -> float:
    """Seconds to the next look, by a clock that says ``now``."""
    naps: list[float] = []
    clock = SimpleNamespace(time=lambda: now)

    async def sleep(seconds: float) -> None:
        naps.append(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tick, "asyncio", SimpleNamespace(get_running_loop=lambda: clock, sleep=sleep))
        asyncio.run(tick.tick())
    (nap,) = naps
    return nap


@given(CLOCKS, st.floats(min_value=0, max_value=3.9))
def test_whoever_sleeps_wakes_with_the_others(now: float, later: float) -> None:
    first = now + slept(now)
    if now + later < first - 0.1:
        assert now + later + slept(now + later) == pytest.approx(first, abs=1e-6)


@given(CLOCKS)
def test_it_sleeps_for_as_long_as_looks_are_apart_at_most(now: float) -> None:
    assert 0 < slept(now) <= tick.EVERY_S + 0.1


@given(CLOCKS)
def test_a_timer_that_fires_too_soon_is_not_two_looks(now: float) -> None:
    moment = now + slept(now)
    assert slept(moment - 1e-3) == pytest.approx(tick.EVERY_S, abs=0.1)
