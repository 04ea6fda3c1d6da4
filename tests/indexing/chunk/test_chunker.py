"""One file through its whole pipeline: positions, kinds, headings, symbols and words of its chunks."""

from __future__ import annotations

import codecs

import pytest

from livedex_indexing.chunk import markdown
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.model import ChunkedContent
from livedex_indexing.text.decoder import decode_slice

SETTINGS = ChunkSettings()
SMALL = ChunkSettings(chunk_size=200, overlap=20)


def cut(name: str, text: str | bytes, settings: ChunkSettings = SETTINGS) -> ChunkedContent:
    data = text.encode() if isinstance(text, str) else text
    content = chunk_content(data, name.encode(), settings)
    assert len(content.terms) == len(content.chunks)
    at, line = None, 1
    for ordinal, chunk in enumerate(content.chunks):
        assert chunk.ordinal == ordinal
        assert at is None or chunk.start_byte == at
        at = chunk.end_byte
        assert decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte) == chunk.text
        assert chunk.start_line == line
        line += chunk.text.count("\n")
        assert chunk.end_line == line - chunk.text.endswith("\n")
        assert 0 < len(chunk.text) <= settings.chunk_size
    assert at is None or at == len(data)
    return content


def test_a_markdown_file() -> None:
    content = cut(
        "notes.md",
        "---\ntitle: Notes\ntags: [a]\n---\n# Top\n\nWords here.\n\n## Sub\n\n```python\ndef getName(): ...\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n![A cat](cat.png)\n",
    )
    described = [(one.kind, one.language, one.heading, one.start_line, one.end_line) for one in content.chunks]
    assert described == [
        ("markdown_text", "markdown", None, 1, 4),
        ("markdown_text", "markdown", "Top", 5, 8),
        ("markdown_text", "markdown", "Top > Sub", 9, 10),
        ("markdown_code", "python", "Top > Sub", 11, 14),
        ("markdown_table", "markdown", "Top > Sub", 15, 18),
        ("markdown_image", "markdown", "Top > Sub", 19, 19),
    ]
    assert content.chunks[-1].metadata == {"alt": "A cat", "src": "cat.png"}
    assert content.frontmatter == {"title": "Notes", "tags": ["a"]}
    assert (content.pipeline, content.language, content.encoding, content.lossy) == (
        "markdown",
        "markdown",
        "utf-8",
        False,
    )
    assert content.terms[3].ids == "get Name"
    assert content.terms[3].heads == "Top Sub"


def test_bad_frontmatter_is_text_and_says_so() -> None:
    content = cut("a.md", "---\na: *x\n---\nwords\n")
    assert content.frontmatter is None
    assert content.frontmatter_fault == "anchors and aliases are not taken"
    assert {chunk.kind for chunk in content.chunks} == {"markdown_text"}


def test_a_title_in_the_frontmatter_is_a_heading_for_search() -> None:
    content = cut("a.md", "---\ntitle: Deep Sea\n---\nwords\n")
    assert {term.heads for term in content.terms} == {"Deep Sea"}


def test_a_code_file() -> None:
    source = "import os\n\nclass HttpServer:\n" + "".join(
        f"    def handle_{i}(self):\n        return os.getcwd()\n\n" for i in range(12)
    )
    content = cut("server.py", source, SMALL)
    assert {chunk.kind for chunk in content.chunks} == {"code"}
    assert {chunk.language for chunk in content.chunks} == {"python"}
    assert content.chunks[0].symbol == "HttpServer"
    assert content.chunks[2].symbol is not None
    assert content.chunks[2].symbol.startswith("HttpServer.handle_")
    assert content.terms[2].symbols.startswith("HttpServer Http Server handle_")
    assert content.fallback is None


def test_code_without_a_grammar_says_so() -> None:
    content = cut("a.lua", "local x = 1\n")
    assert (content.fallback, content.chunks[0].metadata) == ("no_grammar", {"fallback": "no_grammar"})
    assert (content.chunks[0].kind, content.chunks[0].language) == ("code", "lua")


def test_markdown_with_too_many_blocks_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "MOST_BLOCKS", 3)
    content = cut("a.md", "# A title\n" * 4 + "Words.\n")
    assert content.fallback == "blocks"
    assert [chunk.metadata for chunk in content.chunks] == [{}, {}, {}, {"fallback": "blocks"}]
    assert "".join(chunk.text for chunk in content.chunks) == "# A title\n" * 4 + "Words.\n"


def test_restructuredtext_has_headings() -> None:
    text = "=====\nGuide\n=====\n\nIntro.\n\nSetup\n-----\n\n" + "Words and words.\n" * 30 + "\nUse\n---\n\nMore.\n"
    content = cut("guide.rst", text, SMALL)
    assert {chunk.kind for chunk in content.chunks} == {"plain"}
    assert content.chunks[0].heading == "Guide"
    assert content.chunks[3].heading == "Guide > Setup"
    assert content.terms[-1].heads == "Guide Use"


@pytest.mark.parametrize("above", ["Guide\n=====\n", "=====\nGuide\n=====\n", "Guide\r\n=====\r\n"])
def test_a_heading_may_follow_a_heading(above: str) -> None:
    content = cut("guide.rst", f"{above}Setup\n-----\nUse\n~~~\nWords.\n")
    assert content.terms[0].heads == "Guide Setup Use"


@pytest.mark.parametrize(
    "text", ["x\n---\n", "Title is longer\n-----\n", "\n-----\n", "a\nb\n---\n", " indented\n---------\n", "...\n...\n"]
)
def test_what_underlines_nothing(text: str) -> None:
    expected = "x" if text.startswith("x") else None
    assert cut("a.rst", text).chunks[0].heading == expected


def test_the_context_is_the_text_before() -> None:
    text = "".join(f"Sentence number {i} of the text.\n" for i in range(60))
    content = cut("a.txt", text, SMALL)
    at = 0
    for chunk in content.chunks:
        assert chunk.context == text[max(0, at - 20) : at]
        at += len(chunk.text)
    assert cut("a.txt", text, ChunkSettings(chunk_size=200, overlap=0)).chunks[1].context == ""


def test_the_context_reaches_over_short_chunks() -> None:
    content = cut("a.md", "# Aaaaaaaaaaaaaaaa\n# B\n# C\n")
    assert content.chunks[2].context == "# Aaaaaaaaaaaaaaaa\n# B\n"


@pytest.mark.parametrize("name", ["a.md", "a.py", "a.txt", "a.lua", "a.rst"])
def test_files_with_nothing_in_them(name: str) -> None:
    assert cut(name, "").chunks == []
    assert cut(name, codecs.BOM_UTF8).chunks == []
    assert [chunk.text for chunk in cut(name, " \n\n").chunks] == [" \n\n"]
    assert [chunk.text for chunk in cut(name, "x").chunks] == ["x"]


@pytest.mark.parametrize("name", ["a.md", "a.py", "a.txt"])
def test_blanks_join_a_neighbour(name: str) -> None:
    content = cut(name, "\n\n" + "x = 1\n" + "\n" * 150 + "y = 2\n" + " \n" * 120, SMALL)
    blank = [chunk for chunk in content.chunks if not chunk.text.strip()]
    assert len(blank) <= 1


@pytest.mark.parametrize("name", ["a.md", "a.py", "a.txt", "a.rst", "a.c"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_places_are_exact(name: str, line_end: str, encoding: str) -> None:
    lines = [
        "# Head",
        "",
        "words é 🎉 e\u0301\u2028x",
        "```py",
        "f()",
        "```",
        "\x0c",
        "| a | b |",
        "|---|---|",
        "def f(x): pass",
        "",
    ]
    text = line_end.join(lines * 30)
    content = cut(name, text.encode(encoding), SMALL)
    assert "".join(chunk.text for chunk in content.chunks) == text


def test_crlf_is_not_torn() -> None:
    content = cut("a.txt", "some words in a line\r\n" * 400)
    assert not any(chunk.text.startswith("\n") for chunk in content.chunks)


def test_lossy_text_says_so() -> None:
    content = cut("a.txt", b"plain words\n" * 6000 + b"caf\xe9 \x81\n")
    assert content.lossy
    assert content.encoding == "cp1252"


def test_the_same_bytes_give_the_same_chunks() -> None:
    text = "# A\n\nwords\n\n```c\nint x;\n```\n" * 20
    assert cut("a.md", text) == cut("b.md", text)


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(ValueError, match="tokenizer"):
        chunk_content(b"x", b"a.txt", ChunkSettings(tokenizer="gpt2"))


@pytest.mark.parametrize("size", [1, 7, 100])
@pytest.mark.parametrize("name", ["a.md", "a.py", "a.txt"])
def test_any_chunk_size_is_kept(name: str, size: int) -> None:
    cut(name, "# Head\n\ndef f(x):\n    return x\n\n" * 5, ChunkSettings(chunk_size=size, overlap=3))


@pytest.mark.parametrize("name", ["a.md", "a.js", "a.txt", "a.json"])
@pytest.mark.parametrize("text", ["x" * 3_000_000, "a b," * 700_000, '"\\n"' * 700_000, "é" * 2_000_000])
def test_one_endless_line(name: str, text: str) -> None:
    content = cut(name, text)
    assert len(content.chunks) <= 2 * len(text) // 2048 + 50
