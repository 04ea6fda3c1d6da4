"""A root's entries are kept for a day of elapsed time; a change of the wall clock does not count."""

from __future__ import annotations

from livedex_daemon.watch.absence import OBSERVED_S, Absences
from livedex_indexing.store.index_store import KEEP_S

HOUR = 3_600.0


class Clocks:
    """A wall clock that can be set, and a monotonic one."""

    def __init__(self) -> None:
        self.wall, self.steady = 1_700_000_000.0, 50.0
        self.absences = Absences(lambda: self.wall, lambda: self.steady)
        self.since = self.absences.begin(1)

    def pass_time(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds

    def look(self) -> bool:
        self.since = self.absences.corrected(1, self.since)
        return self.absences.has_expired(1, self.since)

    def restart(self) -> None:
        self.absences = Absences(lambda: self.wall, lambda: self.steady)


def test_a_day_that_passed() -> None:
    clocks = Clocks()
    assert not clocks.look()
    clocks.pass_time(KEEP_S - 1)
    assert not clocks.look()
    clocks.pass_time(2)
    assert clocks.look()


def test_a_clock_that_is_set_a_day_ahead() -> None:
    clocks = Clocks()
    assert not clocks.look()
    clocks.pass_time(2 * HOUR)
    clocks.wall += 2 * KEEP_S
    assert not clocks.look()
    clocks.pass_time(KEEP_S - 3 * HOUR)
    assert not clocks.look()
    clocks.pass_time(HOUR + 1)
    assert clocks.look()


def test_a_clock_that_is_set_back() -> None:
    clocks = Clocks()
    assert not clocks.look()
    clocks.wall -= 30 * KEEP_S
    assert not clocks.look()
    clocks.pass_time(KEEP_S + 1)
    assert clocks.look()


def test_a_clock_that_was_wrong_before_the_start() -> None:
    clocks = Clocks()
    clocks.wall += 2 * KEEP_S
    clocks.restart()
    assert not clocks.look()
    clocks.pass_time(60)
    clocks.wall -= 2 * KEEP_S  # the clock was corrected over the network
    assert not clocks.look()
    clocks.pass_time(OBSERVED_S + 1)
    assert not clocks.look()


def test_a_day_over_several_starts() -> None:
    clocks = Clocks()
    for _ in range(4):
        clocks.pass_time(KEEP_S / 4)
        clocks.restart()
        assert not clocks.look()
    clocks.pass_time(OBSERVED_S + 1)
    assert clocks.look()


def test_a_begin_in_the_future_is_now() -> None:
    clocks = Clocks()
    clocks.wall -= 365 * KEEP_S
    clocks.restart()
    clocks.pass_time(1)
    assert not clocks.look()
    clocks.pass_time(KEEP_S + 1)
    assert clocks.look()
