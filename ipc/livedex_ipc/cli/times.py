"""Parses the times that people type for ``--since`` and ``--before``: a moment, a date, or an age, as git reads them.

Every accepted text becomes RFC 3339 in UTC; any other text is refused, never guessed.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, datetime

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNITS = {
    **dict.fromkeys(("s", "sec", "second"), "s"),
    **dict.fromkeys(("m", "min", "minute"), "m"),
    **dict.fromkeys(("h", "hour"), "h"),
    **dict.fromkeys(("d", "day"), "d"),
    **dict.fromkeys(("w", "week"), "w"),
    **dict.fromkeys(("mo", "month"), "month"),
    **dict.fromkeys(("y", "year"), "year"),
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_GAP = "[ .]"  # git's `2.weeks.ago` needs no quotes
_AGE = re.compile(rf"([0-9]{{1,10}}){_GAP}?([a-z]+)(?:{_GAP}ago)?", re.ASCII)
_NAMED = re.compile(rf"(?:(last){_GAP})?([a-z]+)", re.ASCII)
_MONTH = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?", re.ASCII)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)
_NANOSECONDS = re.compile(r"\.[0-9]{6}([0-9]{1,3})", re.ASCII)  # the digits that datetime drops


def parse_time(text: str, now: float) -> str:
    """Return ``text`` as RFC 3339 in UTC, with milliseconds (microseconds or nanoseconds if they were given).

    ``text``: RFC 3339; a date, a month, a year or a time without an offset, all in local time; an age, counted back
    from ``now`` (seconds since 1970): ``90m``, ``2 days ago``, ``1y`` (months and years by the calendar); ``now``,
    ``today`` (its midnight), ``yesterday`` (24 hours ago), ``last week``, ``last friday``. Raises ValueError with a
    message for people.
    """
    try:
        moment = _moment(text, now)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            f"{text!r} is not a time: give a date (2026-05-01, 2026-05, 2026), an age (90m, 2d, 6mo, 1y, '2 days ago'),"
            " yesterday, 'last week', or RFC 3339 (2026-05-01T10:00:00Z)"
        ) from error
    beyond = _NANOSECONDS.search(text)
    precision = "microseconds" if beyond or moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", f"{beyond[1] if beyond else ''}Z")


def _moment(text: str, now: float) -> datetime:
    if _MOMENT.fullmatch(text) is not None:
        # astimezone takes a moment without an offset as local time, with that day's daylight saving.
        return datetime.fromisoformat(text.upper()).astimezone(UTC)
    month = _MONTH.fullmatch(text)
    if month is not None:
        return datetime(int(month[1]), int(month[2] or 1), 1).astimezone(UTC)
    words = text.lower()
    age = _AGE.fullmatch(words)
    if age is not None:
        if text[age.start(2) : age.end(2)] == "M":  # a month to some, a minute to others
            raise ValueError(text)
        return _before(int(age[1]), _unit(age[2]), now)
    named = _NAMED.fullmatch(words)
    if named is None:
        raise ValueError(text)
    last, name = named.groups()
    if name in _DAYS:
        passed = (datetime.fromtimestamp(now).weekday() - _DAYS.index(name)) % 7
        return _before(passed or 7, "d", now)
    if last:
        return _before(1, _unit(name), now)
    midnight = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    known = {"now": _before(0, "s", now), "today": midnight.astimezone(UTC), "yesterday": _before(1, "d", now)}
    if name not in known:
        raise ValueError(text)
    return known[name]


def _unit(name: str) -> str:
    unit = _UNITS.get(name) or (_UNITS.get(name.removesuffix("s")) if len(name) > 2 else None)
    if unit is None:
        raise ValueError(name)
    return unit


def _before(count: int, unit: str, now: float) -> datetime:
    """Return the moment ``count`` units before ``now``; months and years end on the last day if that day is missing."""
    if unit in _UNIT_SECONDS:
        return datetime.fromtimestamp(now - count * _UNIT_SECONDS[unit], UTC)
    here = datetime.fromtimestamp(now)
    months = here.year * 12 + here.month - 1 - count * (12 if unit == "year" else 1)
    year, month = divmod(months, 12)
    day = min(here.day, monthrange(year, month + 1)[1])
    return here.replace(year=year, month=month + 1, day=day).astimezone(UTC)
