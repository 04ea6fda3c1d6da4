"""Dates in what was typed."""

from __future__ import annotations

import pytest

from livedex_indexing.query.typed_date import typed_date


@pytest.mark.parametrize(
    "text",
    [
        "2024-03-05",
        "2024/3/5",
        "20240305",
        "March 5 2024",
        "Mar. 5th, 2024",
        "5 March 2024",
        "5. März 2024",
        "5 de marzo de 2024",
        "met Anna on March 5, 2024 about it",
    ],
)
def test_a_date_is_read_in_any_form(text: str) -> None:
    found = typed_date(text)
    assert found is not None
    assert found.days == ((2024, 3, 5),)


def test_a_date_of_two_meanings_has_both() -> None:
    for text, days in (
        ("5.3.2024", [(3, 5), (5, 3)]),
        ("5/3/2024", [(5, 3), (3, 5)]),
        ("25.3.2024", [(3, 25)]),
        ("3/25/2024", [(3, 25)]),
    ):
        found = typed_date(text)
        assert found is not None
        assert [day[1:] for day in found.days] == days


@pytest.mark.parametrize("text", ["2024-03", "March 2024", "plants Mar. 2024", "marzo de 2024"])
def test_a_month_is_read(text: str) -> None:
    found = typed_date(text)
    assert found is not None
    assert found.is_month
    assert found.days == ((2024, 3),)


def test_the_place_of_a_date_is_known() -> None:
    text = "Anna, 5. März 2024, garden"
    found = typed_date(text)
    assert found is not None
    assert text[found.start : found.end] == "5. März 2024"


@pytest.mark.parametrize(
    "text",
    [
        '"March 5 2024"',
        "version 5.3.2024.1",
        "10.5.3.2024",
        "path:notes/2024-03-05.md",
        "meta:date=2024-03-05",
        "-2024-03-05",
        "2024-13-05",
        "39.3.2024",
        "120240305",
        "May",
        "2024-13",
        "2024-03-",
        "walk 5 2024",
        "2024-03-05-part",
        "week 54",
        "week 0",
        "weekend 10",
        "",
    ],
)
def test_other_texts_have_no_date(text: str) -> None:
    assert typed_date(text) is None


@pytest.mark.parametrize("unit", ["1", "1.", "5 May ", "2024-", "May 5 ", "de "])
def test_a_long_text_costs_nothing(unit: str) -> None:
    assert typed_date(unit * 10_000) is None
