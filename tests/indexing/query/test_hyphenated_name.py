"""Names with hyphens, alone and in a call."""

from __future__ import annotations

import pytest

from livedex_indexing.query.hyphenated_name import hyphenated_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("open-lock", "open-lock"),
        ("#'open-lock", "open-lock"),
        ("*open-lock*", "*open-lock*"),
        ("open--lock?", "open--lock?"),
        ("lock->gate", "lock->gate"),
        ("canal:open-lock", "canal:open-lock"),
        ("(open-lock gate 2)", "open-lock"),
        ("(open-lock)", "open-lock"),
        ("(open-lock gate", "open-lock"),
    ],
)
def test_a_name_with_hyphens_is_read(text: str, name: str) -> None:
    found = hyphenated_name(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "text",
    ["open_lock", "lock", "a/b", "open-lock gate", "--open-lock", "-lock", "(open gate)", "2024-03-05", "a - b", ""],
)
def test_other_texts_are_none(text: str) -> None:
    assert hyphenated_name(text) is None


@pytest.mark.parametrize("unit", ["a-", "a--", "(a-b ", "a/b:"])
def test_a_long_text_is_read_in_time(unit: str) -> None:
    hyphenated_name(unit * 10_000)
