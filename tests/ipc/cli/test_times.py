"""Times as people type them: every age and date has one meaning, and others are refused."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.cli.times import parse_time
from livedex_ipc.params import parse_time as server_time

NOW = 1_780_000_000.0
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@pytest.fixture
def new_york() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


@given(st.integers(0, 50_000), st.sampled_from(sorted(UNITS)))
def test_an_age_counts_back_from_now(count: int, unit: str) -> None:
    seconds = count * UNITS[unit]
    if seconds < NOW:
        assert server_time(parse_time(f"{count}{unit}", NOW)) == (NOW - seconds) * 10**9


@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
    st.sampled_from("Tt "),
)
def test_a_moment_with_an_offset_stays_that_moment(naive: datetime, offset: int, between: str) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    text = parse_time(moment.isoformat(between, timespec="microseconds"), NOW)
    assert text.endswith("Z")
    assert datetime.fromisoformat(text) == moment


@given(st.text(max_size=30))
def test_every_text_is_a_time_in_utc_or_refused(text: str) -> None:
    try:
        moment = parse_time(text, NOW)
    except ValueError as error:
        assert "RFC 3339" in str(error)
    else:
        server_time(moment)


@pytest.mark.usefixtures("new_york")
def test_a_date_is_local_midnight_on_both_sides_of_the_change_of_clocks() -> None:
    assert parse_time("2026-01-15", NOW) == "2026-01-15T05:00:00.000Z"
    assert parse_time("2026-07-15", NOW) == "2026-07-15T04:00:00.000Z"
    assert parse_time("2026-07-15 09:30", NOW) == "2026-07-15T13:30:00.000Z"


def test_a_fraction_keeps_its_nanoseconds() -> None:
    assert parse_time("2026-01-15T00:00:00Z", NOW) == "2026-01-15T00:00:00.000Z"
    assert parse_time("2026-01-15t00:00:00.000001z", NOW) == "2026-01-15T00:00:00.000001Z"
    assert parse_time("2026-01-15T01:00:00.000000020+01:00", NOW) == "2026-01-15T00:00:00.000000020Z"
    assert parse_time("2026-01-15T00:00:00.4440127259Z", NOW) == "2026-01-15T00:00:00.444012725Z"


@pytest.mark.parametrize(
    "text",
    ["", "2", "d", "-2d", "2 x", "2  d", "yester", "last", "ago", "last ago", "2 agos", "2026-13", "2ss", "12 monthss",
     "2026-13-01", "2026-02-30", "20260101", "2026-W01-1", "9999999999w", "1M",
     "2026-01-01T25:00:00Z", "2026-01-01T00:00:00+0100", "٣d", "2026-01-01\n", "0001-01-01T00:00:00+23:00"],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        parse_time(text, NOW)


def test_the_time_of_day_counts_for_an_age() -> None:
    expected = datetime.fromtimestamp(NOW - 90 * 60, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    assert parse_time("90m", NOW) == expected


@pytest.mark.usefixtures("new_york")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        # NOW is Thursday, 2026-05-28 16:26:40 in New York.
        ("now", "2026-05-28T20:26:40"),
        ("today", "2026-05-28T04:00:00"),
        ("yesterday", "2026-05-27T20:26:40"),
        ("Yesterday", "2026-05-27T20:26:40"),
        ("last week", "2026-05-21T20:26:40"),
        ("last month", "2026-04-28T20:26:40"),
        ("last year", "2025-05-28T20:26:40"),
        ("last friday", "2026-05-22T20:26:40"),
        ("thursday", "2026-05-21T20:26:40"),
        ("2024", "2024-01-01T05:00:00"),
        ("2024-07", "2024-07-01T04:00:00"),
        ("1y", "2025-05-28T20:26:40"),
        ("1 week ago", "2026-05-21T20:26:40"),
        ("2.weeks.ago", "2026-05-14T20:26:40"),
        ("3 months", "2026-02-28T21:26:40"),
        ("90min", "2026-05-28T18:56:40"),
        ("2 d", "2026-05-26T20:26:40"),
    ],
)
def test_times_are_read_as_git_reads_them(text: str, moment: str) -> None:
    assert parse_time(text, NOW) == f"{moment}.000Z"


@pytest.mark.usefixtures("new_york")
def test_a_day_that_a_month_lacks_is_its_last() -> None:
    last_of_march = datetime(2026, 3, 31, 12).timestamp()
    assert parse_time("1 month ago", last_of_march) == "2026-02-28T17:00:00.000Z"
    leap_day = datetime(2024, 2, 29, 12).timestamp()
    assert parse_time("1y", leap_day) == "2023-02-28T17:00:00.000Z"
