"""Numbers and addresses are recognised that files may have with other signs."""

from __future__ import annotations

import pytest

from livedex_indexing.query.typed_number import identifier_forms, other_forms, telephone_digits


@pytest.mark.parametrize(
    ("text", "typed", "form"),
    [
        ("14153", "14153", "14,153"),
        ("14,153 lines", "14,153", "14153"),
        ("limit 4 KB", "4 KB", "4KB"),
        ("3.5kg", "3.5kg", "3.5 kg"),
        ("version 2.15.3", "version 2.15.3", "v2.15.3"),
        ("v2.15", "v2.15", "2.15"),
        ("http://example.com/a", "http://example.com/a", "example.com/a"),
        ("https://www.example.com/a", "https://www.example.com/a", "example.com/a"),
    ],
)
def test_it_may_be_written_so(text: str, typed: str, form: str) -> None:
    assert any(text[one.start : one.end] == typed and one.form == form for one in other_forms(text))


@pytest.mark.parametrize(
    "text", ["line 14153", "v14153", "a-14153", "1.14153", "0014", "x3kg", "12:30", "1.2.3.4.5", "a/1.2"]
)
def test_other_numbers_stay(text: str) -> None:
    assert not list(other_forms(text))


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("+1 (604) 555-0199", "16045550199"),
        ("030/1234567", "0301234567"),
        ("0301234567", "0301234567"),
        ("192.168.100.100", ""),
        ("12345", ""),
        ("call 0301234567", ""),
    ],
)
def test_a_telephone_number_is_the_whole_text(text: str, digits: str) -> None:
    assert telephone_digits(text) == digits


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("DE41374349093119", ["DE41374349093119", "DE41 3743 4909 3119"]),
        ("DE41 3743 4909 3119 8", ["DE413743490931198", "DE41 3743 4909 3119 8"]),
        ("2f:f0:dd:c6:f3:de", ["2ff0ddc6f3de", "2f f0 dd c6 f3 de"]),
        ("1234-5678-9012-3456", ["1234567890123456", "1234 5678 9012 3456"]),
        ("walk the line 12", []),
        ("deadbeefcafe", []),
        ("", []),
    ],
)
def test_an_identifier_is_the_whole_text(text: str, forms: list[str]) -> None:
    assert list(identifier_forms(text)) == forms


@pytest.mark.parametrize("unit", ["1.", "v1.2 ", "1 ", "a1:", "version "])
def test_a_long_text_takes_no_time(unit: str) -> None:
    list(other_forms(unit * 10_000))
    assert list(identifier_forms(unit * 10_000)) == []
