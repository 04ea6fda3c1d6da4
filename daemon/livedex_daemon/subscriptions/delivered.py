"""Stores the chunks that were delivered to each standing query, by file.

Invariant: exact at any size and small in memory: an unnamed private database, which SQLite keeps in its cache while it
fits there, and otherwise in a temporary file that no other process can open and that disappears with this one.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import apsw

from livedex_indexing.search.standing_query import FileKey, Found

_CACHE_KIB: Final = 2_048
_PLACE: Final = struct.Struct("<BQQQ")

_SCHEMA: Final = """
CREATE TABLE delivered (
    root_id      INTEGER NOT NULL,
    path         BLOB NOT NULL,              -- relative to the root
    subscription INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    places       BLOB NOT NULL,              -- per chunk: kind, first line, last line, first byte
    PRIMARY KEY (root_id, path, subscription)
) WITHOUT ROWID
"""
_OF_FILE = "SELECT subscription, content_hash, places FROM delivered WHERE root_id = ? AND path = ?"
_OF_ROOT = "SELECT path, content_hash, places FROM delivered WHERE root_id = ? AND subscription = ?"
_ROOTS = "SELECT DISTINCT root_id FROM delivered"
_PUT = "INSERT OR REPLACE INTO delivered VALUES (?, ?, ?, ?, ?)"
_REMOVE = "DELETE FROM delivered WHERE root_id = ? AND path = ? AND subscription = ?"
_FORGET = "DELETE FROM delivered WHERE subscription IN (SELECT value FROM json_each(?))"


class Place(NamedTuple):
    """The position of a chunk. ``kind`` is an index into ``model.KINDS``; lines are 1-based, the byte is an offset."""

    kind: int
    start_line: int
    end_line: int
    start_byte: int


class DeliveredFile(NamedTuple):
    """The chunks of one state of a file that were delivered to a query."""

    content_hash: bytes
    packed: bytes

    @classmethod
    def of(cls, found: Found) -> DeliveredFile:
        chunks = (_PLACE.pack(c.kind, c.start_line, c.end_line, c.start_byte) for c in found.chunks)
        return cls(found.content.hash, b"".join(chunks))

    def places(self) -> Iterator[Place]:
        return (Place(*values) for values in _PLACE.iter_unpack(self.packed))

    @property
    def chunks(self) -> int:
        """The number of chunks."""
        return len(self.packed) // _PLACE.size

    def first(self, count: int) -> DeliveredFile | None:
        """Return the state in which only the first ``count`` chunks were delivered; None for none of them."""
        return DeliveredFile(self.content_hash, self.packed[: count * _PLACE.size]) if count else None

    def begins(self, whole: DeliveredFile) -> bool:
        """Return whether this is a part of ``whole``, from its first chunk on."""
        return self.content_hash == whole.content_hash and whole.packed.startswith(self.packed)


class DeliveredState:
    """The delivered chunks of all subscriptions. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._db = apsw.Connection("")
        self._db.pragma("journal_mode", "memory")  # a statement that fails, on a full disk for example, changes nothing
        self._db.pragma("cache_size", -_CACHE_KIB)
        self._db.execute(_SCHEMA)

    def of_files(self, keys: Iterable[FileKey]) -> dict[int, dict[FileKey, DeliveredFile]]:
        """Return the delivered state of these files, by subscription."""
        found: dict[int, dict[FileKey, DeliveredFile]] = {}
        with self._lock:
            for key in keys:
                for subscription, content_hash, places in self._db.execute(_OF_FILE, key):
                    found.setdefault(subscription, {})[key] = DeliveredFile(content_hash, places)
        return found

    def of_roots(self, subscription: int, roots: Iterable[int]) -> dict[FileKey, DeliveredFile]:
        """Return the delivered state of whole roots for one subscription."""
        with self._lock:
            return {
                (root_id, path): DeliveredFile(content_hash, places)
                for root_id in roots
                for path, content_hash, places in self._db.execute(_OF_ROOT, (root_id, subscription))
            }

    def roots(self) -> set[int]:
        """Return the ids of the roots with delivered files."""
        with self._lock:
            return {root_id for (root_id,) in self._db.execute(_ROOTS)}

    def put(self, subscription: int, entries: Mapping[FileKey, DeliveredFile | None]) -> None:
        """Record the delivered state of these files; None: nothing was delivered."""
        there = [(*key, subscription, *entry) for key, entry in entries.items() if entry is not None]
        gone = [(*key, subscription) for key, entry in entries.items() if entry is None]
        with self._lock, self._db:
            self._db.executemany(_REMOVE, gone)
            self._db.executemany(_PUT, there)

    def forget(self, subscriptions: Iterable[int]) -> None:
        """Drop the state of subscriptions that ended."""
        with self._lock:
            self._db.execute(_FORGET, (str(list(subscriptions)),))

    def close(self) -> None:
        with self._lock:
            self._db.close()
