"""Small queries that any thread may run: is this content known, how much does the index contain.

Invariant: nothing here waits for the writer, and nothing here writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from livedex_indexing import relpath
from livedex_indexing.model import STATUSES, Counts
from livedex_indexing.store.database import open_reader, translated
from livedex_indexing.store.index_store import read_counts
from livedex_indexing.store.maintenance import integrity
from livedex_indexing.store.read_pool import ReadPool

_CHUNKS_OF: Final = """SELECT coalesce(sum(chunks), 0) FROM contents WHERE id IN
                       (SELECT content_id FROM files WHERE root_id IN (SELECT value FROM json_each(?)))"""
_IS_PENDING: Final = f"""SELECT 1 FROM files WHERE root_id = ? AND folder = ? AND name = ?
                           AND status = {STATUSES.index("pending")}"""
_HAS_CONTENT: Final = "SELECT 1 FROM contents WHERE hash = ? AND signature = ?"


def has_content(pool: ReadPool, content_hash: bytes, signature: bytes) -> bool:
    """Whether a committed content was cut from these bytes by this plan."""
    with pool.connection() as reader:
        return reader.one(_HAS_CONTENT, (content_hash, signature)) is not None


def counts(pool: ReadPool) -> Counts:
    """Return how many files the index has, by root and status, and how many chunks."""
    with pool.connection() as reader, reader.snapshot():
        return read_counts(reader.db)


def chunks_of(pool: ReadPool, root_ids: Iterable[int]) -> int:
    """Return the number of chunks of these roots' files, each content counted once. Reads one row per file."""
    with pool.connection() as reader:
        return int(reader.one(_CHUNKS_OF, (json.dumps(list(root_ids)),)))


def pending_among(pool: ReadPool, keys: Iterable[tuple[int, bytes]]) -> set[tuple[int, bytes]]:
    """Return those of the files, as (root id, path), whose row is ``pending``."""
    with pool.connection() as reader, reader.snapshot():
        return {key for key in keys if reader.one(_IS_PENDING, (key[0], *relpath.split(key[1]))) is not None}


def faults(pool: ReadPool) -> list[str]:
    """Return the faults inside the index, in words; empty if it is sound. Reads all of it while searches go on.

    Uses a connection of its own: a pooled one may cache the layout of the postings from before a merge, and the check
    would then report damage that is not there.
    """
    with translated(pool.path):
        db = open_reader(pool.path, bool)
        try:
            db.execute("BEGIN")
            return integrity(db)
        finally:
            db.close()
