"""Check a child's answer before the daemon stores it: a child that a hostile file took over may answer anything.

Invariant: an answer that passes can be stored and served: its chunks lie in the file, in order, and every value in it
has a form that the index can hold.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec

from livedex_indexing.chunk.chunk_plan import PIPELINES
from livedex_indexing.model import Chunk, ChunkedContent

_LONGEST_REASON = 500  # characters
_LONGEST_MARK = 4  # bytes before the text: the longest byte order mark


def is_sound(content: ChunkedContent, size: int) -> bool:
    """Return whether the content can be that of a file of ``size`` bytes."""
    return (
        content.pipeline in PIPELINES
        and len(content.terms) == len(content.chunks)
        and _is_codec(content.encoding)
        and len(content.plugin_fault or "") <= _LONGEST_REASON
        and (content.frontmatter is None or _is_storable(content.frontmatter))
        and _are_in_order(content.chunks, size)
    )


def _are_in_order(chunks: list[Chunk], size: int) -> bool:
    if chunks and not 0 <= chunks[0].start_byte <= _LONGEST_MARK:
        return False
    byte, line = chunks[0].start_byte if chunks else 0, 1
    for ordinal, chunk in enumerate(chunks):
        start, end = chunk.start_byte, chunk.end_byte
        first_line, last_line = chunk.start_line, chunk.end_line
        if chunk.ordinal != ordinal or start != byte:
            return False
        if not (start <= end <= size and line <= first_line <= last_line <= size + 1):
            return False
        if chunk.metadata and not _is_storable(chunk.metadata):
            return False
        byte, line = end, first_line
    return True


@lru_cache(maxsize=64)
def _is_codec(name: str) -> bool:
    """Return whether bytes can be decoded by ``name``: Python has codecs that are no encodings of text."""
    try:
        b"a".decode(name, "replace")
    except (LookupError, ValueError):
        return False
    return True


def _is_storable(fields: dict[str, object]) -> bool:
    try:
        msgspec.json.encode(fields)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError):
        return False
    return True
