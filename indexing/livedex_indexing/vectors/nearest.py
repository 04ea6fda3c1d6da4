"""Finds the chunks nearest to a vector: exactly by a vec0 table, beyond some size by packed bits and then exactly among
the nearest of these.

Invariant: both follow the table ``chunks`` in its transactions, and both answer with the cosines of the stored vectors.
A search that has an index which was closed meanwhile, because other vectors took its place, finds nothing in it;
``closed`` says so. One whose file cannot be read is an error, never an answer without near chunks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import apsw

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import VectorModel
from livedex_indexing.store.database import DAMAGED, fetch, id_list
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.quantize import from_bytes, to_bytes

if TYPE_CHECKING:
    from livedex_indexing.vectors.packed_bits import PackedBits

# Bytes of vectors that vec0 reads for each search. Measured for 384 and 256 dimensions: 1.8 ms of CPU for each MB,
# packed bits .06 ms and 1.4 ms for 500 cosines: from 8 MiB on they are six times faster (docs/decisions).
EXACT_BYTES: Final = 8 << 20
LOST: Final = "the file of vectors is damaged: it is made again"
_LISTED: Final = 5_000  # chunks of which all cosines are computed
_IDLE: Final = 2  # connections kept

_MAKE = """CREATE VIRTUAL TABLE nearest USING vec0(
           chunk_id INTEGER PRIMARY KEY, embedding int8[{}] distance_metric=cosine)"""
_HAS = "SELECT count(*) FROM sqlite_master WHERE name = 'nearest'"
_VECTORS = """SELECT c.id, t.vector FROM chunks c JOIN texts t ON t.id = c.text_id
              WHERE c.id IN (SELECT value FROM json_each(?))"""
_ALL_VECTORS = "SELECT c.id, t.vector FROM chunks c JOIN texts t ON t.id = c.text_id ORDER BY c.id"
_ADD = "INSERT INTO nearest (chunk_id, embedding) VALUES (?, vec_int8(?))"
_REMOVE = "DELETE FROM nearest WHERE chunk_id = ?"
_NEAREST = "SELECT chunk_id, 1.0 - distance FROM nearest WHERE embedding MATCH vec_int8(?) AND k = ?"
_AMONG = f"{_NEAREST} AND chunk_id IN (SELECT value FROM json_each(?))"
_COSINES = """SELECT c.id, 1.0 - vec_distance_cosine(vec_int8(t.vector), vec_int8(?)) FROM chunks c
              JOIN texts t ON t.id = c.text_id WHERE c.id IN (SELECT value FROM json_each(?))"""
_OF_TEXTS = """SELECT hash, 1.0 - vec_distance_cosine(vec_int8(vector), vec_int8(?)) FROM texts
               WHERE hash IN (SELECT unhex(value) FROM json_each(?))"""
_VECTORS_OF_TEXTS = "SELECT hash, vector FROM texts WHERE hash IN (SELECT unhex(value) FROM json_each(?))"


class VectorSource(NamedTuple):
    """The vectors that searches use now. ``of_texts`` gives those that there are, by the hash of their text; there may
    be more of them with another ``version``."""

    model: VectorModel
    of_texts: Callable[[Collection[bytes]], dict[bytes, list[int]]]
    version: int


class VectorIndex:
    """``load``, ``add``, ``remove`` and ``tidy`` belong to the writer's thread and take its connection; the searches
    may run in several threads, on connections of their own. They raise EmbedderUnavailable if the file cannot be read.
    """

    def __init__(self, path: str, dimensions: int, *, exact_bytes: int = EXACT_BYTES) -> None:
        """``exact_bytes``: up to here, searches are exact."""
        self._path = path
        self._dimensions = dimensions
        self._most_exact = exact_bytes // dimensions
        self._bits: PackedBits | None = None
        self._removed = 0  # rows of the vec0 table whose places stay empty
        self._idle: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self.closed = False
        self.damaged = False  # as a search found out: make the file again
        self.on_fault: Callable[[], object] = bool  # called when a search could not read the file
        self.texts_version = 0  # increases with each commit of new texts

    @property
    def is_compact(self) -> bool:
        return self._bits is not None

    def load(self, db: apsw.Connection) -> None:
        """Make what the table ``chunks`` asks for. Call it outside a transaction."""
        count = int(db.execute("SELECT count(*) FROM chunks").get)
        if count > self._most_exact:
            self._load_bits(db)
        else:
            self._load_exact(db, count)

    def add(self, db: apsw.Connection, ids: Collection[int]) -> None:
        rows = fetch(db, _VECTORS, (id_list(ids),))
        if self._bits is not None:
            self._bits.add(rows)
            return
        db.executemany(_ADD, rows)
        if int(db.execute("SELECT count(*) FROM chunks").get) > self._most_exact:
            self._load_bits(db)

    def remove(self, db: apsw.Connection, ids: Collection[int]) -> None:
        if self._bits is not None:
            self._bits.remove(ids)
        else:
            db.executemany(_REMOVE, [(chunk_id,) for chunk_id in ids])
            self._removed += len(ids)

    def tidy(self, db: apsw.Connection) -> None:
        """Make the table again if most of its places are empty: vec0 fills none again. Switch back to it where few
        chunks are left."""
        count = int(db.execute("SELECT count(*) FROM chunks").get)
        if self._bits is not None:
            if count <= self._most_exact // 2 or self._bits.holes > count:
                self.load(db)
        elif self._removed > max(1_024, count):
            self._load_exact(db, count, again=True)

    def close(self) -> None:
        self.closed = True
        with self._lock:
            idle, self._idle = self._idle, []
        for db in idle:
            db.close()

    def nearest(self, vector: Sequence[float], count: int, among: Sequence[int] | None = None) -> dict[int, float]:
        """Return the nearest chunks with their cosines, best first; ``among``: only of these, None: of all."""
        query = to_bytes(vector)
        if among is not None and len(among) <= _LISTED:
            return _best(self._cosines(query, among), count)
        bits = self._bits
        if bits is not None:
            return _best(self._cosines(query, bits.nearest(vector, among)), count)
        sql, values = (_NEAREST, (query, count)) if among is None else (_AMONG, (query, count, id_list(among)))
        try:
            return _best(self._rows(sql, values), count)
        except EmbedderUnavailable:
            if self._bits is None:
                raise
            return self.nearest(vector, count, among)  # they just took the place of the table

    def cosines(self, vector: Sequence[float], ids: Collection[int]) -> dict[int, float]:
        """Return the cosines of chunks; those without a vector are left out."""
        return self._cosines(to_bytes(vector), ids)

    def vector_of(self, chunk_id: int) -> list[int] | None:
        """Return the stored vector of a chunk; None if it has none."""
        vector = self._rows(_VECTORS, (id_list((chunk_id,)),)).get(chunk_id)
        return None if vector is None else from_bytes(vector)

    def cosines_of_texts(self, vector: Sequence[float], hashes: Collection[bytes]) -> dict[bytes, float]:
        """Return the cosines of texts by hash, whether or not a chunk has them; those without a vector are left out."""
        if not hashes:
            return {}
        return self._rows(_OF_TEXTS, (to_bytes(vector), json.dumps([value.hex() for value in hashes])))

    def vectors_of_texts(self, hashes: Collection[bytes]) -> dict[bytes, list[int]]:
        """Return the stored vectors of texts by hash; those without one are left out."""
        if not hashes:
            return {}
        rows = self._rows(_VECTORS_OF_TEXTS, (json.dumps([value.hex() for value in hashes]),))
        return {digest: from_bytes(vector) for digest, vector in rows.items()}

    def _cosines(self, query: bytes, ids: Collection[int]) -> dict[int, float]:
        if not ids:
            return {}
        return self._rows(_COSINES, (query, id_list(ids)))

    def _rows(self, sql: str, values: Sequence[Any]) -> dict[Any, Any]:
        try:
            with self._connection() as db:
                return dict(fetch(db, sql, values))
        except apsw.Error as fault:
            if self.closed:
                return {}
            # vec0 reports damage as an error in SQL, and so is a table that is missing; unless bits took its place.
            self.damaged |= isinstance(fault, DAMAGED) or (isinstance(fault, apsw.SQLError) and self._bits is None)
            self.on_fault()
            raise EmbedderUnavailable(LOST if self.damaged else f"the vectors cannot be read: {fault}") from fault

    def _load_bits(self, db: apsw.Connection) -> None:
        from livedex_indexing.vectors.packed_bits import PackedBits  # numpy, 11 MiB: only where it is needed

        bits = PackedBits(self._dimensions)
        cursor = db.execute(_ALL_VECTORS)
        while rows := [row for _, row in zip(range(10_000), cursor, strict=False)]:
            bits.add(rows)
        self._bits = bits
        if int(db.execute(_HAS).get):
            db.execute("DROP TABLE nearest")

    def _load_exact(self, db: apsw.Connection, count: int, *, again: bool = False) -> None:
        with db:  # a search sees the former table, or the whole one
            has = int(db.execute(_HAS).get)
            if has and (again or int(db.execute("SELECT count(*) FROM nearest").get) != count):
                db.execute("DROP TABLE nearest")
                has = 0
            if not has:
                db.execute(_MAKE.format(self._dimensions))
                db.executemany(_ADD, fetch(db, _ALL_VECTORS))
        self._bits, self._removed = None, 0

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        with self._lock:
            db = self._idle.pop() if self._idle else None
        db = db or vector_database.open_reader(self._path)
        try:
            yield db
        finally:
            with self._lock:
                kept = not self.closed and len(self._idle) < _IDLE
                if kept:
                    self._idle.append(db)
            if not kept:
                db.close()


def _best(cosines: dict[int, float], count: int) -> dict[int, float]:
    ordered = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[:count])
