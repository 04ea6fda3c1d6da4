"""Compares the index's rows for one file with the rows that its bytes give when they are chunked again.

Invariant: everything that the writer would store is compared. The writer's own code stores it here too, in an empty
index in memory, and every column of every table with rows for the content or the path is read back from both. A
contentless table keeps only the number of words by row; the page checksums prove that its pages are as written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import apsw

from livedex_indexing import relpath
from livedex_indexing.model import ChunkedContent, FileRow, FileState
from livedex_indexing.store.contents import ContentTable
from livedex_indexing.store.database import fetch
from livedex_indexing.store.file_rows import FileTable
from livedex_indexing.store.read_pool import Reader

_CONTENT: Final = "SELECT * FROM contents WHERE hash = ? AND signature = ?"
_CHUNKS: Final = "SELECT * FROM chunks WHERE id BETWEEN ? AND ? ORDER BY id"
_CHUNK_WORDS: Final = "SELECT sz FROM postings_docsize WHERE id BETWEEN ? AND ? ORDER BY id"
_CONTENT_WORDS: Final = "SELECT sz FROM exact_docsize WHERE id = ?"
_PATH_WORDS: Final = """SELECT p.sz FROM files f JOIN paths_docsize p ON p.id = f.id
                        WHERE f.root_id = ? AND f.folder = ? AND f.name = ?"""
_LANGUAGES: Final = "SELECT id, name FROM languages"

# Columns that may differ between two indexes of the same files: ids, and the time since which a content is unused.
_OWN: Final = frozenset({"id", "content_id", "first_chunk", "unused_since"})

_Rows = list[Any]


class RowVerifier:
    """Verifies rows against a scratch index in memory. Not thread-safe: one thread makes and uses it."""

    def __init__(self) -> None:
        self._scratch = apsw.Connection(":memory:")
        self._scratch.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
        self._contents = ContentTable(self._scratch, lambda: 0.0)
        self._files = FileTable(self._scratch, self._contents)

    def close(self) -> None:
        self._scratch.close()

    def content_matches(self, reader: Reader, row: FileRow, size: int, content: ChunkedContent) -> bool:
        """Whether the stored content of ``row`` equals ``content`` as it would be stored now; ``size`` is in bytes."""
        assert row.content_hash is not None and row.signature is not None
        self._scratch.execute("BEGIN")
        try:
            self._contents.add(row.content_hash, row.signature, size, content)
            wanted = _content(self._scratch, row.content_hash, row.signature)
        finally:
            self._scratch.execute("ROLLBACK")
            self._contents.forget_cached()
        with reader.snapshot():
            return _content(reader.db, row.content_hash, row.signature) == wanted

    def path_matches(self, reader: Reader, row: FileRow) -> bool:
        """Whether the words of the row's path are in the index."""
        bare = row._replace(content_id=None, state=FileState(0, 0, 0, 0))
        self._scratch.execute("BEGIN")
        try:
            self._files.put([bare])
            wanted = _path(self._scratch, row)
        finally:
            self._scratch.execute("ROLLBACK")
            self._contents.forget_cached()
        return _path(reader.db, row) == wanted


def _content(db: apsw.Connection, content_hash: bytes, signature: bytes) -> _Rows:
    languages: dict[int | None, str | None] = dict(fetch(db, _LANGUAGES))
    rows: _Rows = []
    for content in _named(db, "contents", _CONTENT, (content_hash, signature)):
        ids = (content["first_chunk"], content["first_chunk"] + content["chunks"] - 1)
        for row in (content, *_named(db, "chunks", _CHUNKS, ids)):
            row["language"] = languages.get(row["language"])
            rows.append({name: value for name, value in row.items() if name not in _OWN})
        rows += [fetch(db, _CHUNK_WORDS, ids), fetch(db, _CONTENT_WORDS, (content["id"],))]
    return rows


def _path(db: apsw.Connection, row: FileRow) -> _Rows:
    return fetch(db, _PATH_WORDS, (row.root_id, *relpath.split(row.path)))


def _named(db: apsw.Connection, table: str, sql: str, values: tuple[Any, ...]) -> list[dict[str, Any]]:
    names = [column for (column,) in fetch(db, "SELECT name FROM pragma_table_info(?)", (table,))]
    return [dict(zip(names, row, strict=True)) for row in fetch(db, sql, values)]
