"""The chunks of any file tile it, none is too long, and their positions are those of the file.

Invariant: lines are counted by the line feeds of the bytes, as ripgrep counts them.
"""

from __future__ import annotations

import codecs
import re

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from helpers.support import examples
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.chunk.markdown import blocks
from livedex_indexing.chunk.syntax_chunker import Limits, cut, glue_kinds, parse
from livedex_indexing.text.decoder import byte_ends, decode, decode_slice
from livedex_indexing.text.terms import compounds, mixed_case_parts

FRAGMENTS = st.sampled_from(
    [
        "# Head\n", "## Sub ##\n", "Title\n=====\n", "word ", "Two words. ", "\n", "\n\n", "\r\n", "\r", "\t", " " * 40,
        "```python\nx = 1\n```\n", "```\nopen\n", "~~~~ c\n```\n~~~~\n", "  ```js\n  f()\n  ```\n", "`````", "~~~",
        "| a | b |\n|---|---|\n| 1 | 2 |\n", "a | b\n--|--\n", "|", "![", "](",
        "![alt](src.png)\n", "![a](b) ![c](d)\n",
        "<!-- c\n", "-->\n", "<pre>\n", "</pre>\n", "---\n", "---\na: b\n---\n", "- item\n", "> quote\n", "    code\n",
        "def f(x):\n    return x\n\n", "class A:\n    def m(self): pass\n", "int f(int a) { return a; }\n", "/* c */\n",
        "#define X 1\n", "{", "}", "(", ")", '"', "'", "//", "function g() {}\n", "const h = () => 1;\n", "é", "🎉",
        "e\u0301", "吾輩は猫である。", "\u2028", "\x0c", "\0", "\x1a", "\ufffd", "getHTTPResponse ",
        "x" * 300, "=" * 30 + "\n",
    ]
)  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=60).map("".join)
NAMES = st.sampled_from(
    ["a.md", "a.py", "a.c", "a.js", "a.rs", "a.yaml", "a.html", "a.sh", "a.rst", "a.txt", "a.lua", "a"]
)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"])
SIZES = st.sampled_from([1, 16, 100, 2048])


def check(data: bytes, name: str, config: ChunkSettings) -> str:
    content = chunk_content(data, name.encode(), config)
    text = decode(data).text
    assert "".join(chunk.text for chunk in content.chunks) == text
    at, line, byte = 0, 1, None
    for chunk in content.chunks:
        assert 0 < len(chunk.text) <= config.chunk_size
        assert byte in (None, chunk.start_byte)
        assert decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte) == chunk.text
        assert chunk.context == text[max(0, at - config.overlap) : at]
        assert chunk.start_line == line == 1 + text.count("\n", 0, at)
        at += len(chunk.text)
        line, byte = 1 + text.count("\n", 0, at), chunk.end_byte
        assert chunk.end_line == 1 + text.count("\n", 0, at - 1)
    assert byte in (None, len(data))
    return text


@given(TEXTS, NAMES, ENCODINGS, SIZES)
@settings(max_examples=examples(150), deadline=None)
@example("\ufeffx", "a.md", "utf-8", 16)
def test_chunks_tile_text(text: str, name: str, encoding: str, size: int) -> None:
    assume(not (encoding == "utf-16" and text.startswith("\0")))  # those bytes are the byte order mark of UTF-32
    assert check(text.encode(encoding), name, ChunkSettings(chunk_size=size, overlap=9)) in (
        text,
        text.removeprefix("\ufeff"),
    )


@given(
    st.sampled_from([b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE]),
    st.binary(max_size=200) | TEXTS.map(lambda text: text.encode("utf-16-le", "surrogatepass")[1:]),
    NAMES,
)
@settings(max_examples=examples(100), deadline=None)
def test_chunks_tile_any_bytes(mark: bytes, body: bytes, name: str) -> None:
    data = mark + body
    decoded = decode(data)
    content = chunk_content(data, name.encode(), ChunkSettings(chunk_size=50, overlap=5))
    assert "".join(chunk.text for chunk in content.chunks) == decoded.text
    assert content.lossy == decoded.lossy
    if content.chunks:
        assert (content.chunks[0].start_byte, content.chunks[-1].end_byte) == (decoded.bom_bytes, len(data))
    for chunk in content.chunks:
        assert decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte) == chunk.text


@given(TEXTS, st.integers(0, 3))
@settings(deadline=None)
def test_the_blocks_of_a_text_tile_it(text: str, lines: int) -> None:
    begin = sum(len(line) for line in text.splitlines(keepends=True)[:lines] if line.endswith("\n"))
    begin = begin if text[:begin].endswith("\n") else 0
    found, headings = blocks(text, begin)
    assert "".join(text[block.start : block.end] for block in found) == text[begin:]
    assert [heading.start for heading in headings] == sorted({heading.start for heading in headings})
    assert {heading.start for heading in headings} <= {block.start for block in found}


@given(TEXTS, st.sampled_from(["c", "python", "javascript", "rust", "yaml", "shell"]), st.sampled_from([8, 64, 500]))
@settings(deadline=None)
def test_syntax_cuts_go_forward(text: str, language: str, limit: int) -> None:
    data = text.encode()
    ends = cut(parse(language, data, Limits()).root_node, len(data), limit, glue_kinds(language))
    assert ends == sorted(set(ends))
    assert ends[-1:] == ([len(data)] if data else [])
    for end in ends:
        data[:end].decode()  # never inside a character


@given(st.text(max_size=60), st.sampled_from(["shift_jis", "euc_jp", "gb18030", "cp932", "cp1251", "big5", "koi8-r"]))
@settings(deadline=None)
def test_every_character_knows_its_bytes(text: str, encoding: str) -> None:
    data = text.encode(encoding, "ignore")
    decoded = decode(data)
    pieces = list(decoded.text)
    at = decoded.bom_bytes
    for piece, end in zip(pieces, byte_ends(decoded, pieces, len(data)), strict=True):
        assert decode_slice(data, decoded.encoding, at, end) == piece
        at = end


@given(st.text(alphabet="abXY1_ é", max_size=80))
def test_parts_are_those_of_the_words(text: str) -> None:
    words = re.findall(r"[A-Za-z0-9]+", text)
    mixed = [word for word in words if re.search("[a-z][A-Z]|[A-Z][A-Z][a-z]", word) and len(word) <= 64]
    expected = [part for word in mixed for part in re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+", word)]
    assert mixed_case_parts(text).split() == expected


@given(st.text(alphabet="abXY1_- é", max_size=80) | st.text(alphabet="ab-", max_size=120))
@example("built-in e-mail, state-of-the-art x-y end-")
@example("a" * 21 + "-b" + "a" * 20 + "-" + "b" * 21)
def test_compounds_are_two_words_of_letters_with_a_hyphen_between(text: str) -> None:
    runs = [(run.start(), run.end()) for run in re.finditer(r"[\w-]+", text)]
    two = [at for at in runs if re.fullmatch("[A-Za-z]{1,20}-[A-Za-z]{2,20}", text[slice(*at)])]
    assert list(compounds(text)) == [(start, end, text[start:end].replace("-", "")) for start, end in two]
