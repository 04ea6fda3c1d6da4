"""The text that is hidden from the parser is balanced and no more than that; hiding it changes no name and cuts no
statement.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from tree_sitter import Node

from helpers.support import examples
from livedex_indexing.chunk.components import SyntaxChunker
from livedex_indexing.chunk.elision import elidable_spans
from livedex_indexing.chunk.symbols import definitions
from livedex_indexing.chunk.syntax_chunker import Limits, cut, glue_kinds, parse

STATEMENTS = "\tcall(one, two);\n" * 6
DEEPER = STATEMENTS.replace("\t", "\t\t")
OTHERS = "\tother(three, \"}\", '}');\n" * 6


def left_out(source: str, language: str = "c", limit: int = 2048) -> list[str]:
    data = source.encode()
    return [data[start:end].decode() for start, end in elidable_spans(language, data, limit)]


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
    source = f"int f(void)\n{{\n\twhile (1) {{\n{DEEPER}\t}}\n\tif (a) {{\n{DEEPER}\t}} else {{\n{DEEPER}\t}}\n}}\n"
    assert left_out(source, limit=200) == [DEEPER, DEEPER, DEEPER]
    assert len(left_out(source)) == 1


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_of_a_function_too_long_for_a_chunk_whole_statements_are_left_out(language: str) -> None:
    statement = "\tif (a)\n\t\tcall(one, two);\n\telse\n\t\tcall(\n\t\t     three);\n"
    block = "\twhile (a) {\n\t\tb();\n\t\tc();\n\t}\n"
    cases = "\tswitch (b) {\n" + statement.replace("\t", "\t\t") * 3 + "\t}\n"
    source = f"int f(void)\n{{\n{statement * 26}{block}\n{cases}\tint lonely, number;\n}}\nint g;\n"
    spans = left_out(source, language, limit=960)
    assert spans[:13] == [(statement * 2)[:-2]] * 13
    visible = source
    for span in spans:
        assert span in visible
        visible = visible.replace(span, "", 1)
    assert visible == "int f(void)\n{\n" + 13 * ";\n" + "}\nint g;\n"
    chunks = [chunk.text for chunk in SyntaxChunker(language, 960).chunk(source)]
    assert "".join(chunks) == source
    assert chunks[1:] and all(chunk.startswith(("\tif", "\twhile", "\tswitch", "\tint")) for chunk in chunks[1:])
    assert all(720 < len(chunk) <= 960 for chunk in chunks[:-1])


@pytest.mark.parametrize(
    "statement",
    [
        "\tif (a)\n\t\tcall(the, one, with, many, arguments);\n\telse\n\t\tcall(two, of, them);\n",
        "\tint of, some, length, declared, at, the, beginning;\n\n\n",
    ],
)
def test_neither_an_else_nor_a_blank_line_begins_a_chunk(statement: str) -> None:
    source = f"int f(void)\n{{\n{statement * 30}}}\n"
    chunks = [chunk.text for chunk in SyntaxChunker("c", 300).chunk(source)]
    assert len(left_out(source, limit=300)) > 9 and len(chunks) > 3
    assert all(chunk.startswith(statement[:4]) for chunk in chunks[1:])


@pytest.mark.parametrize(
    ("language", "source"),
    [
        # The scope around a function that is too long names the definitions in it.
        ("cpp", "class K { // of mine\n\tvoid m() {\n%s\t}\n%s\tint last;\n};\n"),
        ("cpp", "class K {\n\tvoid m() {\n%s\t}\n%s\tint last;\n};\n"),
        ("c", "struct k {\n\tint first;\n%s%s\tint last;\n};\n"),
    ],
)
def test_behind_a_function_nothing_is_left_out_of_what_is_around_it(language: str, source: str) -> None:
    odd = "\tx = '\"';\n"  # ambiguous: its end is skipped
    before = f"int f(void)\n{{\n{STATEMENTS * 6}{odd * 9}{STATEMENTS}}}\n"
    for inner in (DEEPER, DEEPER * 8):
        text = before + source % (inner, "\tint member, other;\n" * 30)
        spans = left_out(text, language, 600)
        assert spans and all("\tint last;" not in span and "member" not in span for span in spans)


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
        "class L { // of mine\n", "\tvoid m() {\n", "class M {\n\tint n() { return 1; }\n", "\t\tcall(one, two);\n",
        "\t} // end\n",
    ]
)  # fmt: skip


def block(head: str, inner: list[str], tail: str) -> str:
    return head + "".join(inner) + tail


FUNCTIONS = st.builds(
    block,
    st.sampled_from(["int f(void)\n{\n", "static int g(int a) {\n", "struct t {\n\tint a;\n};\nvoid h(void)\n{\n"]),
    st.lists(
        st.sampled_from(
            [
                STATEMENTS, "\tif (a) {\n" + STATEMENTS + "\t}\n", "\t/* note */\n", "#ifdef A\n\tb();\n#endif\n",
                DEEPER, "\twhile (a) {\n" + DEEPER + "\t}\n", "\tif (a)\n\t\tcall(b);\n\n",
                "\tif (a) {\n" + 3 * DEEPER + "\t}\n",
                "\tfor (a = 1;\n\ta;\n\ta++)\n\t\tb();\n", "\tint x[] = {\n\t\t1, 2,\n\t};\n",
            ]
        ),
        max_size=6,
    ),
    st.just("}\n"),
)  # fmt: skip


SOURCES = st.lists(PIECES, max_size=40).map("".join) | st.lists(FUNCTIONS | PIECES, max_size=12).map("".join)
LANGUAGES = st.sampled_from(["c", "cpp"])
LIMITS = st.sampled_from([150, 300, 2048])


def is_block(data: bytes, start: int, end: int, limit: int) -> bool:
    """Return whether a span is the whole content of a block that fits."""
    line = data.rfind(b"\n", 0, start - 1) + 1
    return data[:start].endswith(b"{\n") and data[end:].lstrip(b"\t").startswith(b"}") and end < line + limit


QUOTED_BRACES = "int f(void)\n{\nint f(void)\n{\n\tputs(\"{\");\n\tc = '}';\n\tc = '}';\n}\n}\n"


@given(SOURCES, LANGUAGES, LIMITS)
@example(QUOTED_BRACES, "c", 150)
@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_sound_code_is_named_alike_and_where_all_blocks_fit_cut_alike(text: str, language: str, limit: int) -> None:
    data = text.encode()
    whole, spared = parse(language, data, Limits()).root_node, parse(language, data, Limits(), limit).root_node
    assume(is_sound(whole))
    glue = glue_kinds(language)
    if all(is_block(data, start, end, limit) for start, end in elidable_spans(language, data, limit)):
        assert cut(spared, len(data), limit, glue) == cut(whole, len(data), limit, glue)
    assert definitions(language, spared, data) == definitions(language, whole, data)


@given(SOURCES, LANGUAGES, LIMITS)
@settings(max_examples=examples(120), deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_sound_code_is_cut_between_its_statements(text: str, language: str, limit: int) -> None:
    data = text.encode()
    whole = parse(language, data, Limits()).root_node
    assume(is_sound(whole))
    glue = glue_kinds(language)
    longest = max([end - start for start, end in pairwise([0, *cut(whole, len(data), limit, glue)])], default=0)
    ends = cut(parse(language, data, Limits(), limit).root_node, len(data), limit, glue)
    begun = {start for start, _ in nodes(whole)} | {len(data)}
    statements = nodes(whole, "expression_statement")
    at = 0
    for end in ends:
        assert at < end and len(data[at:end].rstrip()) <= max(limit, longest)
        blank = len(data[end:]) - len(data[end:].lstrip())
        assert end + blank in begun
        assert all(end + blank <= start or finish <= end for start, finish in statements)
        at = end


def is_sound(root: Node) -> bool:
    """Return whether a file parses and has its statements in functions (the grammars permit them anywhere)."""
    outside = (child for child in root.children if child.type.endswith("_statement"))
    return not root.has_error and all(child.end_byte - child.start_byte == 1 for child in outside)


def nodes(root: Node, kind: str | None = None) -> list[tuple[int, int]]:
    """Yield where the nodes of a tree begin and end."""
    found, todo = [], [root]
    while todo:
        node = todo.pop()
        todo += node.children
        if kind is None or node.type == kind:
            found.append((node.start_byte, node.end_byte))
    return found
