"""Code is cut along its syntax, its definitions are named, and hostile input does no harm."""

from __future__ import annotations

import subprocess
import sys

import pytest

from livedex_indexing.chunk import syntax_chunker
from livedex_indexing.chunk.components import SyntaxChunker
from livedex_indexing.chunk.grammars import DISTRIBUTIONS, grammar
from livedex_indexing.chunk.nesting_depth import bracket_depth
from livedex_indexing.chunk.symbols import definitions
from livedex_indexing.text.terms import hidden_words, mixed_case_parts, name_words

NAMES = {
    "c": (
        "#define LIMIT 1\n#define F(x) x\n/* doc */\nstatic int *get(int a) { struct in { int b; } c; }\n"
        "struct s { int a; };\ntypedef struct { int q; } pair_t;\nstatic struct ops my_ops = { 1 };\nint proto(void);\n"
        "#ifdef X\nint (*pick(void))(int) { return 0; }\n#endif\nenum e { A };\n",
        "LIMIT F get s pair_t my_ops pick e",
    ),
    "cpp": (
        "namespace a::b {\nclass K { void m() {} ~K() {} };\n}\nvoid K::out() {}\n"
        "template <class T> struct U { T t; };\n",
        "a.b a.b.K a.b.K.m a.b.K.~K K.out U",
    ),
    "python": (
        "class A:\n    # note\n    @property\n    def m(self):\n        def inner(): ...\n"
        "    class B:\n        async def n(self): ...\nif True:\n    def f(): ...\n",
        "A A.m A.m.inner A.B A.B.n f",
    ),
    "javascript": (
        "export class A { m() {} static s = () => 1 }\nconst f = () => 1, n = 2;\nmodule.exports.g = function () {};\n"
        "A.prototype.z = function () {};\n(function () { function inner() {} })();\n",
        "A A.m A.s f g A.prototype.z inner",
    ),
    "typescript": (
        "export interface I {}\nnamespace N { export function f(): void {} }\n"
        "abstract class C { run = async () => {} }\ntype T = string;\nenum E { A }\n",
        "I N N.f C C.run T E",
    ),
    "go": ("package x\ntype S struct{}\nfunc (s *S) M() {}\nfunc F() {}\nconst (\n\tA = 1\n)\n", "S S.M F A"),
    "rust": (
        "struct S<T> { a: T }\nimpl<T> S<T> { pub fn new() {} }\nmod m { fn x() {} }\nmacro_rules! mac { () => {} }\n"
        "trait Tr { fn q(); }\n",
        "S S S.new m m.x mac Tr Tr.q",
    ),
    "java": ("class A { void m() {} A() {} static class B { int q() { return 1; } } }\ninterface I { void p(); }\n",
             "A A.m A.A A.B A.B.q I I.p"),
    "ruby": ("module M\n  class C\n    def m; end\n    def self.s; end\n  end\nend\n", "M M.C M.C.m M.C.s"),
    "php": ("<?php\nclass C { function m() {} }\nfunction f() {}\n", "C C.m f"),
    "shell": ("# doc\nfoo() { :; }\nfunction bar { :; }\n", "foo bar"),
}  # fmt: skip


@pytest.mark.parametrize("language", NAMES)
def test_definitions_have_qualified_names(language: str) -> None:
    source, names = NAMES[language]
    data = source.encode()
    tree = syntax_chunker.parse(language, data, syntax_chunker.Limits())
    found = definitions(language, tree.root_node, data)
    assert [one.name for one in found] == names.split(" ")
    assert [one.start for one in found] == sorted(one.start for one in found)


def test_a_comment_belongs_to_what_it_describes() -> None:
    data = b"int a;\n/* one */\n/* two */\nint f(void) { return 1; }\n"
    (found,) = definitions("c", syntax_chunker.parse("c", data, syntax_chunker.Limits()).root_node, data)
    assert data[found.start :].startswith(b"/* one */")


@pytest.mark.parametrize("language", sorted(DISTRIBUTIONS))
def test_every_grammar_is_installed(language: str) -> None:
    assert grammar(language) is not None


def test_there_is_no_grammar() -> None:
    assert grammar("cobol") is None
    assert grammar(None) is None


def functions(count: int) -> str:
    return "".join(f"def function_{i}(a, b):\n    # why\n    return a + b * {i}\n\n\n" for i in range(count))


def test_functions_stay_whole() -> None:
    source = functions(60)
    chunks = SyntaxChunker("python", 256).chunk(source)
    assert "".join(chunk.text for chunk in chunks) == source
    assert all(chunk.text.startswith("def ") for chunk in chunks)
    assert [chunk.metadata["symbol"] for chunk in chunks][:2] == ["function_0", "function_4"]
    assert chunks[0].metadata["names"] == ["function_0", "function_1", "function_2", "function_3"]


def test_a_long_function_names_all_its_pieces() -> None:
    source = (
        "import os\n\n\nclass Big:\n    def run(self):\n"
        + "        self.step(1, 2, 3)\n" * 200
        + "    def end(self): ...\n"
    )
    chunks = SyntaxChunker("python", 512).chunk(source)
    assert "".join(chunk.text for chunk in chunks) == source
    assert all(0 < len(chunk.text) <= 512 for chunk in chunks)
    symbols = [chunk.metadata["symbol"] for chunk in chunks]
    assert symbols[0] == "Big"
    assert set(symbols[2:-1]) == {"Big.run"}
    assert chunks[3].metadata["names"] == ["Big", "run"]
    assert "end" in chunks[-1].metadata["names"]
    assert all(chunk.text.startswith("        self") for chunk in chunks[2:-1])  # lines keep their indentation


def test_a_token_longer_than_a_chunk_is_cut_as_text() -> None:
    source = f'x = "{"words of a string " * 400}"\ny = 1\n'
    chunks = SyntaxChunker("python", 512).chunk(source)
    assert "".join(chunk.text for chunk in chunks) == source
    assert all(len(chunk.text) <= 512 for chunk in chunks)


def test_wide_characters_keep_their_places() -> None:
    source = "# 吾輩は猫である 🎉\n" * 50 + "def f():\n    return 'é'\n" * 50
    chunks = SyntaxChunker("python", 256).chunk(source)
    assert all(source[chunk.start_index : chunk.end_index] == chunk.text for chunk in chunks)
    assert chunks[-1].end_index == len(source)


@pytest.mark.parametrize(
    ("language", "source", "reason"),
    [
        (None, "x", "no_grammar"),
        ("cobol", "x", "no_grammar"),
        ("json", "[" * 100_000, "depth"),
        ("json", '{"a":' * 100_000 + "1" + "}" * 100_000, "depth"),
        ("javascript", "(" * 1_000_000, "depth"),
        ("javascript", "function a(b){return b+1};" * 50_000, "bytes"),
        ("yaml", "- " * 400, "depth"),
        ("yaml", "".join(" " * deep + "a:\n" for deep in range(300)), "depth"),
        ("html", "</a>" * 20_000 + "<a>" * 20_000, "depth"),
        ("html", "<!--" * 20_000, "work"),
        ("java", "a<" * 5_000, "depth"),
        ("css", "a:" * 40_000, "work"),
        ("ruby", "<%" * 40_000, "work"),
        ("rust", 'r#"' * 40_000, "work"),
        ("shell", "<" * 200_000, "work"),
        ("c", "a<b " * 30_000, "work"),
        ("c", "<!--" * 3_000, "work"),
        ("python", "x" * 2_000_000, "bytes"),
    ],
)
def test_a_limit_chooses_the_simpler_chunker(language: str | None, source: str, reason: str) -> None:
    chunks = SyntaxChunker(language).chunk(source)
    assert {chunk.metadata["fallback"] for chunk in chunks} == {reason}
    assert "".join(chunk.text for chunk in chunks) == source
    assert all(len(chunk.text) <= 2048 for chunk in chunks)


def test_limits_count_nodes_too() -> None:
    chunker = SyntaxChunker("python", limits=syntax_chunker.Limits(max_nodes=10))
    assert chunker.chunk(functions(3))[0].metadata["fallback"] == "nodes"
    assert "fallback" not in SyntaxChunker("python").chunk(functions(3))[0].metadata


def test_a_parser_that_was_stopped_serves_again() -> None:
    chunker = SyntaxChunker("c")
    assert chunker.chunk("a<b " * 30_000)[0].metadata["fallback"] == "work"
    assert chunker.chunk("int f(void) { return 1; }\n")[0].metadata["symbol"] == "f"


@pytest.mark.parametrize("source", ["[]" * 50_000, "x;" * 50_000, "\0" * 50_000, "\n" * 50_000, "if a:\n" * 3000])
@pytest.mark.parametrize("language", ["c", "python", "javascript", "json", "yaml"])
def test_odd_code_is_covered(language: str, source: str) -> None:
    chunks = SyntaxChunker(language).chunk(source)
    assert "".join(chunk.text for chunk in chunks) == source
    assert all(0 < len(chunk.text) <= 2048 for chunk in chunks)


def test_deep_brackets_are_counted() -> None:
    assert bracket_depth(b"f(a[1]{})(b)") == 2
    assert bracket_depth(b"(" * 5000 + b")" * 5000) == 5000
    assert bracket_depth(b"no") == 0
    assert bracket_depth(b")" * 100) <= 0


def test_parts_of_words() -> None:
    text = "getHTTPResponse foo_bar HTTPServer x86 naïveCase sha256 plain URL ÀbC"
    assert mixed_case_parts(text) == "get HTTP Response HTTP Server ve Case b C"
    assert mixed_case_parts("aB" * 40) == ""
    assert mixed_case_parts("aB aB") == "a B a B"
    assert mixed_case_parts("") == ""
    assert hidden_words("getURL re-opened, non-zero") == "get URL reopened nonzero"
    assert name_words(["getURL", "get_url", "getURL", "MAX"]) == "getURL get URL get_url MAX"


@pytest.mark.parametrize(
    ("language", "unit", "size"),
    [("shell", "if(a)", 8000), ("shell", "a?", 8000), ("shell", "if(a)", 1 << 18), ("shell", "a?", 1 << 18),
     ("shell", "x=1\n", 1 << 18), ("typescript", "a<b ", 1 << 20), ("cpp", "a<b ", 1 << 18)],
)  # fmt: skip
def test_repeated_code_stays_small(language: str, unit: str, size: int) -> None:
    program = f"""
import resource, sys
from livedex_indexing.chunk import syntax_chunker
resource.setrlimit(resource.RLIMIT_DATA, (500 << 20, 500 << 20))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
try:
    syntax_chunker.parse({language!r}, ({unit!r} * {size}).encode()[:{size}], syntax_chunker.Limits())
except syntax_chunker.TooMuch as reason:
    print(reason)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
