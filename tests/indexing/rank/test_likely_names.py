"""Which chunks of a definition have the line that defines the name."""

from __future__ import annotations

from livedex_indexing.query.typed_name import TypedName
from livedex_indexing.rank.likely_names import first_defining


def test_the_line_behind_a_comment_is_taken_for_the_definition() -> None:
    read = {1: "/** A Lamp shines. */", 2: "public interface Lamp {", 3: "interface Lamp {", 4: "Lamp", 5: "a Lamp"}
    rows = [(1, 7), (2, 7), (3, 7), (4, 8), (5, 8)]
    assert sorted(first_defining(TypedName("Lamp"), rows, read)) == [2, 4]
    assert sorted(first_defining(TypedName("lamp", any_case=True), rows, read)) == [2, 4]
    assert sorted(first_defining(TypedName("lamp"), rows, read)) == [1, 4]
