"""A keyword and a name begin a definition: which lines are such a definition, and which texts are none."""

from __future__ import annotations

import pytest

from livedex_indexing.query.keyword_and_name import keyword_and_name


@pytest.mark.parametrize(
    ("typed", "text", "has"),
    [
        ("struct walk", "struct walk {", True),
        ("struct walk", "typedef struct walk {", True),
        ("struct walk", "struct walk\n{", True),
        ("struct walk", "struct walk __packed {", True),
        ("struct walk", "struct walk;", False),
        ("struct walk", "struct walk *walk;", False),
        ("struct walk", "struct walk first = {", False),
        ("struct walk", "static struct walk *walk_of(", False),
        ("struct walk", "f(struct walk, int)", False),
        ("struct walk", "struct walker {", False),
        ("class Walk", "class Walk(Base):", True),
        ("class Walk", "public final class Walk extends Base {", True),
        ("pub(crate) struct Walk", "pub struct Walk(u8);", False),  # as typed
        ("pub struct Walk", "pub(crate) struct Walk<T> {", True),
        ("type Walk", "type Walk map[string]int", True),
        ("fn walk", "    pub async fn walk<T>(of: T) {", True),
        ("def walk?", "def walk?(of)", True),
        ("#define WALK", "#  define WALK(x) x", True),
        ("Walk interface", "interface Walk {", False),  # may as well be about interfaces
        ("walk struct", "struct walk {", True),
    ],
)
def test_a_line_begins_the_definition(typed: str, text: str, has: bool) -> None:
    found = keyword_and_name(typed)
    assert (found is not None and found.place(f"a line\n{text}\n") is not None) is has


@pytest.mark.parametrize(
    "text", ["struct", "class of", "walk", "struct walk first", "a struct walk", "class Walk: Base"]
)
def test_other_texts_are_none(text: str) -> None:
    assert keyword_and_name(text) is None
