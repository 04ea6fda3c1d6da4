"""A name that is typed in another convention finds the name that the files have, whatever its numbers belong to."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_indexing.text.terms import in_other_conventions

FILLER = "".join(f"    step = {number}\n" for number in range(3 * LINES))


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("sectionAlign2048Bytes", "SECTION_ALIGN_2048BYTES"),
        ("sectionAlign2048Bytes", "section_align2048_bytes"),
        ("b2CraneMagic", "B2CRANE_MAGIC"),
        ("below0Uint32", "below_0_uint32"),
        ("testTd64ArrayOverflow", "test_td64array_overflow"),
    ],
)
def test_numbers_belong_to_any_letters(index: Indexed, typed: str, name: str) -> None:
    index.write("root/limits.py", f"{FILLER}{name} = 1\n")
    index.write("root/others.py", "section align bytes, crane magic, below, test array overflow\n" * 5)
    assert index.found(typed)[0] == "limits.py"


def test_a_name_with_a_number_that_is_nowhere(index: Indexed) -> None:
    """Its words are looked for; of a hash nothing is."""
    index.write("root/limits.py", "SECTION_ALIGN_MOST_2048BYTES = 1\n")
    index.write("root/data.txt", "ab cd ef\n")
    assert index.found("sectionAlignMost4096Bytes") == ["limits.py"]
    assert index.found("ab12cd34ef56ab78") == []


def test_other_forms_of_a_name_do_not_hide_it(index: Indexed) -> None:
    """`TestCombine` has the stem of `testCombinations`, and is another name."""
    for number in range(3):
        index.write(f"root/series{number}.py", f"class TestCombine:\n    value = {number}\n")
    index.write("root/tasks.py", f"{FILLER}def test_combinations():\n    pass\n")
    assert index.found("testCombinations")[0] == "tasks.py"
    assert index.found("TestCombine")[0].startswith("series"), "as it is typed"


def test_the_same_name_comes_before_a_longer_one(index: Indexed) -> None:
    index.write("root/longer.py", "def _parse_expressions():\n    parse_expressions(parse_expressions)\n")
    index.write("root/same.js", f"{FILLER}def parseExpression():\n    pass\n")
    assert index.found("parse_expression")[0] == "same.js"


def test_ways_to_split_a_name() -> None:
    assert in_other_conventions("getHTTPResponse") == ["get_HTTP_Response"]
    assert in_other_conventions("url_for") == []
    assert in_other_conventions("UTF8") == ["UTF_8"]
    assert {way.replace("_", "") for way in in_other_conventions("a1b2c3d4e5")} == {"a1b2c3d4e5"}
    assert len(in_other_conventions("x1y2" * 500)) == 2, "not each way of a long one"
