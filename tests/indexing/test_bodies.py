"""What the parser is spared is balanced and no more than that, and sparing it changes neither cuts nor names."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from livedex_indexing.bodies import insides
from livedex_indexing.components import SyntaxChunker
from livedex_indexing.symbols import definitions
from livedex_indexing.syntax import Limits, cut, glue_kinds, parse

STATEMENTS = "\tcall(one, two);\n" * 6
OTHERS = "\tother(three, \"}\", '}');\n" * 6


def left_out(source: str, language: str = "c", limit: int = 2048) -> list[str]:
    data = source.encode()
    return [data[start:end].decode() for start, end in insides(language, data, limit)]


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", f"int f(void)\n{{\n{STATEMENTS}}}\n"),
        ("c", f"struct ops x = {{\n{STATEMENTS}}};\n"),
        ("c", f"\tif (a) {{\n{STATEMENTS}\t}} else {{\n\t}}\n"),
        ("cpp", f"void A::f() const noexcept {{\n{STATEMENTS}}}\n"),
        ("cpp", f"class K {{\n  void m() {{\n{STATEMENTS}  }}\n}};\n"),
    ],
)
def test_the_inside_of_a_block_is_left_out(language: str, source: str) -> None:
    assert left_out(source, language) == [STATEMENTS]


def test_the_blocks_of_a_function_too_long_for_a_chunk_are_left_out() -> None:
    inner = STATEMENTS.replace("\t", "\t\t")
    source = f"int f(void)\n{{\n\twhile (1) {{\n{inner}\t}}\n\tif (a) {{\n{inner}\t}} else {{\n{inner}\t}}\n}}\n"
    assert left_out(source, limit=200) == [inner, inner, inner]
    assert len(left_out(source)) == 1


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_table_of_numbers_is_left_out_and_cut_at_its_lines(language: str) -> None:
    rows = "\t0x0AuL, -1.5, /* one */ { 2, 3 },\n\t{\n\t\t4,\n\t},\n" * 200
    source = f"int before;\nstatic const struct row rows[] = {{\n{rows}}};\nint after;\n"
    assert left_out(source, language) == [rows]
    chunks = SyntaxChunker(language).chunk(source)
    assert all(chunk.text.endswith("\n") for chunk in chunks)
    assert [chunk.metadata["symbol"] for chunk in chunks[1:-1]] == ["rows"] * (len(chunks) - 2)
    assert left_out(source.replace("/* one */", "ONE"), language) == []
    assert left_out(source.replace("{ 2, 3 }", "{ 2, 3 } }", 1), language) == []


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("c", f'extern "C" {{\n{STATEMENTS}}}\n'),
        ("c", f'extern "C"\n{{\n{STATEMENTS}}}\n'),
        ("c", f"#define F {{\n{STATEMENTS}}}\n"),
        ("c", f"struct a {{\n{STATEMENTS}\tint b; }};\n\nstruct c {{\n\tint d;\n}};\n"),
        ("c", f"int f(void)\n{{\n#ifdef A\n{STATEMENTS}}}\n#else\n{STATEMENTS}}}\n#endif\n"),
        ("c", f"int f(void)\n{{\n/*\n{STATEMENTS}}}\n*/\n}}\n"),
        ("c", f"/* a\nint f(void)\n{{\n{STATEMENTS}/* b */\n}}\n"),
        ("c", f"/* a\nint f(void)\n{{\n{STATEMENTS}}}\n"),
        ("c", f'int f(void)\n{{\n"\n{STATEMENTS}}}\n"\n}}\n'),
        ("c", f"int f(void)\n{{\n{OTHERS}}}\n"),
        ("c", "int f(void)\n{\n}\nint g(void)\n{\n}\n" * 9),
        ("c", f"int f(void)\n{{\n{STATEMENTS * 40}}}\n"),
        ("cpp", f"namespace a __attribute__((b)) {{\n{STATEMENTS}}}\n"),
        ("cpp", f"class K : public L\n{{\n{STATEMENTS}}}\n"),
        ("cpp", f"struct K {{\n{STATEMENTS}}}\n"),
        ("javascript", f"function f() {{\n{STATEMENTS}}}\n"),
    ],
)
def test_in_doubt_nothing_is_left_out(language: str, source: str) -> None:
    assert left_out(source, language) == []


PIECES = st.sampled_from(
    [
        "int f(void)\n{\n", "static struct s x = {\n", "struct t {\n", "enum e {\n", "\tif (a) {\n", "\tdo {\n",
        "\t} else {\n", "\tswitch (a) {\n", "\t} while (0);\n", "}\n", "};\n", "\t}\n", "{\n", "\tcase 1: {\n",
        "\tcall(one, two, three, four, five);\n", "\tint a, b;\n", "\t.a = f, .b = g,\n", "\tA, B, C,\n",
        'extern "C" {\n', "\treturn 0;\n",
        "#ifdef A\n", "#else\n", "#endif\n", "#define X {\n", "/* a\n", "*/\n", '\tputs("{");\n', "\tc = '}';\n", "\n",
        "typedef int u;\n", "int g(int a) { return a; }\n", "// }\n", "class K {\n", "namespace n {\n", "public:\n",
    ]
)  # fmt: skip


def block(head: str, inner: list[str], tail: str) -> str:
    return head + "".join(inner) + tail


FUNCTIONS = st.builds(
    block,
    st.sampled_from(["int f(void)\n{\n", "static int g(int a) {\n", "struct t {\n\tint a;\n};\nvoid h(void)\n{\n"]),
    st.lists(
        st.sampled_from(
            [STATEMENTS, "\tif (a) {\n" + STATEMENTS + "\t}\n", "\t/* note */\n", "#ifdef A\n\tb();\n#endif\n"]
        ),
        max_size=6,
    ),
    st.just("}\n"),
)  # fmt: skip


@given(
    st.lists(PIECES, max_size=40).map("".join) | st.lists(FUNCTIONS | PIECES, max_size=12).map("".join),
    st.sampled_from(["c", "cpp"]),
    st.sampled_from([150, 300, 2048]),
)
@settings(max_examples=300, deadline=None)
def test_sound_code_is_cut_and_named_alike(text: str, language: str, limit: int) -> None:
    data = text.encode()
    whole, spared = parse(language, data, Limits()).root_node, parse(language, data, Limits(), limit).root_node
    assume(not whole.has_error)
    glue = glue_kinds(language)
    assert cut(spared, len(data), limit, glue) == cut(whole, len(data), limit, glue)
    assert definitions(language, spared, data) == definitions(language, whole, data)
