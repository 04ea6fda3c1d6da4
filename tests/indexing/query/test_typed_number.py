"""Numbers and addresses are recognised that files may have with other signs."""

from __future__ import annotations

import pytest

from livedex_indexing.query.typed_number import other_forms, telephone_digits


@pytest.mark.parametrize(
    ("text", "typed", "form"),
    [
        ("14153", "14153", "14,153"),
        ("14,153 lines", "14,153", "14153"),
        ("limit 4 KB", "4 KB", "4KB"),
        ("3.5kg", "3.5kg", "3.5 kg"),
        ("http://example.com/a", "http://example.com/a", "example.com/a"),
        ("https://www.example.com/a", "https://www.example.com/a", "example.com/a"),
    ],
)
def test_it_may_be_written_so(text: str, typed: str, form: str) -> None:
    assert any(text[one.start : one.end] == typed and one.form == form for one in other_forms(text))


@pytest.mark.parametrize("text", ["line 14153", "v14153", "a-14153", "1.14153", "0014", "192.168.0.1", "x3kg", "12:30"])
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
