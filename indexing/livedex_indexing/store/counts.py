"""Small questions to the index that any thread may ask: is this content known, how much is held.

Invariant: nothing here waits for the writer, and nothing here writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from livedex_indexing.model import Counts
from livedex_indexing.store.database import open_reader, translated
from livedex_indexing.store.index_store import read_counts
from livedex_indexing.store.maintenance import integrity
from livedex_indexing.store.read_pool import ReadPool

_CHUNKS_OF: Final = """SELECT coalesce(sum(chunks), 0) FROM contents WHERE id IN
                       (SELECT content_id FROM files WHERE root_id IN (SELECT value FROM json_each(?)))"""
_HAS_CONTENT: Final = "SELECT 1 FROM contents WHERE hash = ? AND signature = ?"


def has_content(pool: ReadPool, content_hash: bytes, signature: bytes) -> bool:
    """Whether a committed content was cut from these bytes by this plan."""
    with pool.connection() as reader:
        return reader.one(_HAS_CONTENT, (content_hash, signature)) is not None


def counts(pool: ReadPool) -> Counts:
    """What the index holds, by root and status."""
    with pool.connection() as reader, reader.snapshot():
        return read_counts(reader.db)


def chunks_of(pool: ReadPool, root_ids: Iterable[int]) -> int:
    """How many chunks the files of these roots have, each content counted once. Reads a row a file."""
    with pool.connection() as reader:
        return int(reader.one(_CHUNKS_OF, (json.dumps(list(root_ids)),)))


def faults(pool: ReadPool) -> list[str]:
    """What is wrong inside the index, in words, empty when it is sound. Reads all of it, beside searches.

    Over a connection of its own: one that is kept may remember how the words lay before they were merged, and what it
    remembers does not fit what it reads.
    """
    with translated(pool.path):
        db = open_reader(pool.path, bool)
        try:
            db.execute("BEGIN")
            return integrity(db)
        finally:
            db.close()
