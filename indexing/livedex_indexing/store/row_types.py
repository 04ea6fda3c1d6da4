"""Rows of contents and chunks as searches read them: which columns are selected, and their names.

Invariant: the fields of each class are the columns of its constant, in that order.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

CONTENT = """t.id, t.hash, t.encoding, t.pipeline, t.first_chunk, t.chunks, t.lossy, t.fallback, t.frontmatter,
             (SELECT name FROM languages WHERE id = t.language)"""
CHUNK = """c.id, c.content_id, c.kind, (SELECT name FROM languages WHERE id = c.language), c.start_byte, c.end_byte,
           c.start_line, c.end_line, c.context_chars, c.heading, c.symbol, c.metadata"""


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

    def metadata(self) -> dict[str, Any]:
        """The metadata that all chunks of the content share."""
        found: dict[str, Any] = {}
        if self.frontmatter is not None:
            found["frontmatter"] = json.loads(self.frontmatter)
        if self.encoding != "utf-8":
            found["encoding"] = self.encoding
        if self.lossy:
            found["lossy"] = True
        if self.fallback is not None:
            found["fallback"] = self.fallback
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
