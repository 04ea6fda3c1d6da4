"""Builds the hits of an answer from rows of the index and slices of live files.

Invariant: all text of a file is cut from the file's bytes after the check that they are those that were indexed.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, NotRequired, TypedDict

import msgspec

from livedex_indexing.hits.answer_json import absolute, rfc3339
from livedex_indexing.hits.hit import Explanation, Hit, Ranks, ScorePart
from livedex_indexing.hits.live_files import COPY, FileCopy, LiveFiles, Part, file_copy
from livedex_indexing.hits.snippet import Snippet, cut, in_fullest_line, line_span, matches_of_full_line
from livedex_indexing.hits.text_lines import CONTEXT_CHARS, BeyondPartError, Lines, byte_length
from livedex_indexing.model import KINDS, Kind
from livedex_indexing.path_text import display_path, path_b64
from livedex_indexing.query.filters import KIND_OF_PIPELINE, OF_CONTENT, ResolvedFilters
from livedex_indexing.query.highlight import Highlighter, Span
from livedex_indexing.query.query_terms import QueryTerm, match_any
from livedex_indexing.rank.placed import Placed
from livedex_indexing.rank.postings import first_chunks
from livedex_indexing.rank.score import WEIGHTS
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import CHUNK, ChunkRow, ContentRow, read_contents
from livedex_indexing.text.decoder import decode_slice
from livedex_indexing.text.plain_heading import plain_heading

ALSO_AT: Final = 20
_OF_PLACE: Final = [list(WEIGHTS).index(part) for part in ("typed", "called")]

_CHUNKS = f"SELECT {CHUNK} FROM chunks c WHERE c.id IN (SELECT value FROM json_each(?))"
_COPIES = f"""SELECT d.content_id, {COPY} FROM {OF_CONTENT}
              WHERE d.content_id IN (SELECT value FROM json_each(?)) AND {{}}
              ORDER BY (SELECT length(path) FROM roots WHERE id = d.root_id) + length(d.folder) + length(d.name),
              d.folder, d.name, d.root_id"""
_MATCHES = """SELECT count(*) FROM postings WHERE postings MATCH ? AND postings.rowid BETWEEN ? AND ? AND {}"""
_MATCHING = """SELECT rowid FROM postings WHERE postings MATCH ? AND postings.rowid BETWEEN ? AND ? AND {}
               AND +postings.rowid IN (SELECT value FROM json_each(?)) ORDER BY rowid"""


class Rows(NamedTuple):
    """All rows of the index that one page needs, read in the search's snapshot."""

    contents: dict[int, ContentRow]
    chunks: dict[int, ChunkRow]
    first_chunk: dict[int, int]
    copies: dict[int, list[FileCopy]]
    matches: dict[int, int]


class Style(NamedTuple):
    """How to build hits: the params of these names; ``matches``: a hit represents its file and counts the matches;
    ``line``: the line that was typed, with its file; 0 where none was."""

    max_snippet_chars: int
    context_lines: int
    explain: bool
    matches: bool
    line: int = 0


class _Marks(NamedTuple):
    """What finds in a text the matches of a query, and the place where it has the query as it was typed."""

    spans: Callable[[str], list[Span]]
    typed: Callable[[str], Span | None] = lambda _: None


class _FileFields(TypedDict):
    path: str
    path_b64: str | None
    root: str
    relative_path: str
    content_hash: str
    modified_at: str


class _ChunkFields(TypedDict):
    kind: Kind
    language: str | None
    heading: str | None
    symbol: str | None
    metadata: dict[str, Any]


class LineFields(TypedDict):
    """The place of the first match."""

    line: int
    column: int
    text: str


class _TextFields(LineFields):
    start_line: int
    end_line: int
    start_column: int
    start_byte: int
    end_byte: int
    snippet: str
    snippet_line: int
    snippet_byte: int
    highlights: list[Span]
    context_before: NotRequired[str]
    context_after: NotRequired[str]
    context_cut: NotRequired[bool | None]


class _OptionalFields(TypedDict, total=False):
    also_at: list[str]
    also_at_b64: list[str | None] | None
    also_at_total: int
    matches: int
    explain: Explanation


def read_rows(
    reader: Reader, page: Sequence[Placed], resolved: ResolvedFilters, counted: Sequence[QueryTerm] = ()
) -> Rows:
    """Read what the hits of a page need. ``counted``: count the chunks of each content that match one of the terms."""
    ids = {hit.content_id for hit in page}
    contents = read_contents(reader, ids)
    bare = {hit.content_id for hit in page if hit.chunk_id is None}
    first = first_chunks(reader, bare, resolved)
    wanted = {*first, *(hit.chunk_id for hit in page if hit.chunk_id is not None)}
    chunks = {row[0]: ChunkRow(*row) for row in reader.rows_of(_CHUNKS, wanted)}
    copies: dict[int, list[FileCopy]] = {}
    for content_id, *values in reader.rows_of(_COPIES.format(resolved.files.sql), ids, resolved.files.values):
        copies.setdefault(content_id, []).append(file_copy(values))
    matches = _counts(reader, counted, contents, resolved) if counted else {}
    return Rows(contents, chunks, {chunks[i].content_id: i for i in first}, copies, matches)


class HitMaker:
    """Builds hits from the rows of a page."""

    def __init__(
        self, rows: Rows, roots: Mapping[int, bytes], live: LiveFiles, highlighter: Highlighter, style: Style
    ) -> None:
        self._rows = rows
        self._roots = roots
        self._live = live
        self._highlighter = highlighter
        self._style = style

    def make(self, placed: Placed) -> Hit | None:
        """Build one hit; None if no copy of the file is as it was indexed."""
        content = self._rows.contents[placed.content_id]
        copies = _best_first(self._rows.copies.get(content.id, []), placed.file_id)
        made = self._read(content, placed, copies)
        if made is None:
            return None
        copy, hit = made
        changes: _OptionalFields = {}
        others = [other for other in copies if other.file_id != copy.file_id]
        if others:
            paths = [absolute(self._roots, other) for other in others[:ALSO_AT]]
            encoded = [path_b64(path) for path in paths]
            changes["also_at"] = [display_path(path) for path in paths]
            changes["also_at_b64"] = encoded if any(encoded) else None
            changes["also_at_total"] = len(others)
        if self._style.matches:
            changes["matches"] = self._rows.matches.get(content.id, 0)
        if self._style.explain:
            named = zip(WEIGHTS, placed.parts, strict=False)  # a place after the ranked ones has no parts
            parts = [ScorePart(name, value) for name, value in named if value]
            ranks = None if placed.ranks is None else Ranks(*placed.ranks)
            changes["explain"] = Explanation(placed.score, parts, ranks)
        return msgspec.structs.replace(hit, **changes) if changes else hit

    def _read(self, content: ContentRow, placed: Placed, copies: Sequence[FileCopy]) -> tuple[FileCopy, Hit] | None:
        """Return the copy that was read, and the hit of the chunk (the first one if ``placed`` names none); None if no
        copy has the content any more."""
        chunk_id = self._rows.first_chunk.get(content.id) if placed.chunk_id is None else placed.chunk_id
        if chunk_id is None:
            read = self._live.read(content.id, content.hash, copies)
            return None if read is None else (read[0], self._empty(read[0], content, placed.score))
        chunk = self._rows.chunks[chunk_id]
        marks = self._marks(placed, chunk)
        found = self._live.part(content.id, content.hash, copies, chunk.start_byte, chunk.end_byte)
        if found is None:
            return None
        try:
            fields, place = self._cut(content, chunk, found[1], marks)
        except BeyondPartError:
            read = self._live.read(content.id, content.hash, copies)
            if read is None:
                return None
            found = read[0], Part(read[1], 0, len(read[1]))
            fields, place = self._cut(content, chunk, found[1], marks)
        copy = found[0]
        own = chunk_fields(content, chunk, place)
        return copy, Hit(**file_fields(copy, content, self._roots), **own, **fields, score=placed.score)

    def _marks(self, placed: Placed, chunk: ChunkRow) -> _Marks:
        """Return what finds the matches in a chunk: where the chunk comes first for the typed line, that line."""
        if placed.chunk_id is None:
            return _Marks(lambda _: [])
        line = self._style.line
        is_place = placed.parts and all(placed.parts[part] for part in _OF_PLACE)
        if is_place and chunk.start_line <= line <= chunk.end_line:
            return _Marks(lambda text: [line_span(text, line - chunk.start_line)])
        return _Marks(self._highlighter.spans, partial(self._highlighter.typed, language=chunk.language or ""))

    def _cut(self, content: ContentRow, chunk: ChunkRow, part: Part, marks: _Marks) -> tuple[_TextFields, int]:
        """Return the fields of a hit that come from the file, and the byte to which its line and column point. Raises
        BeyondPartError if ``part`` is too small."""
        text = decode_slice(part.data, content.encoding, chunk.start_byte - part.start, chunk.end_byte - part.start)
        meant = marks.typed(text)
        spans = marks.spans(text) or ([] if meant is None else [meant])  # a name without its owner
        shown_span = matches_of_full_line(text, spans) if meant is None else meant
        snippet = cut(text, spans, self._style.max_snippet_chars, shown_span)
        at = chunk.start_byte + byte_length(text[: snippet.start], content.encoding)
        lines = Lines(part.data, content.encoding, part.start, part.size)
        shown = text[snippet.start : snippet.end]
        place = _place(shown, snippet, meant, marks)
        byte = at + lines.bytes_of(shown[:place])
        first = _first_line(lines, shown, place, byte, chunk.start_line + snippet.line)
        fields: _TextFields = {
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "start_column": lines.column(chunk.start_byte),
            "start_byte": chunk.start_byte,
            "end_byte": chunk.end_byte,
            "snippet": shown,
            "snippet_line": chunk.start_line + snippet.line,
            "snippet_byte": at,
            "highlights": snippet.highlights,
            "line": first["line"],
            "column": first["column"],
            "text": first["text"],
        }
        if self._style.context_lines:
            end = at + byte_length(shown, content.encoding)
            fields["context_before"] = lines.before(at, self._style.context_lines)
            fields["context_after"] = lines.after(end, self._style.context_lines)
            fields["context_cut"] = lines.is_cut or None
        return fields, byte

    def _empty(self, copy: FileCopy, content: ContentRow, score: float) -> Hit:
        """Return the hit of a file without chunks."""
        return Hit(
            **file_fields(copy, content, self._roots),
            kind=KIND_OF_PIPELINE.get(content.pipeline, "plain"), language=content.language, heading=None, symbol=None,
            start_line=1, end_line=1, start_column=1, start_byte=0, end_byte=0, snippet="", snippet_line=1,
            snippet_byte=0, highlights=[], line=1, column=1, text="", metadata=content.metadata(), score=score,
        )  # fmt: skip


def file_fields(copy: FileCopy, content: ContentRow, roots: Mapping[int, bytes]) -> _FileFields:
    """Return the fields of a hit that describe its file."""
    path = absolute(roots, copy)
    return {
        "path": display_path(path),
        "path_b64": path_b64(path),
        "root": display_path(roots[copy.root_id]),
        "relative_path": display_path(copy.path),
        "content_hash": content.hash.hex(),
        "modified_at": rfc3339(copy.state.mtime_ns),
    }


def chunk_fields(content: ContentRow, chunk: ChunkRow, byte: int | None = None) -> _ChunkFields:
    """Return the fields of a hit that describe its chunk. ``byte``: the place of the hit, if not all of the chunk."""
    place = chunk.start_byte if byte is None else byte
    return {
        "kind": KINDS[chunk.kind],
        "language": chunk.language,
        "heading": None if chunk.heading is None else plain_heading(chunk.heading),
        "symbol": chunk.symbol,
        "metadata": content.metadata(place) | (json.loads(chunk.metadata) if chunk.metadata else {}),
    }


def first_line(number: int, ahead: str, whole: str | None, shown: str) -> LineFields:
    """Return the place of a match. ``ahead``: the line before it; ``whole``: the line, None if it is too long: then
    ``shown`` is the part of it to give."""
    return {
        "line": number,
        "column": len(ahead.encode("utf-8", "replace")) + 1,
        "text": shown if whole is None or len(whole) > CONTEXT_CHARS else whole,
    }


def _first_line(lines: Lines, shown: str, first: int, byte: int, number: int) -> LineFields:
    """Return the place at ``first`` in a snippet that begins in line ``number``, at ``byte`` of the file."""
    ahead, whole = lines.around(byte)
    start = shown.rfind("\n", 0, first) + 1
    in_snippet = shown[start:].partition("\n")[0].removesuffix("\r")
    return first_line(number + shown.count("\n", 0, first), ahead, whole, in_snippet)


def _place(shown: str, snippet: Snippet, meant: Span | None, marks: _Marks) -> int:
    """Return the place to show first: of ``meant``, where the chunk has the query as it was typed; if the snippet lacks
    it, where that has it, else its line with most of the matched words."""
    if not snippet.highlights:
        return 0
    if meant is not None and snippet.start <= meant[0] and meant[1] <= snippet.end:
        return meant[0] - snippet.start
    typed = marks.typed(shown)
    return in_fullest_line(shown, snippet.highlights) if typed is None else typed[0]


def _best_first(copies: Sequence[FileCopy], file_id: int | None) -> list[FileCopy]:
    """Return the copy that ranking chose, then the others by the length of their path."""
    return sorted(copies, key=lambda copy: copy.file_id != file_id)


def _counts(
    reader: Reader, terms: Sequence[QueryTerm], contents: Mapping[int, ContentRow], resolved: ResolvedFilters
) -> dict[int, int]:
    """Count the matching chunks of each content. With a beginning, one statement counts for all contents: FTS5 would
    gather the places of all words that begin so for each."""
    sql, values = resolved.rows
    match = match_any(terms)
    spans = {content: range(row.first_chunk, row.first_chunk + row.chunks) for content, row in contents.items()}
    if not any(term.prefix for term in terms):
        statement = _MATCHES.format(sql)
        return {
            content: int(reader.one(statement, (match, span.start, span.stop - 1, *values)))
            for content, span in spans.items()
        }
    ids = sorted(chunk_id for span in spans.values() for chunk_id in span)
    found: list[int] = []
    if ids:
        rows = reader.rows(_MATCHING.format(sql), (match, ids[0], ids[-1], *values, id_list(ids)))
        found = [row for (row,) in rows]
    return {content: bisect_left(found, span.stop) - bisect_left(found, span.start) for content, span in spans.items()}
