"""Reads the texts of a content's chunks from a live file: what is embedded.

Invariant: a text is that of the indexed content: a file that has other bytes now gives none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.live_files import COPY, LiveFiles, file_copy
from livedex_indexing.query.filters import OF_CONTENT
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT
from livedex_indexing.text.decoder import decode_slice
from livedex_indexing.vectors.vector_store import ContentKey

_HASH_BYTES: Final = 16
_MOST_CHARS: Final = 32_768  # of one text: no chunk is longer

_CONTENT = (
    "SELECT id, hash, signature, first_chunk, encoding, chunks FROM contents WHERE id = ? AND unused_since IS NULL"
)
_CHUNKS = f"""SELECT c.start_byte, c.end_byte, c.heading, c.symbol FROM contents t JOIN chunks c ON {IN_CONTENT}
              WHERE t.id = ? ORDER BY c.id"""
_COPIES = f"""SELECT {COPY} FROM {OF_CONTENT} WHERE d.content_id = ?
              AND d.root_id IN (SELECT id FROM roots WHERE missing_since IS NULL)"""


class ContentTexts(NamedTuple):
    """A content with the texts of its chunks, in order."""

    key: ContentKey
    texts: list[str]


def embedded_text(text: str, heading: str | None, symbol: str | None) -> str:
    """Return what is embedded of a chunk."""
    about = "\n".join(dict.fromkeys(filter(None, (heading, symbol))))
    return (f"{about}\n{text}" if about else text)[:_MOST_CHARS]


def text_hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=_HASH_BYTES).digest()


def read_texts(reader: Reader, content_id: int, roots: Mapping[int, bytes]) -> ContentTexts | None:
    """Return the texts of a content's chunks; None if no present file has it as it was indexed."""
    with reader.snapshot():
        rows = reader.rows(_CONTENT, (content_id,))
        copies = [file_copy(row) for row in reader.rows(_COPIES, (content_id,))]
        chunks = reader.rows(_CHUNKS, (content_id,))
    if not rows:
        return None
    *key, encoding, count = rows[0]
    live = LiveFiles(roots, DocumentTexts(reader))
    found = live.read(content_id, rows[0][1], [copy for copy in copies if copy.root_id in roots])
    if found is None or len(chunks) != count:
        return None
    texts = [
        embedded_text(decode_slice(found[1], encoding, start, end), heading, symbol)
        for start, end, heading, symbol in chunks
    ]
    return ContentTexts(ContentKey(*key), texts)
