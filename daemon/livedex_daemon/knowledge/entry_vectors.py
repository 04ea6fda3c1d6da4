"""Gives each entry of the built-in agent memory its vector, in the file of vectors that searches use.

Invariant: agent memory is only read here, on a connection of its own; whatever is wrong with it is left to the store.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import apsw

from livedex_indexing.plugins import Embedder
from livedex_indexing.store.database import fetch
from livedex_indexing.vectors.text_embedding import TextEmbedding
from livedex_indexing.vectors.vector_store import VectorStore

_MOST_CHARS: Final = 32_768  # of one text, as of a chunk
_BUSY_MS: Final = 1_000
_HASH_BYTES: Final = 16
_ANY: Final = "SELECT EXISTS (SELECT 1 FROM entries)"
_NEXT: Final = "SELECT id, digest, heading, content FROM entries WHERE id > ? ORDER BY id LIMIT ?"


def entry_hash(digest: bytes, heading: str | None) -> bytes:
    """Return the hash under which the vector of an entry is stored. ``digest``: the BLAKE2b-128 of its content."""
    if heading is None:
        return digest
    return hashlib.blake2b(heading.encode("utf-8", "replace") + b"\n" + digest, digest_size=_HASH_BYTES).digest()


def has_entries(path: str) -> bool:
    """Whether agent memory can be read and has entries."""
    try:
        with _opened(path) as db:
            return db is not None and bool(db.execute(_ANY).get)
    except apsw.Error:
        return False


class EntryFiller:
    """Fills one store from agent memory. ``look`` is for any thread, the others for the one that fills."""

    def __init__(self, path: str, store: VectorStore, embedder: Embedder, batch: int) -> None:
        self._path = path
        self._store = store
        self._texts = TextEmbedding(store, embedder, batch)
        self._batch = batch
        self._last = 0  # the highest entry seen
        self._due = threading.Event()
        self._due.set()

    def look(self) -> None:
        """Note that entries were added."""
        self._due.set()

    def compare(self) -> None:
        """Look at all entries again: also those of a file that was put in the place of the former one."""
        self._last = 0
        self._texts.renew()
        self._due.set()

    def step(self) -> bool:
        """Embed one batch. Return False if nothing is waiting. Raises EmbedderUnavailable."""
        if not self._due.is_set():
            return False
        self._due.clear()
        rows = self._rows()
        if not rows:
            return False
        self._due.set()  # more may follow, or the embedder may fail
        texts = {
            entry_hash(digest, heading): (f"{heading}\n{content}" if heading else content)[:_MOST_CHARS]
            for _, digest, heading, content in rows
        }
        known = self._store.known(set(texts))
        self._store.keep(known)
        self._texts.embed({digest: text for digest, text in texts.items() if digest not in known})
        self._last = rows[-1][0]
        return True

    def _rows(self) -> list[tuple[Any, ...]]:
        try:
            with _opened(self._path) as db:
                return [] if db is None else fetch(db, _NEXT, (self._last, self._batch))
        except apsw.Error:
            return []


@contextmanager
def _opened(path: str) -> Iterator[apsw.Connection | None]:
    """Open agent memory for reading; None if there is none. Raises apsw.Error."""
    if not os.path.exists(path):
        yield None
        return
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    try:
        db.set_busy_timeout(_BUSY_MS)
        yield db
    finally:
        db.close()
