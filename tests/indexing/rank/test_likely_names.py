"""Which chunks of a definition have the line that defines the name."""

from __future__ import annotations

from livedex_indexing.query.typed_name import TypedName
from livedex_indexing.rank.likely_names import begin_definition, defining, first_defining


def test_the_line_behind_a_comment_is_taken_for_the_definition() -> None:
    read = {1: "/** A Lamp shines. */", 2: "public interface Lamp {", 3: "interface Lamp {", 4: "Lamp", 5: "a Lamp"}
    rows = [(1, 7), (2, 7), (3, 7), (4, 8), (5, 8)]
    assert sorted(first_defining(TypedName("Lamp"), rows, read)) == [2, 4]
    assert sorted(first_defining(TypedName("lamp", any_case=True), rows, read)) == [2, 4]
    assert sorted(first_defining(TypedName("lamp"), rows, read)) == [1, 4]


def test_a_type_comes_before_its_implementation_and_before_one_without_a_body() -> None:
    rust = {1: "pub struct Lamp<'a>(&'a str);\n\npub struct Bulb {", 2: "impl<'a> Lamp<'a> {", 3: "let lamp = Lamp(x);"}
    assert defining(TypedName("Lamp"), {1: "Bulb", 2: "Lamp", 3: "main"}, lambda _: rust) == [1]
    header = {1: "class Lamp;\n", 2: "class LAMP_EXPORT Lamp : public Light {", 3: "friend class Lamp;"}
    assert defining(TypedName("Lamp"), dict.fromkeys(header), lambda _: header) == [2]
    function = {1: "LAMP_DEFINE(lamp)", 2: "lamp(1);"}
    assert defining(TypedName("lamp"), {1: "lamp", 2: "main"}, lambda _: function) == [1]


def test_what_is_inside_a_definition_does_not_begin_it() -> None:
    assert begin_definition(TypedName("Lamp"), {1: "  int shines;", 2: "class Lamp {"})
    assert not begin_definition(TypedName("Lamp"), {1: "  int shines;", 2: "Lamp* lamp;"})
