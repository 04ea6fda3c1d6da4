"""The vectors of one model: a row for each text, and which text each chunk has. Written by one thread.

Invariant: a text is stored once, whatever chunks have it; what a transaction wrote survives the death of the process.
Chunks of contents that the index no longer has are removed by `remove`, and nothing that it does not have is served.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from livedex_indexing.store.database import DAMAGED, fetch, id_list
from livedex_indexing.store.file_guard import FileGuard, Loss
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.nearest import EXACT_BYTES, VectorIndex
from livedex_indexing.vectors.quantize import to_bytes

KEEP_S: Final = 30 * 86_400.0  # how long a vector is kept whose text is in no file
_BATCH: Final = 10_000

_KNOWN = "SELECT hash, id FROM texts WHERE hash IN (SELECT unhex(value) FROM json_each(?))"
_ADD_TEXT = "INSERT OR IGNORE INTO texts (hash, vector) VALUES (?, ?)"
_SWEEP = """UPDATE texts SET unused_since = ? WHERE unused_since IS NULL
            AND id NOT IN (SELECT text_id FROM chunks)"""
_NOT_LATER = "UPDATE texts SET unused_since = ?1 WHERE unused_since > ?1"  # it was marked while the clock was ahead
_REUSED = "UPDATE texts SET unused_since = NULL WHERE unused_since IS NOT NULL AND id IN (SELECT text_id FROM chunks)"
_KEEP = """UPDATE texts SET unused_since = NULL
           WHERE unused_since IS NOT NULL AND hash IN (SELECT unhex(value) FROM json_each(?))"""
_EXPIRE = "DELETE FROM texts WHERE unused_since < ?"


class ContentKey(NamedTuple):
    """A content as the index has it. ``vectors``: how many of its chunks have one, where that was counted."""

    id: int
    hash: bytes
    signature: bytes
    first_chunk: int
    vectors: int = 0


class VectorStore:
    """The write side. Not thread-safe. ``index`` is the side that searches use; it follows every commit."""

    def __init__(
        self,
        path: str,
        identity: str,
        dimensions: int,
        *,
        now: Callable[[], float] = time.time,
        exact_bytes: int = EXACT_BYTES,
    ) -> None:
        """Open the file, or create it. ``exact_bytes``: up to here, searches are exact.

        Raises SqliteVecMissing, OSError or apsw.Error.
        """
        self.path = path
        self.identity, self.dimensions = identity, dimensions
        self._now = now
        self._db = vector_database.open_writer(path, identity, dimensions)
        self.index = VectorIndex(path, dimensions, exact_bytes=exact_bytes)
        try:
            self.index.load(self._db)
        except DAMAGED:  # beyond the pages that tell the model
            self._db.close()
            vector_database.remove(path)
            self._db = vector_database.open_writer(path, identity, dimensions)
            self.index.load(self._db)
        self._guard = FileGuard(self._db, path)

    def close(self) -> None:
        self.index.close()
        self._db.close()

    def loss(self) -> Loss | None:
        """Return what happened to the file, None if nothing is known. Raises apsw.Error."""
        return "overwritten" if self.index.damaged else self._guard.replaced_or_lost()

    def fact(self, name: str) -> Any:
        """Return what was noted under this name, None if nothing was."""
        return vector_database.facts(self._db).get(name)

    def note(self, name: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO model VALUES (?, ?)", (name, value))

    @property
    def complete(self) -> bool:
        """Whether every chunk of the index once had its vector."""
        return bool(self.fact("complete"))

    def counts(self) -> tuple[int, int]:
        """Return the numbers of chunks and of texts with a vector."""
        chunks, texts = fetch(self._db, "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM texts)")[0]
        return chunks, texts

    def known(self, hashes: Collection[bytes]) -> dict[bytes, int]:
        """Return the ids of those texts that have a vector, by hash."""
        return dict(fetch(self._db, _KNOWN, (json.dumps([value.hex() for value in hashes]),)))

    def add_texts(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Store checked vectors by the hash of their text, in one transaction."""
        with self._transaction():
            self._db.executemany(_ADD_TEXT, [(digest, to_bytes(vector)) for digest, vector in vectors.items()])
        self.index.texts_version += 1

    def keep(self, hashes: Collection[bytes]) -> None:
        """Keep the vectors of texts that no chunk has for `KEEP_S` from the next `sweep` on."""
        with self._transaction():
            self._db.execute(_KEEP, (json.dumps([value.hex() for value in hashes]),))

    def contents(self, after: int) -> list[ContentKey]:
        """Return the contents that were seen, by id, from the one after ``after`` on; at most some thousands."""
        rows = fetch(
            self._db,
            """SELECT id, hash, signature, first_chunk, (SELECT count(*) FROM chunks WHERE content_id = contents.id)
               FROM contents WHERE id > ? ORDER BY id LIMIT ?""",
            (after, _BATCH),
        )
        return [ContentKey(*row) for row in rows]

    def put(self, contents: Sequence[tuple[ContentKey, Sequence[int | None]]]) -> None:
        """Store which texts the chunks of contents have, in order; None: a chunk without a vector."""
        chunks = [
            (key.first_chunk + place, key.id, text_id)
            for key, texts in contents
            for place, text_id in enumerate(texts)
            if text_id is not None
        ]
        with self._transaction():
            self.remove([key.id for key, _ in contents])
            ids = id_list(chunk_id for chunk_id, _, _ in chunks)  # an id may come again after the highest was removed
            again = fetch(self._db, "SELECT id FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (ids,))
            self.index.remove(self._db, [row[0] for row in again])
            self._db.executemany("INSERT INTO contents VALUES (?, ?, ?, ?)", [key[:4] for key, _ in contents])
            self._db.executemany("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?)", chunks)
            self.index.add(self._db, [chunk_id for chunk_id, _, _ in chunks])

    def remove(self, contents: Collection[int]) -> None:
        """Forget the chunks of contents; the vectors of their texts are kept."""
        if not contents:
            return
        ids = id_list(contents)
        with self._transaction():
            of_contents = "content_id IN (SELECT value FROM json_each(?))"
            gone = [row[0] for row in fetch(self._db, f"SELECT id FROM chunks WHERE {of_contents}", (ids,))]
            self._db.execute(f"DELETE FROM chunks WHERE {of_contents}", (ids,))
            self._db.execute("DELETE FROM contents WHERE id IN (SELECT value FROM json_each(?))", (ids,))
            self.index.remove(self._db, gone)

    def sweep(self) -> None:
        """Note which texts are in no chunk, remove those for which this is so for ``KEEP_S``, and give pages back."""
        now = self._now()
        with self._transaction():
            self._db.execute(_REUSED)
            self._db.execute(_SWEEP, (now,))
            self._db.execute(_NOT_LATER, (now,))
            self._db.execute(_EXPIRE, (now - KEEP_S,))
        self.index.tidy(self._db)
        fetch(self._db, "PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        outer = not self._db.in_transaction
        if outer:
            self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            if outer:
                self._db.execute("COMMIT")
        except BaseException:
            if outer:
                if self._db.in_transaction:  # SQLite may have rolled back by itself
                    self._db.execute("ROLLBACK")
                self.index.load(self._db)
            raise


def all_contents(store: VectorStore) -> Iterator[ContentKey]:
    """Yield all contents that were seen, by id."""
    last = -1
    while rows := store.contents(last):
        yield from rows
        last = rows[-1].id
