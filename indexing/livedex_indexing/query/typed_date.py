"""Recognises a date or a month in what was typed, and the other ways in which files and their names may have it.

Invariant: pure; what stands in quotes, or is a part of a longer number or name, is no date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_MONTHS: Final = tuple(
    line.split()
    for line in (
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    )
)
_NUMBER: Final = {name.lower(): at for names in _MONTHS for at, name in enumerate(names, 1)} | {"sept": 9}
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_DAY: Final = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th|er|º)?"
_NAME: Final = rf"(?P<name>{'|'.join(sorted(_NUMBER, key=len, reverse=True))})\.?"
_WEEKS: Final = ("week", "kw", "woche", "semaine", "semana", "settimana")
_WEEK: Final = rf"(?:{'|'.join(_WEEKS)})"
_FORMS: Final = tuple(
    re.compile(rf"(?<![\w.\"/:=-]){form}(?![\w\"/:-]|\.\d)", re.IGNORECASE)
    for form in (
        rf"{_YEAR}([-/.])(?P<month>[01]?\d)\2(?P<day>[0-3]?\d)",  # 2024-03-05
        rf"{_YEAR}(?P<month>[01]\d)(?P<day>[0-3]\d)",  # 20240305
        rf"(?P<first>[0-3]?\d)([-/.])(?P<second>[0-3]?\d)\2{_YEAR}",  # 5.3.2024, 3/5/2024
        rf"{_NAME} {{1,2}}{_DAY},? {{1,2}}{_YEAR}",  # March 5, 2024
        rf"{_DAY}\.? {{1,2}}(?:(?:of|de) )?{_NAME},? {{1,2}}(?:de )?{_YEAR}",  # 5 March 2024, 5 de marzo de 2024
        rf"{_NAME},? {{1,2}}(?:of |de )?{_YEAR}",  # March 2024
        rf"{_YEAR}[-/](?P<month>[01]\d)",  # 2024-03
        rf"{_WEEK} {{0,2}}(?P<week>[0-5]?\d)(?:,? {{1,2}}(?:of )?{_YEAR})?",  # week 10, KW 10 2024
        rf"{_NAME} {{1,2}}{_DAY}",  # March 5
        rf"{_DAY}\.? {{1,2}}(?:(?:of|de) )?{_NAME}",  # 5 March
    )
)
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LAST_WEEK: Final = 53
_LONGEST: Final = 400  # characters; a longer text was pasted


class Day(NamedTuple):
    """A date that may be meant. Year 0: of any year."""

    year: int
    month: int
    day: int

    @property
    def of_names(self) -> tuple[str, ...]:
        """The forms that sort in names of files; without a year, what such a form ends in."""
        if not self.year:
            return (f"{self.month:02}-{self.day:02}",)
        return f"{self.year}-{self.month:02}-{self.day:02}", f"{self.year}{self.month:02}{self.day:02}"

    @property
    def of_texts(self) -> Iterator[str]:
        """The forms of texts, the least doubtful first. Blanks and signs between the parts say nothing."""
        if self.year:
            yield from self.of_names
        day, year = str(self.day), str(self.year or "")
        for names in _MONTHS:
            month = names[self.month - 1]
            yield from (f"{month} {day} {year}", f"{day} {month} {year}")
        for month in (names[self.month - 1] for names in _MONTHS[:2]):
            ordinal = day + ("th" if self.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(self.day % 10, "th"))
            yield from (f"{month} {ordinal} {year}", f"{ordinal} {month} {year}")
            if self.day < 10:
                yield from (f"{month} 0{day} {year}", f"0{day} {month} {year}")
        if not self.year:
            return
        yield from (f"{self.day}.{self.month}.{year}", f"{self.day:02}.{self.month:02}.{year}")
        yield from (f"{self.month}/{self.day}/{year}", f"{self.month:02}/{self.day:02}/{year}")


class Month(NamedTuple):
    """A month that may be meant."""

    year: int
    month: int

    @property
    def of_names(self) -> tuple[str]:
        """The form that sorts in names of files, and which days begin with."""
        return (f"{self.year}-{self.month:02}",)

    @property
    def of_texts(self) -> Iterator[str]:
        """The forms of texts, the least doubtful first."""
        yield from self.of_names
        yield from (f"{names[self.month - 1]} {self.year}" for names in _MONTHS)


class Week(NamedTuple):
    """A week of the ISO calendar that may be meant. Year 0: of any year."""

    year: int
    week: int

    @property
    def of_names(self) -> tuple[str]:
        """The form that sorts in names of files; without a year, what such a form ends in."""
        return (f"{self.year}-W{self.week:02}" if self.year else f"W{self.week:02}",)

    @property
    def of_texts(self) -> Iterator[str]:
        """The forms of texts, the least doubtful first."""
        yield from self.of_names
        yield from (f"{word} {self.week} {self.year or ''}" for word in _WEEKS)


class TypedDate(NamedTuple):
    """A date in a text, from ``start`` to ``end``, and the ``days``, the month or the week that it may be, the
    likeliest first."""

    start: int
    end: int
    days: tuple[Day | Month | Week, ...]

    @property
    def is_month(self) -> bool:
        return any(isinstance(day, Month) for day in self.days)


def typed_date(text: str) -> TypedDate | None:
    """Return the first date in a text, None without any."""
    if len(text) > _LONGEST or not any(character.isdigit() for character in text):
        return None
    for form in _FORMS:
        found = form.search(text)
        days = () if found is None else tuple(_days(found))
        if found is not None and days:
            return TypedDate(*found.span(), days)
    return None


def _days(found: re.Match[str]) -> Iterator[Day | Month | Week]:
    parts = found.groupdict()
    if "week" in parts:
        if 1 <= int(parts["week"]) <= _LAST_WEEK:
            yield Week(int(parts["year"] or 0), int(parts["week"]))
        return
    if not {"day", "first"} & parts.keys():
        month = _NUMBER[parts["name"].lower()] if "name" in parts else int(parts["month"])
        if 1 <= month <= len(_DAYS):
            yield Month(int(parts["year"]), month)
        return
    if "first" in parts:
        day, month = int(parts["first"]), int(parts["second"])
        pairs = [(month, day), (day, month)] if found[2] != "/" else [(day, month), (month, day)]
    else:
        pairs = [(_NUMBER[parts["name"].lower()] if "name" in parts else int(parts["month"]), int(parts["day"]))]
    for month, day in dict.fromkeys(pairs):
        if 1 <= month <= len(_DAYS) and 1 <= day <= _DAYS[month - 1]:
            yield Day(int(parts.get("year") or 0), month, day)
