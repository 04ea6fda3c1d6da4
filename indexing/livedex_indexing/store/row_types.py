"""Rows of contents and chunks as searches read them: which columns are selected, and their names.

Invariant: the fields of each class are the columns of its constant, in that order.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Collection
from typing import Any, NamedTuple

from livedex_indexing.store.read_pool import Reader

CONTENT = """t.id, t.hash, t.encoding, t.pipeline, t.first_chunk, t.chunks, t.lossy, t.fallback, t.frontmatter,
             (SELECT name FROM languages WHERE id = t.language), t.parsed_by, t.pages"""
CHUNK = """c.id, c.content_id, c.kind, (SELECT name FROM languages WHERE id = c.language), c.start_byte, c.end_byte,
           c.start_line, c.end_line, c.context_chars, c.heading, c.symbol, c.metadata"""
_CONTENTS = f"SELECT {CONTENT} FROM contents t WHERE t.id IN (SELECT value FROM json_each(?))"


class ContentRow(NamedTuple):
    """A row selected as ``CONTENT``."""

    id: int
    hash: bytes
    encoding: str
    pipeline: str
    first_chunk: int
    chunks: int
    lossy: int
    fallback: str | None
    frontmatter: str | None
    language: str | None
    parsed_by: str | None
    pages: str | None

    def metadata(self, byte: int = 0) -> dict[str, Any]:
        """The metadata of a place in the content; all of it but the page is that of every place."""
        found: dict[str, Any] = {}
        if self.frontmatter is not None:
            found["frontmatter"] = json.loads(self.frontmatter)
        if self.encoding != "utf-8":
            found["encoding"] = self.encoding
        if self.lossy:
            found["lossy"] = True
        if self.fallback is not None:
            found["fallback"] = self.fallback
        if self.parsed_by is not None:
            found["parsed_by"] = self.parsed_by
        if self.pages is not None:
            found["page"] = max(1, bisect_right(json.loads(self.pages), byte))
        return found


class ChunkRow(NamedTuple):
    """A row selected as ``CHUNK``."""

    id: int
    content_id: int
    kind: int
    language: str | None
    start_byte: int
    end_byte: int
    start_line: int
    end_line: int
    context_chars: int
    heading: str | None
    symbol: str | None
    metadata: str | None


def read_contents(reader: Reader, ids: Collection[int]) -> dict[int, ContentRow]:
    """Return the contents with these ids, by id."""
    return {row[0]: ContentRow(*row) for row in reader.rows_of(_CONTENTS, ids)}
