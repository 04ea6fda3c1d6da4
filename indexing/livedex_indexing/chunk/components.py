"""livedex's own parts of a chonkie pipeline: a chef, a code chunker and an overlap refinery.

Invariant: each component has chonkie's interface and exact character offsets, so that it works in a stock
``chonkie.Pipeline``, and a stock component works in its place. The registered names are ``livedex_markdown``,
``livedex_code``, ``livedex_overlap`` (and ``livedex_text``, see ``livedex_indexing.chunk.recursive_chunker``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from typing import Any

from chonkie.chef.base import BaseChef
from chonkie.chunker.base import BaseChunker
from chonkie.pipeline import chef, chunker, refinery
from chonkie.refinery.base import BaseRefinery
from chonkie.types import Chunk, MarkdownCode, MarkdownDocument, MarkdownImage, MarkdownTable

from livedex_indexing.chunk import frontmatter, markdown, syntax_chunker
from livedex_indexing.chunk.grammars import grammar
from livedex_indexing.chunk.line_definitions import definitions_by_line
from livedex_indexing.chunk.recursive_chunker import CharacterTokenizer, TextChunker, piece
from livedex_indexing.chunk.symbols import definitions, outline
from livedex_indexing.text import decoder

_TEXT = re.compile(rb"\S")
NO_GRAMMAR = "no_grammar"


@dataclass
class BlockDocument(MarkdownDocument):
    """A Markdown text whose ``chunks`` are all its blocks, of every kind; they tile the text.

    A block's metadata has ``kind``, ``heading`` and, if they apply, ``language``, ``alt``, ``src``.
    """

    blocks: list[markdown.Block] = field(default_factory=list)
    headings: list[markdown.Heading] = field(default_factory=list)
    frontmatter: dict[str, Any] | None = None
    frontmatter_fault: str | None = None


@chef("livedex_markdown")
class BlockChef(BaseChef):
    """A replacement for chonkie's MarkdownChef: linear in time, without lost or duplicate blocks."""

    def parse(self, text: str) -> BlockDocument:
        front = frontmatter.read(text)
        blocks, headings = markdown.blocks(text, front.end)
        if front.end:
            blocks.insert(0, markdown.Block("markdown_text", 0, front.end))
        document = BlockDocument(
            content=text,
            blocks=blocks,
            headings=headings,
            frontmatter=front.values,
            frontmatter_fault=front.fault,
        )
        if front.values is not None:
            document.metadata["frontmatter"] = front.values
        at, heading = 0, None
        for block in blocks:
            while at < len(headings) and headings[at].start <= block.start:
                heading = headings[at].chain
                at += 1
            _add(document, block, heading)
        return document

    def process(self, path: str | os.PathLike[str]) -> BlockDocument:
        document = self.parse(decoder.decode(Path(path).read_bytes()).text)
        self._set_source_filename(document, path)
        return document


def _add(document: BlockDocument, block: markdown.Block, heading: str | None) -> None:
    kind, start, end, language, alt, src, _ = block
    text = document.content[start:end]
    metadata: dict[str, Any] = {"kind": kind, "heading": heading}
    if kind == "markdown_code":
        metadata["language"] = language
        document.code.append(MarkdownCode(content=text, language=language, start_index=start, end_index=end))
    elif kind == "markdown_table":
        document.tables.append(MarkdownTable(content=text, start_index=start, end_index=end))
    elif kind == "markdown_image":
        metadata.update(alt=alt, src=src)
        image = MarkdownImage(alias=alt or "", content=src or "", start_index=start, end_index=end)
        document.images.append(image)
    document.chunks.append(piece(text, start, metadata))


@chunker("livedex_code")
class SyntaxChunker(BaseChunker):
    """A replacement for chonkie's CodeChunker: installed grammars only, exact offsets, bounded work.

    A chunk's metadata has ``kind``, ``language``, ``symbol``, ``names`` (of the definitions around and inside it) and,
    if the text was cut without its syntax, ``fallback`` with the reason: ``no_grammar``, ``bytes``, ``nodes``,
    ``depth`` or ``work``.
    """

    def __init__(
        self, language: str | None = None, chunk_size: int = 2048, limits: syntax_chunker.Limits | None = None
    ) -> None:
        super().__init__(tokenizer=CharacterTokenizer())
        self.language = language
        self.chunk_size = chunk_size
        self.limits = limits if limits is not None else syntax_chunker.Limits()
        self._text = TextChunker(chunk_size)

    def chunk(self, text: str) -> list[Chunk]:
        """Return chunks with character offsets; none for an empty text."""
        if not text:
            return []
        if self.language is None or grammar(self.language) is None:
            return self._without_syntax(text, NO_GRAMMAR)
        if len(text) > self.limits.max_bytes:
            return self._without_syntax(text, "bytes")
        data = text.encode("utf-8")
        try:
            root = syntax_chunker.parse(self.language, data, self.limits, self.chunk_size).root_node
        except syntax_chunker.TooMuch as limit:
            return self._without_syntax(text, str(limit))
        ends = syntax_chunker.cut(root, len(data), self.chunk_size, syntax_chunker.glue_kinds(self.language))
        pieces = self._pieces(data, ends)
        found = definitions(self.language, root, data)
        lengths = map(len, pieces) if len(data) == len(text) else (len(part.encode()) for part in pieces)
        edges = list(accumulate(lengths, initial=0))
        outlines = outline(found, edges, _first_lines(data, edges))
        chunks: list[Chunk] = []
        at = 0
        for part, (symbol, names) in zip(pieces, outlines, strict=True):
            metadata = {"kind": "code", "language": self.language, "symbol": symbol, "names": names}
            chunks.append(piece(part, at, metadata))
            at += len(part)
        return chunks

    def name(self, pieces: list[Chunk], text: str) -> None:
        """Set ``symbol`` and ``names`` of pieces that tile the text, whoever cut it. Without syntax, do nothing."""
        data = text.encode("utf-8")
        if self.language is None or grammar(self.language) is None or len(text) > self.limits.max_bytes:
            return
        try:
            root = syntax_chunker.parse(self.language, data, self.limits, self.chunk_size).root_node
        except syntax_chunker.TooMuch:
            return
        edges = list(accumulate((len(one.text.encode()) for one in pieces), initial=0))
        outlines = outline(definitions(self.language, root, data), edges, _first_lines(data, edges))
        for one, (symbol, names) in zip(pieces, outlines, strict=True):
            one.metadata = {**one.metadata, "symbol": symbol, "names": names}

    def _pieces(self, data: bytes, ends: list[int]) -> list[str]:
        """Return the text of each piece. Cut a token longer than a chunk as text."""
        pieces: list[str] = []
        start = 0
        for cut in ends:
            line = data.rfind(b"\n", start, cut) + 1
            indented = line > start and cut != len(data) and data[line:cut].isspace()
            end = line if indented else cut  # the indentation stays with its line
            if end <= start:
                continue
            while data.startswith(b"\n", end) and end - start < self.chunk_size:
                end += 1  # a blank line stays with the line above it
            part = data[start:end].decode("utf-8")
            if len(part) <= self.chunk_size:
                pieces.append(part)
            else:
                pieces += [chunk.text for chunk in self._text.chunk(part)]
            start = end
        return pieces

    def _without_syntax(self, text: str, reason: str) -> list[Chunk]:
        """Cut code as text; name its definitions if their lines tell them."""
        chunks = self._text.chunk(text)
        found = definitions_by_line(self.language or "", text)
        outlines: Iterable[tuple[str | None, list[str]]] = repeat((None, []))
        if found:
            data = text.encode()
            edges = list(accumulate((len(chunk.text.encode()) for chunk in chunks), initial=0))
            outlines = outline(found, edges, _first_lines(data, edges))
        for chunk, (symbol, names) in zip(chunks, outlines, strict=False):
            chunk.metadata = {
                "kind": "code", "language": self.language, "symbol": symbol, "names": names, "fallback": reason,
            }  # fmt: skip
        return chunks


def _first_lines(data: bytes, edges: list[int]) -> list[int]:
    """Return the end of the first non-blank line of each piece between two edges."""
    found: list[int] = []
    for start, end in pairwise(edges):
        text = _TEXT.search(data, start, end)
        line = data.find(b"\n", text.start() if text else start, end)
        found.append(line if line >= 0 else end)
    return found


@refinery("livedex_overlap")
class ContextRefinery(BaseRefinery):
    """A replacement for chonkie's OverlapRefinery(method="prefix", merge=False) without its cache.

    A chunk's ``context`` is the ``context_size`` characters before it, even if the previous chunk is shorter.
    """

    def __init__(self, context_size: int = 128) -> None:
        if context_size < 0:
            raise ValueError("context_size must not be negative")
        self.context_size = context_size

    def refine(self, chunks: list[Chunk]) -> list[Chunk]:
        before, size = "", self.context_size
        for chunk in chunks:
            chunk.context = before
            before = (before + chunk.text)[-size:] if size else ""
        return chunks
