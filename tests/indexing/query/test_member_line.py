"""The lines that declare a member of the type around them."""

from __future__ import annotations

import time

import pytest

from livedex_indexing.query.member_line import begins_type, has_member, is_member_of, is_type, member_at, typed_at


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
        "protected $RED;",
        "private ?int $RED = null;",
        "public string RED { get; set; }",
        "public int RED { private get; init; }",
        "public static int RED => of(1);",
        "std::atomic<int> RED;",
        "$this->RED = 1;",
        "int (*RED)(int hue);",
    ],
)
def test_a_line_that_declares_a_member(line: str) -> None:
    assert has_member(f"x\n{line}\ny\n", "RED" if "RED" in line else "red")


@pytest.mark.parametrize(
    "line",
    [
        "return RED;",
        "f(x, RED)",
        "x = RED",
        "RED == 1",
        "red(tree);",
        "self.REDS = 1",
        "if RED:",
        "# RED is a colour",
        "RED => 1,",
        "RED::mix(1);",
        "friend class RED;",
        "paint: RED,",
    ],
)
def test_a_line_that_uses_it(line: str) -> None:
    assert not has_member(f"x\n{line}\ny\n", "RED" if "RED" in line else "red")


def test_a_type_has_a_keyword_in_front() -> None:
    assert is_type("struct  hull {", "hull")
    assert is_type("namespace hull {", "hull")
    assert not is_type("def hull(): struct hulls", "hull")


@pytest.mark.parametrize(
    "text",
    [
        "public enum Hue implements Paint {\n    GREEN(2),\n    /** As {@code RED} is. */\n    RED(1, of(2)),\n",
        "enum hue {\n\tGREEN = 2, /* RED; not {this} */\n\tRED,\n};\n",
        "typedef enum\n{\n  RED\n} hue;\n",
        "struct hue {\n\tunion {\n\t\tint blue;\n\t};\n\tu16 RED; /* { */\n};\n",
        "type Hue struct {\n\tRED  map[string]bool\n}\n",
        "pub(crate) enum Hue<T> where T: Copy {\n    Green { of: T },\n    RED(T),\n}\n",
        "enum class Hue(val code: Int) {\n    GREEN(2),\n    RED(1);\n",
        "export interface Hue {\n  readonly RED?: string;\n}\n",
        "\tGREEN,\n\t/* if it is, return it */\n\tRED,\n\tBLUE,\n};\n",  # the type began in the chunk before
        "\tGREEN = 3,\n\tRED,\n",
        "int paint(void);\n\nenum { GREEN, RED };\n",
        "  int mix(int a);\n  // Mixes if it is asked for.\n  void clean() MAY_LOCK(mutex);\n\n  int RED;\n",
        "data Hue = GREEN Int | RED Int\n",
        "data Hue\n  = GREEN\n  -- | as blood\n  | RED Int\n  deriving (Eq)\n",
        "data class Hue(\n  val blue: Int,\n  val RED: Int,\n",
        "type hue =\n  | GREEN\n  | RED of int\n",
        "  NEEDS_LOCK(mutex);\n  int RED;\n",
        "struct hue {\n\tint blue;\n\tint (*RED)(int hue);\n};\n",
        "  public int Mix()\n  {\n    if (wet) { return mix(a); }\n    hue = 1;\n  }\n\n  private int RED;\n",
        "{\n  // if it is known\n  private int blue;\n\n  private int RED;\n",  # its header is in the chunk before
        "    return hue;\n  }\n\n  private int RED;\n",  # behind the end of a function that began before
    ],
)
def test_a_member_is_found_in_the_braces_of_its_type(text: str) -> None:
    at = member_at(text, "RED")
    assert at is not None
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    assert has_member(line, "RED")
    assert not line.lstrip().startswith("/*")


@pytest.mark.parametrize(
    "text",
    [
        "static const struct hue hues[] = {\n\tGREEN,\n\tRED,\n};\n",  # an initialiser
        "void paint(struct hue *hue)\n{\n\tint RED;\n}\n",
        "enum hue paint(void) {\n\treturn mix(GREEN,\n\t\tRED,\n\t\tBLUE);\n}\n",
        "\tif (hue)\n\t\tmix(GREEN,\n\t\t    RED,\n",
        "class Brush {\n  void paint() {\n    mix(\n      RED,\n      BLUE);\n  }\n}\n",
        "switch (hue) {\ncase RED:\n\tbreak;\n}\n",
        "\tmix(GREEN);\n\tpaint(BLUE,\n\t      RED,\n",
        "\thue = GREEN;\n\tpaint(BLUE,\n\t      RED,\n",
        "RED,\n",  # nothing is known of it
        "{\n  hue = mix(blue);\n  int RED;\n",
        "interface Paint {\n  fun mix(\n    blue: Int,\n    RED: Int,\n",
        "| GREEN | 1 |\n| RED | 2 |\n",
        "data Hue = GREEN\n\nmix hue = case hue of\n  | RED -> 1\n",
        "  if (wet) {\n    mix(GREEN);\n  }\n  RED = 1;\n",
        "const hues = {\n  RED: 1,\n};\n",
    ],
)
def test_what_only_looks_like_a_member_is_none(text: str) -> None:
    assert member_at(text, "RED") is None


@pytest.mark.parametrize("unit", ["a ", "a,", "a=", "{", "a<", "*", "[", "[]", "a = b, ", "\t", "@", "a: "])
def test_time_is_linear(unit: str) -> None:
    text = f"{unit * 10_000}RED\n{unit * 10_000} RED{unit * 10_000}\n"
    began = time.process_time()
    has_member(text, "RED")
    member_at(text, "RED")
    assert time.process_time() - began < 0.5


HUES = "class Paint {\n  Paint(int red) : red(red) {}\n  int red;\n};\nclass Brush {\n  int red;\n};\n"


def test_the_line_with_a_type_and_the_owner_that_was_typed_come_first() -> None:
    assert member_at(HUES, "red", surely=True) == HUES.index("red;")
    assert member_at(HUES, "red", "Brush", surely=True) == HUES.rindex("red;")
    assert is_member_of(HUES, "red", "Brush")
    assert not is_member_of(HUES, "red", "Hue")


def test_a_member_with_a_type_is_told_from_one_that_is_set() -> None:
    assert typed_at("  int green;\n\n  int red;\n", "red") is not None
    assert typed_at("  int green;\n\n  red = 1;\n", "red") is None


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("pub struct Red<'a> {", 1.0),
        ("class LAMP_EXPORT Red : public Hue {", 1.0),
        ("public sealed interface Red", 1.0),
        ("struct Red;", 0.5),
        ("impl Red {", 0.0),
        ("class Red::Step {", 0.0),
        ("struct Red *red;", 0.0),
        ("friend class Red;", 0.0),
        ("let red = struct Red {", 0.0),
    ],
)
def test_the_line_that_begins_a_type(line: str, value: float) -> None:
    assert begins_type(f"x\n{line}\n", "Red") == value
