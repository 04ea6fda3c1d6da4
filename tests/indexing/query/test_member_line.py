"""The lines that declare a member of the type around them."""

from __future__ import annotations

import time

import pytest

from livedex_indexing.query.member_line import has_member, is_type


@pytest.mark.parametrize(
    "line",
    [
        "RED = 1",
        "  RED,",
        "  RED",
        "  RED(1),",
        "RED(1);",
        "{ GREEN, RED, BLUE }",
        "enum { GREEN = 2, RED }",
        "case RED",
        "  red: u8,",
        "RED int",
        "RED map[string]bool // all",
        "RED func(x int) error",
        "RED(x int) error",
        "private final List<String> RED = of();",
        "int a, RED[4];",
        "unsigned int *RED;",
        "pub(crate) RED: u8,",
        "self.RED = 1",
        "this.RED = x;",
        "@RED = 1",
        "readonly RED?: string;",
        "val RED: Int = 1",
    ],
)
def test_a_line_that_declares_a_member(line: str) -> None:
    assert has_member(f"x\n{line}\ny\n", "RED" if "RED" in line else "red")


@pytest.mark.parametrize(
    "line",
    ["return RED;", "f(x, RED)", "x = RED", "RED == 1", "red(tree);", "self.REDS = 1", "if RED:", "# RED is a colour"],
)
def test_a_line_that_uses_it(line: str) -> None:
    assert not has_member(f"x\n{line}\ny\n", "RED" if "RED" in line else "red")


def test_a_type_has_a_keyword_in_front() -> None:
    assert is_type("struct  hull {", "hull")
    assert not is_type("def hull(): struct hulls", "hull")


@pytest.mark.parametrize("unit", ["a ", "a,", "a=", "{", "a<", "*", "[", "[]", "a = b, ", "\t", "@", "a: "])
def test_time_is_linear(unit: str) -> None:
    text = f"{unit * 10_000}RED\n{unit * 10_000} RED{unit * 10_000}\n"
    began = time.process_time()
    has_member(text, "RED")
    assert time.process_time() - began < 0.5
