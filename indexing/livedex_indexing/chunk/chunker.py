"""Cut one file into searchable chunks: bytes in, chunks with their locations and terms out.

Invariant: the chunks tile the decoded text, whichever component cut it. Lines and bytes refer to the file on disk. The
same bytes, name and settings give the same chunks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from chonkie.types import Chunk as Piece
from chonkie.types import Document

from livedex_indexing.chunk import language_detection, rst_headings
from livedex_indexing.chunk.chunk_plan import HEAD_BYTES, ChunkSettings, Plan, choose, document_plan
from livedex_indexing.chunk.components import BlockChef, BlockDocument, ContextRefinery, SyntaxChunker
from livedex_indexing.chunk.markdown import Block, Heading
from livedex_indexing.chunk.recursive_chunker import TextChunker
from livedex_indexing.chunk.recursive_chunker import piece as piece_at
from livedex_indexing.chunk.tiling import Tile, tile
from livedex_indexing.model import Chunk, ChunkedContent, ChunkTerms, Kind
from livedex_indexing.text import decoder
from livedex_indexing.text.name_beginnings import outline_words
from livedex_indexing.text.terms import hidden_words

if TYPE_CHECKING:
    from livedex_indexing.plugins import Span

LONGEST = 32_768  # characters of a chunk, whatever a plugin returns: the largest ``chunk_size``


class Chef(Protocol):
    """The methods that a chonkie chef must have."""

    def parse(self, text: str) -> Document: ...


class Chunker(Protocol):
    """The methods that a chonkie chunker must have."""

    def chunk_document(self, document: Document) -> Document: ...


class Refinery(Protocol):
    """The methods that a chonkie refinery must have."""

    def refine(self, chunks: list[Piece]) -> list[Piece]: ...


def chunk_content(data: bytes, name: bytes, settings: ChunkSettings, *, is_converted: bool = False) -> ChunkedContent:
    """Return the chunks of a file with these bytes and this name (its last path component).

    ``is_converted``: the bytes are the Markdown that a parser made of the file.
    """
    if settings.tokenizer != "character":
        raise ValueError(f"unknown tokenizer {settings.tokenizer!r}")
    plan = document_plan(name, "", settings) if is_converted else choose(name, data[:HEAD_BYTES], settings)
    suffix = next(reversed(language_detection.suffixes(name)), b"").decode("utf-8", "replace")
    return _pipelines(settings.chunk_size, settings.overlap).cut(data, plan, suffix)


class Pipelines:
    """The three pipelines: ``markdown`` (chef, text chunker), ``code`` (code chunker), ``plain`` (text chunker).

    Each ends with the refinery. Any component from chonkie, or one with the same interface, may replace a default.
    """

    def __init__(
        self,
        chunk_size: int = 2048,
        overlap: int = 128,
        *,
        chef: Chef | None = None,
        text: Chunker | None = None,
        code: Callable[[str | None], Chunker] | None = None,
        refinery: Refinery | None = None,
    ) -> None:
        """Build the pipelines. ``code`` returns the chunker for a language."""
        self._chunk_size = chunk_size
        self._chef = chef or BlockChef()
        self._text = text or TextChunker(chunk_size)
        self._code = lru_cache(maxsize=None)(code or (lambda language: SyntaxChunker(language, chunk_size)))
        self._refinery = refinery or ContextRefinery(overlap)

    def cut(self, data: bytes, plan: Plan, suffix: str = "") -> ChunkedContent:
        """Return the chunks of a file's bytes under a plan. ``suffix``, with its dot: for the pipeline of a plugin."""
        decoded = decoder.decode(data, plan.encoding)
        if plan.pipeline == "markdown":
            document = self._chef.parse(decoded.text)
        else:
            document = Document("", decoded.text)  # no id: it would be random, and no code reads it
        tiles, plugin_fault = self._tiles(document, decoded.text, plan, suffix)
        self._refinery.refine([one.piece for one in tiles])
        frontmatter = document.frontmatter if isinstance(document, BlockDocument) else None
        fault = document.frontmatter_fault if isinstance(document, BlockDocument) else None
        chunks, terms = _Describer(decoded, plan, document, frontmatter).describe(tiles, len(data))
        return ChunkedContent(
            pipeline=plan.pipeline,
            language=plan.language,
            encoding=decoded.encoding,
            lossy=decoded.lossy,
            chunks=chunks,
            terms=terms,
            frontmatter=frontmatter,
            frontmatter_fault=fault,
            fallback=next((chunk.metadata["fallback"] for chunk in chunks if "fallback" in chunk.metadata), None),
            plugin_fault=plugin_fault,
        )

    def _tiles(self, document: Document, text: str, plan: Plan, suffix: str) -> tuple[list[Tile], str | None]:
        """Return the tiles, and why the plan's plugin did not make them, None if it did or is not wanted."""
        fault = None
        if plan.plugin is not None and text:
            from livedex_indexing.chunk.plugin_pipeline import PipelineFailed, cut  # few have one, and it loads much

            try:
                spans = cut(plan.plugin, text, suffix)
                return self._tiles_of(spans, text, plan), None
            except PipelineFailed as failed:
                fault = str(failed)
        chunker = self._code(plan.language) if plan.pipeline == "code" else self._text
        pieces = chunker.chunk_document(document).chunks if text else []
        if fault is not None:
            for one in pieces:
                one.metadata = {**one.metadata, "fallback": "pipeline"}
        return tile(pieces, text, self._chunk_size), fault

    def _tiles_of(self, spans: list[Span], text: str, plan: Plan) -> list[Tile]:
        """Return the spans of a plugin as tiles, with the names of the definitions in them."""
        pieces = [piece_at(text[one.start : one.end], one.start, {"span": one}) for one in spans if one.end > one.start]
        short = [part for one in pieces for part in _bounded(one)]
        tiles = tile(short, text, self._chunk_size)
        if plan.pipeline == "code":
            chunker = self._code(plan.language)
            if isinstance(chunker, SyntaxChunker):
                chunker.name([one.piece for one in tiles], text)
        return tiles


class _Describer:
    """Describe each tile: its kind, location, headings and terms."""

    def __init__(
        self, decoded: decoder.Decoded, plan: Plan, document: Document, frontmatter: dict[str, Any] | None
    ) -> None:
        self._decoded = decoded
        self._plan = plan
        self._blocks: list[Block] = document.blocks if isinstance(document, BlockDocument) else []
        self._headings: list[Heading] = document.headings if isinstance(document, BlockDocument) else []
        if plan.pipeline == "plain" and plan.language in rst_headings.LANGUAGES:
            self._headings = rst_headings.headings(decoded.text)
        self._title = _title(frontmatter, self._headings)
        self._kind: Kind = {"markdown": "markdown_text", "code": "code"}.get(plan.pipeline, "plain")  # type: ignore[assignment]

    def describe(self, tiles: list[Tile], size: int) -> tuple[list[Chunk], list[ChunkTerms]]:
        ends = decoder.byte_ends(self._decoded, [one.piece.text for one in tiles], size)
        chunks: list[Chunk] = []
        terms: list[ChunkTerms] = []
        line, start_byte = 1, self._decoded.bom_bytes
        block = above = 0
        for ordinal, (piece, anchor) in enumerate(tiles):
            text = piece.text
            while block + 1 < len(self._blocks) and self._blocks[block].end <= anchor:
                block += 1
            while above < len(self._headings) and self._headings[above].start <= anchor:
                above += 1
            inside = above
            while inside < len(self._headings) and self._headings[inside].start < piece.end_index:
                inside += 1
            kind, language, metadata = self._nature(piece, block)
            newlines = text.count("\n")
            chunks.append(
                Chunk(
                    ordinal=ordinal,
                    text=text,
                    context=piece.context or "",
                    kind=kind,
                    language=language,
                    heading=self._heading(above, inside),
                    symbol=piece.metadata.get("symbol"),
                    start_line=line,
                    end_line=line + newlines - text.endswith("\n"),
                    start_byte=start_byte,
                    end_byte=ends[ordinal],
                    metadata=metadata,
                )
            )
            names = piece.metadata.get("names")
            terms.append(
                ChunkTerms(
                    ids=hidden_words(text),
                    heads=self._heads(above, inside) if self._headings or self._title else "",
                    symbols=outline_words(names) if names else "",
                )
            )
            line += newlines
            start_byte = ends[ordinal]
            above = inside
        return chunks, terms

    def _nature(self, piece: Piece, block: int) -> tuple[Kind, str | None, dict[str, Any]]:
        fallback = piece.metadata.get("fallback")
        span = piece.metadata.get("span")
        if span is not None:
            kind = span.kind or (self._blocks[block].kind if self._blocks else self._kind)
            return kind, self._plan.language, dict(span.metadata)
        if self._blocks:
            found = self._blocks[block]
            fallback = fallback or found.fallback
            metadata = {"alt": found.alt, "src": found.src} if found.kind == "markdown_image" else {}
            metadata |= {"fallback": fallback} if fallback else {}
            return found.kind, found.language if found.kind == "markdown_code" else self._plan.language, metadata
        return self._kind, self._plan.language, {"fallback": fallback} if fallback else {}

    def _heading(self, above: int, inside: int) -> str | None:
        if above:
            return self._headings[above - 1].chain
        return self._headings[0].chain if inside > above else None

    def _heads(self, above: int, inside: int) -> str:
        parts = [self._title] if self._title else []
        if above:
            parts.append(self._headings[above - 1].chain.replace(" > ", "\n"))
        parts += [heading.title for heading in self._headings[above:inside]]
        return " ".join(dict.fromkeys("\n".join(parts).split("\n")))


def _title(frontmatter: dict[str, Any] | None, headings: list[Heading]) -> str | None:
    """Return a document's title: its first heading of level 1, else the title in its frontmatter, else None."""
    first = next((heading.title for heading in headings if heading.level == 1), None)
    if first is None and frontmatter is not None and isinstance(frontmatter.get("title"), str):
        return str(frontmatter["title"])
    return first


def _bounded(one: Piece) -> list[Piece]:
    """Return the piece, or its parts where it is longer than any chunk of livedex may be."""
    if len(one.text) <= LONGEST:
        return [one]
    parts = TextChunker(LONGEST).chunk(one.text)
    return [piece_at(part.text, one.start_index + part.start_index, dict(one.metadata)) for part in parts]


@lru_cache(maxsize=4)
def _pipelines(chunk_size: int, overlap: int) -> Pipelines:
    return Pipelines(chunk_size, overlap)
