"""A backend in PostgreSQL: a team's index, ranked by its text search, with the vectors of its chunks in pgvector.

Invariant: a document is replaced in one transaction. A query is values alone: no text of it becomes SQL.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import psycopg

from livedex_indexing.plugins import BaseBackend, Chunk, Document, FileRecord, Hit, Query, VectorModel

CONNECT_S: Final = 5
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {schema}.files (
  path text PRIMARY KEY, root text NOT NULL, hash text NOT NULL, size bigint NOT NULL, modified double precision,
  language text, indexed double precision NOT NULL, chunks integer NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.chunks (
  path text NOT NULL REFERENCES {schema}.files (path) ON DELETE CASCADE, ordinal integer NOT NULL,
  kind text NOT NULL, chunk jsonb NOT NULL, words tsvector NOT NULL, PRIMARY KEY (path, ordinal));
ALTER TABLE {schema}.chunks ADD COLUMN IF NOT EXISTS vector_key text NOT NULL DEFAULT '';
CREATE INDEX IF NOT EXISTS chunks_words ON {schema}.chunks USING gin (words);
CREATE INDEX IF NOT EXISTS chunks_vector_key ON {schema}.chunks (vector_key);
"""
# IF NOT EXISTS is no help against another connection that makes the same at the same time.
_ONE_AT_A_TIME: Final = "SELECT pg_advisory_xact_lock(hashtext('livedex'))"
_PUT_FILE: Final = """INSERT INTO {schema}.files VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"""
_PUT_CHUNK: Final = """INSERT INTO {schema}.chunks (path, ordinal, kind, chunk, vector_key, words)
  VALUES (%s, %s, %s, %s, %s,
  setweight(to_tsvector(%s::regconfig, %s), 'A') || setweight(to_tsvector(%s::regconfig, %s), 'B'))"""
_SEARCH: Final = """SELECT c.path, c.ordinal, ts_rank_cd(c.words, q.q, 1) AS score
  FROM {schema}.chunks c JOIN {schema}.files f USING (path), (SELECT {words} AS q) q
  WHERE {where} ORDER BY score DESC, c.path, c.ordinal LIMIT %s OFFSET %s"""


# The numbers of a vector are whole and small: half precision stores them exactly, in half the space.
_VECTORS: Final = """CREATE TABLE IF NOT EXISTS {schema}.{table} (
  path text NOT NULL, ordinal integer NOT NULL, vector {type} NOT NULL, PRIMARY KEY (path, ordinal),
  FOREIGN KEY (path, ordinal) REFERENCES {schema}.chunks (path, ordinal) ON DELETE CASCADE)"""
_VECTORS_INDEX: Final = """CREATE INDEX IF NOT EXISTS {table}_nearest ON {schema}.{table}
  USING hnsw (vector halfvec_cosine_ops)"""
_LACKING: Final = """SELECT DISTINCT c.vector_key FROM {schema}.chunks c
  WHERE c.vector_key > %s AND NOT EXISTS (
    SELECT FROM {schema}.{table} v WHERE v.path = c.path AND v.ordinal = c.ordinal)
  ORDER BY 1 LIMIT %s"""
_PUT_VECTOR: Final = """INSERT INTO {schema}.{table} SELECT path, ordinal, %s::{type} FROM {schema}.chunks
  WHERE vector_key = %s ON CONFLICT (path, ordinal) DO UPDATE SET vector = excluded.vector"""
_TABLES_OF_VECTORS: Final = r"SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename LIKE 'vectors\_%%'"
_NEAREST: Final = """SELECT c.path, c.ordinal, 1 - (v.vector <=> %s::{type}) AS score
  FROM {schema}.{table} v JOIN {schema}.chunks c USING (path, ordinal) JOIN {schema}.files f USING (path)
  WHERE {where} ORDER BY v.vector <=> %s::{type}, c.path, c.ordinal LIMIT %s OFFSET %s"""
_SEARCH_MORE: Final = "SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 500"  # filters leave enough
MOST_INDEXED: Final = 4_000  # dimensions; of more, every vector is compared


class PostgresBackend(BaseBackend):
    """Settings: ``dsn``, or ``dsn_env`` with the name of a variable that holds it; ``schema`` (livedex) and
    ``text_config`` (english), the server's configuration for words."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._schema = str(settings.get("schema", "livedex"))
        self._words = str(settings.get("text_config", "english"))
        if not _NAME.fullmatch(self._schema):
            raise ValueError(f"[plugin.postgres] schema must be a plain name in lower case, not {self._schema!r}")
        variable = settings.get("dsn_env")
        dsn = os.environ.get(str(variable), "") if variable is not None else str(settings.get("dsn", ""))
        if not dsn:
            raise ValueError("[plugin.postgres] needs dsn, or dsn_env with the name of a variable that holds it")
        self._db = psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_S)
        with self._db.transaction():
            self._db.execute(_ONE_AT_A_TIME)
            self._run(_TABLES)
        self._models: dict[VectorModel, Mapping[str, str]] = {}  # those whose tables are there

    def _sql(self, sql: str, **parts: str) -> bytes:
        return sql.format(schema=self._schema, **parts).encode()

    def _run(self, sql: str, values: tuple[object, ...] | None = None) -> psycopg.Cursor[Any]:
        return self._db.execute(self._sql(sql), values)

    def index(self, document: Document) -> None:
        with self._db.transaction():
            self._run("DELETE FROM {schema}.files WHERE path = %s", (document.path,))
            file = (document.path, document.root, document.content_hash, document.size, document.modified_at)
            self._run(_PUT_FILE, (*file, document.language, time.time(), len(document.chunks)))
            for chunk in document.chunks:
                named = " ".join(filter(None, (chunk.heading, chunk.symbol, os.path.basename(document.path))))
                kept = json.dumps(asdict(chunk)).replace("\\u0000", "")
                words = (self._words, _plain(named), self._words, _plain(chunk.text))
                named_by = (document.path, chunk.ordinal, chunk.kind, kept, chunk.vector_key)
                self._run(_PUT_CHUNK, (*named_by, *words))

    def delete(self, path: str) -> bool:
        below = path.rstrip("/") + "/"
        sql = "DELETE FROM {schema}.files WHERE path = %s OR starts_with(path, %s)"
        return self._run(sql, (path, below)).rowcount > 0

    def clear(self) -> None:
        self._run("TRUNCATE {schema}.files CASCADE")

    def close(self) -> None:
        self._db.close()

    def list_files(self, **filters: object) -> list[FileRecord]:
        path = filters.get("path")
        where, values = ("", ()) if path is None else (" WHERE path = %s OR starts_with(path, %s)", (path, f"{path}/"))
        columns = "path, size, chunks, language, hash, indexed"
        rows = self._run(f'SELECT {columns} FROM {{schema}}.files{where} ORDER BY path COLLATE "C"', values)
        return [FileRecord(row[0], "indexed", row[1], row[2], row[3], row[4], row[5]) for row in rows.fetchall()]

    def retrieve(self, path: str) -> list[Chunk]:
        rows = self._run("SELECT chunk FROM {schema}.chunks WHERE path = %s ORDER BY ordinal", (path,))
        return [Chunk(**row[0]) for row in rows.fetchall()]

    def status(self) -> dict[str, object]:
        row = self._run("SELECT count(*), coalesce(sum(chunks), 0) FROM {schema}.files").fetchone() or (0, 0)
        return {"files": row[0], "chunks": int(row[1])}

    def search(self, query: Query) -> list[Hit]:
        words = [word.rstrip("*") for word in query.text.split()] or list(query.phrases)
        wanted = " || ".join(["plainto_tsquery(%s::regconfig, %s)"] * len(words)) or "''::tsquery"
        values: list[object] = [value for word in words for value in (self._words, word)]
        where, more = self._filters(query)
        sql = self._sql(_SEARCH, words=wanted, where=" AND ".join(["c.words @@ q.q", *where]))
        rows = self._db.execute(sql, (*values, *more, query.limit, query.offset))
        return [Hit(path, ordinal, float(score)) for path, ordinal, score in rows.fetchall()]

    # -- vectors: a table for each model

    def lacking_vectors(self, model: VectorModel, after: str, limit: int) -> list[str]:
        rows = self._db.execute(self._sql(_LACKING, **self._parts(model)), (after, limit))
        return [key for (key,) in rows.fetchall()]

    def put_vectors(self, model: VectorModel, vectors: Mapping[str, Sequence[float]]) -> None:
        sql = self._sql(_PUT_VECTOR, **self._parts(model))
        with self._db.transaction(), self._db.cursor() as cursor:
            cursor.executemany(sql, [(_written(vector), key) for key, vector in vectors.items()])

    def drop_other_vectors(self, model: VectorModel) -> None:
        kept = self._parts(model)["table"]
        for (table,) in self._run(_TABLES_OF_VECTORS, (self._schema,)).fetchall():
            if table != kept and _NAME.fullmatch(table):
                self._run(f"DROP TABLE {{schema}}.{table}")
        self._models = {model: self._parts(model)}

    def nearest(self, model: VectorModel, vector: Sequence[float], query: Query) -> list[Hit]:
        where, more = self._filters(query)
        sql = self._sql(_NEAREST, **self._parts(model), where=" AND ".join(["true", *where]))
        written = _written(vector)
        rows = self._db.execute(sql, (written, *more, written, query.limit, query.offset))
        return [Hit(path, ordinal, float(score)) for path, ordinal, score in rows.fetchall()]

    def _parts(self, model: VectorModel) -> Mapping[str, str]:
        """Return what belongs to a model in SQL; make its table if it is not there. Raises psycopg.Error, as where the
        server has no pgvector."""
        known = self._models.get(model)
        if known is None:
            digest = hashlib.blake2b(model.name.encode(), digest_size=8).hexdigest()
            known = {"table": f"vectors_{digest}", "type": f"halfvec({model.dimensions:d})"}
            with self._db.transaction():
                self._db.execute(_ONE_AT_A_TIME)
                self._db.execute("CREATE EXTENSION IF NOT EXISTS vector")
                self._db.execute(self._sql(_VECTORS, **known))
                if model.dimensions <= MOST_INDEXED:
                    self._db.execute(self._sql(_VECTORS_INDEX, **known))
            self._db.execute(_SEARCH_MORE)
            self._models[model] = known
        return known

    def _filters(self, query: Query) -> tuple[list[str], list[object]]:
        where: list[str] = []
        values: list[object] = []
        chunks = self._sql("SELECT path FROM {schema}.chunks WHERE words @@ ").decode()
        phrases = [(text, "IN", "phraseto_tsquery") for text in query.phrases]
        phrases += [(text.strip('"*'), "NOT IN", "phraseto_tsquery") for text in query.excluded]
        for text, inside, parse in phrases:
            where.append(f"c.path {inside} ({chunks}{parse}(%s::regconfig, %s))")
            values += [self._words, text]
        if query.path is not None:
            where.append("(c.path = %s OR starts_with(c.path, %s))")
            values += [query.path, query.path.rstrip("/") + "/"]
        columns = (("f.language", query.languages), ("c.kind", query.kinds), ("f.root", query.roots))
        for column, admitted in columns:
            if admitted:
                where.append(f"{column} = ANY(%s)")
                values.append(list(admitted))
        for bound, sign in ((query.modified_after, ">="), (query.modified_before, "<")):
            if bound is not None:
                where.append(f"f.modified {sign} %s")
                values.append(bound)
        return where, values


def _plain(text: str) -> str:
    return text.replace("\0", " ")


def _written(vector: Sequence[float]) -> str:
    return f"[{','.join(map(str, vector))}]"
