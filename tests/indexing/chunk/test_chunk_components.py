"""Our components in chonkie's own pipeline, and chonkie's components in ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from chonkie import OverlapRefinery, Pipeline, RecursiveChunker, TextChef, TokenChunker
from chonkie.types import Chunk as Piece
from chonkie.types import Document

from livedex_indexing.chunk.chunk_plan import ChunkSettings, choose
from livedex_indexing.chunk.chunker import Chunker, Pipelines
from livedex_indexing.chunk.components import BlockChef, BlockDocument, ContextRefinery, SyntaxChunker
from livedex_indexing.chunk.recursive_chunker import TextChunker
from livedex_indexing.chunk.tiling import tile
from livedex_indexing.model import ChunkedContent

MARKDOWN = (
    "# Top\n\nWords é here. "
    + "More words. " * 30
    + "\n\n```python\nx = 1\n```\n\na | b\n--|--\n1 | 2\n\n![c](d.png)\n"
)
SOURCE = "class A:\n" + "".join(f"    def m{i}(self):\n        return 'é'\n\n" for i in range(20))


def run(pipeline: Pipeline, text: str) -> Document:
    document = pipeline.run(texts=text)
    assert isinstance(document, Document)
    for chunk in document.chunks:
        assert text[chunk.start_index : chunk.end_index] == chunk.text
    assert "".join(chunk.text for chunk in document.chunks) == text
    return document


def test_ours_in_a_stock_pipeline() -> None:
    document = run(
        Pipeline()
        .process_with("livedex_markdown")
        .chunk_with("livedex_text", chunk_size=128)
        .refine_with("livedex_overlap", context_size=16),
        MARKDOWN,
    )
    assert isinstance(document, BlockDocument)
    assert [code.language for code in document.code] == ["python"]
    assert [(image.alias, image.content) for image in document.images] == [("c", "d.png")]
    assert [table.content for table in document.tables] == ["a | b\n--|--\n1 | 2\n"]
    assert document.chunks[3].context == MARKDOWN[: document.chunks[3].start_index][-16:]


def test_our_code_chunker_in_a_stock_pipeline() -> None:
    document = run(Pipeline().chunk_with("livedex_code", language="python", chunk_size=200), SOURCE)
    assert document.chunks[3].metadata["symbol"].startswith("A.m")


def test_our_chef_with_stock_chunker_and_refinery() -> None:
    pipeline = (
        Pipeline()
        .process_with("livedex_markdown")
        .chunk_with("recursive", tokenizer="character", chunk_size=128)
        .refine_with("overlap", tokenizer="character", context_size=16, method="prefix", merge=False)
    )
    document = run(pipeline, MARKDOWN)
    assert document.chunks[1].context == document.chunks[0].text[-16:]


def test_a_chef_reads_files_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("---\nk: v\n---\r\n# é\r\n".encode("utf-16"))
    document = BlockChef().process(path)
    assert document.content == "---\nk: v\n---\r\n# é\r\n"
    assert document.metadata == {"frontmatter": {"k": "v"}, "filename": "a.md"}
    assert document.chunks[1].metadata == {"kind": "markdown_text", "heading": "é"}


def test_a_refinery_wants_a_size() -> None:
    with pytest.raises(ValueError, match="negative"):
        ContextRefinery(-1)


def exact(content: ChunkedContent, text: str) -> None:
    assert "".join(chunk.text for chunk in content.chunks) == text


STOCK_CHUNKERS = [
    RecursiveChunker(tokenizer="character", chunk_size=64),
    RecursiveChunker(tokenizer="word", chunk_size=8),  # loses a blank at each forced cut
    TokenChunker(tokenizer="character", chunk_size=64, chunk_overlap=16),  # its chunks overlap
]


@pytest.mark.parametrize("chunker", STOCK_CHUNKERS)
def test_a_stock_chunker_in_our_place(chunker: Chunker) -> None:
    pipelines = Pipelines(64, 16, text=chunker, code=lambda _language: chunker)
    for name, text in ((b"a.md", MARKDOWN), (b"a.txt", MARKDOWN), (b"a.py", SOURCE)):
        content = pipelines.cut(text.encode(), choose(name, b"", ChunkSettings()))
        exact(content, text)
    content = pipelines.cut(MARKDOWN.encode(), choose(b"a.md", b"", ChunkSettings()))
    assert {"markdown_text", "markdown_code", "markdown_table", "markdown_image"} == {
        one.kind for one in content.chunks
    }


def test_a_stock_refinery_in_our_place() -> None:
    stock = OverlapRefinery(tokenizer="character", context_size=16, method="prefix", merge=False)
    content = Pipelines(64, 16, refinery=stock).cut(MARKDOWN.encode(), choose(b"a.txt", b"", ChunkSettings()))
    exact(content, MARKDOWN)
    assert content.chunks[1].context == content.chunks[0].text[-16:]


def test_a_stock_chef_in_our_place() -> None:
    content = Pipelines(64, 16, chef=TextChef()).cut(MARKDOWN.encode(), choose(b"a.md", b"", ChunkSettings()))
    exact(content, MARKDOWN)
    assert {one.kind for one in content.chunks} == {"markdown_text"}


def piece(start: int, end: int) -> Piece:
    return Piece(text="?", start_index=start, end_index=end)


@pytest.mark.parametrize(
    ("spans", "tiles"),
    [
        ([], ["abc  def"]),
        ([(0, 3), (5, 8)], ["abc  ", "def"]),
        ([(5, 8), (0, 3)], ["abc  ", "def"]),
        ([(0, 6), (2, 8)], ["abc  d", "ef"]),
        ([(0, 8), (2, 5)], ["abc  def"]),
        ([(2, 99)], ["ab", "c  def"]),
        ([(3, 5), (5, 8)], ["abc  ", "def"]),
        ([(4, 4)], ["abc  def"]),
    ],
)
def test_tiles_cover_whatever_they_are_given(spans: list[tuple[int, int]], tiles: list[str]) -> None:
    found = tile([piece(*span) for span in spans], "abc  def", 64)
    assert [one.piece.text for one in found] == tiles


def test_blanks_stay_apart_where_nothing_has_room_for_them() -> None:
    text = "a" * 10 + " " * 30 + "b" * 10
    first, *between, last = (one.piece.text for one in tile(TextChunker(10).chunk(text), text, 10))
    assert (first, "".join(between), last) == ("a" * 10, " " * 30, "b" * 10)


def test_a_syntax_chunker_of_nothing() -> None:
    assert SyntaxChunker("python").chunk("") == []
    assert TextChunker(10).chunk("") == []
