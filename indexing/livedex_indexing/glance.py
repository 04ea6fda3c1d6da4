"""Small questions to the index that any thread may ask: is this content known, how much is held.

Invariant: nothing here waits for the writer, and nothing here writes.
"""

from __future__ import annotations

from typing import Any, Final

from livedex_indexing.backend import KINDS, Counts
from livedex_indexing.readpool import ReadPool
from livedex_indexing.sqlite import read_counts

_RANGE: Final = "SELECT first_chunk, chunks FROM contents WHERE hash = ? AND signature = ?"
_SPANS: Final = """SELECT c.kind, l.name, c.start_byte, c.end_byte, c.start_line, c.end_line, c.heading, c.symbol,
                          c.context_chars
                   FROM chunks c LEFT JOIN languages l ON l.id = c.language WHERE c.id BETWEEN ? AND ? ORDER BY c.id"""
_HAS_CONTENT: Final = "SELECT 1 FROM contents WHERE hash = ? AND signature = ?"


def has_content(pool: ReadPool, content_hash: bytes, signature: bytes) -> bool:
    """Whether a committed content was cut from these bytes by this plan."""
    with pool.connection() as reader:
        return reader.one(_HAS_CONTENT, (content_hash, signature)) is not None


def counts(pool: ReadPool) -> Counts:
    """What the index holds, by root and status."""
    with pool.connection() as reader, reader.snapshot():
        return read_counts(reader.db, pool.path)


def spans(pool: ReadPool, content_hash: bytes, signature: bytes) -> list[tuple[Any, ...]] | None:
    """What the index holds of each chunk of a content, in order; None for a content that it does not have.

    A tuple is (kind, language, start_byte, end_byte, start_line, end_line, heading, symbol, length of the context).
    """
    with pool.connection() as reader, reader.snapshot():
        found = reader.rows(_RANGE, (content_hash, signature))
        if not found:
            return None
        first, count = found[0]
        rows = reader.rows(_SPANS, (first, first + count - 1))
    return [(KINDS[row[0]], *row[1:]) for row in rows]
