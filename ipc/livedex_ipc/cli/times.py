"""Parses the times that people type for ``--since`` and ``--before``: a moment, a date, or an age.

Every accepted text becomes RFC 3339 in UTC; any other text is refused, never guessed.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

_UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"([0-9]{1,10})([smhdw])", re.ASCII)
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})?)?",
    re.ASCII,
)


def parse_time(text: str, now: float) -> str:
    """Return ``text`` as RFC 3339 in UTC, with milliseconds (microseconds if they were given).

    ``text``: RFC 3339; a date or a time without an offset, both in local time; or an age, counted back from ``now``
    (seconds since 1970) in units of s, m, h, d (24 hours) and w. Raises ValueError with a message for people.
    """
    age = _AGE.fullmatch(text)
    try:
        if age is not None:
            moment = datetime.fromtimestamp(now - int(age[1]) * _UNIT_SECONDS[age[2]], UTC)
        elif _MOMENT.fullmatch(text) is not None:
            # astimezone takes a moment without an offset as local time, with that day's daylight saving.
            moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
        else:
            raise ValueError(text)
    except (ValueError, OverflowError, OSError) as error:
        raise ValueError(
            f"{text!r} is not a time: give RFC 3339 (2026-05-01T10:00:00Z), a date (2026-05-01) or an age (90m, 2d, 3w)"
        ) from error
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
