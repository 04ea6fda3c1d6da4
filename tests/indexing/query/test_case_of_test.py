"""The case of a test, as runners print it, and the line that has it."""

from __future__ import annotations

import re

import pytest

from livedex_indexing.query.case_of_test import line_of_case


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("TestWalk/turns_left", '\t\t{name: "turns left", steps: 3},'),
        ("TestWalk/fast/turns_left#01", 't.Run("turns_left", func(t *testing.T) {'),
        ("walk > turns left", "  it('turns left', () => {"),
        ("✓ src/walk.test.ts > walk > turns left 12ms", 'test.each(sides)("turns left", (side) => {'),
        ("● walk › turns left (3 ms)", "describe(`turns left`, () => {"),
    ],
)
def test_the_line_of_the_case_is_known(text: str, line: str) -> None:
    case, pattern = line_of_case(text)
    assert case == "turns left"
    assert re.match(pattern, line)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("TestWalk/turns_left", '{name: "turns left and right"},'),
        ("walk > turns left", 'heading = "turns left"'),
        ("walk > turns left", "it turns left"),
    ],
)
def test_another_line_has_it_not(text: str, line: str) -> None:
    assert not re.match(line_of_case(text)[1], line)


@pytest.mark.parametrize("text", ["TestWalk", "walk/turns_left", "a.b > 3", "turns left", "a > b\nc", "", "x" * 500])
def test_most_texts_are_no_case(text: str) -> None:
    assert line_of_case(text) == ("", "")
