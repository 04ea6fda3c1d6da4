"""livedex's own answers: a folder indexed by the library, and searches by the very code that serves them.

Invariant: nothing is ranked here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.corpus import text_files
from livedex_indexing.chunk.chunk_plan import HEAD_BYTES, ChunkSettings, choose
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.model import FileRow, FileState
from livedex_indexing.search.meaning import Semantics
from livedex_indexing.search.search_answer import SearchAnswer
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.searcher import Searcher
from livedex_indexing.store.index_store import Store
from livedex_indexing.store.read_pool import ReadPool

FILES_PER_TRANSACTION = 500


class Engine:
    """Searches over one index."""

    def __init__(self, pool: ReadPool, root_id: int, root: Path) -> None:
        self.root = root
        self.pool = pool
        self.semantics: Semantics | None = None
        self.roots = {root_id: os.fsencode(root)}
        self._searcher = Searcher(pool)

    def search(self, text: str, limit: int, **fields: Any) -> SearchAnswer:
        return self._searcher.search(SearchRequest(text, limit, **fields), self.roots, semantics=self.semantics)

    def files(self, text: str, limit: int) -> list[str]:
        """The files found, best first, each once, relative to the corpus; copies of one follow it at once."""
        found: dict[str, None] = {}
        for hit in self.search(text, limit, group="file", max_snippet_chars=1).hits:
            found |= dict.fromkeys(os.path.relpath(path, self.root) for path in (hit.path, *(hit.also_at or ())))
        return list(found)[:limit]


@contextmanager
def engine(corpus: Path, database: Path) -> Iterator[Engine]:
    """An engine over a corpus; an index that is there already is used as it is, and only read."""
    root = corpus.resolve()
    if not database.exists():
        store = Store.open(str(database))
        try:
            _index(store, root)
        finally:
            store.close()
    pool = ReadPool(str(database))
    try:
        with pool.connection() as reader:
            root_id = reader.one("SELECT id FROM roots WHERE path = ?", (os.fsencode(root),))
        yield Engine(pool, root_id, root)
    finally:
        pool.close()


def _index(store: Store, root: Path) -> None:
    found = root.stat()
    root_id = store.put_root(os.fsencode(root), found.st_dev, found.st_ino)
    files = sorted(text_files(root))
    for start in range(0, len(files), FILES_PER_TRANSACTION):
        with store.transaction():
            rows = [_row(store, root_id, root, *file) for file in files[start : start + FILES_PER_TRANSACTION]]
            store.put_files(rows)
    while not store.maintain(10.0):
        pass


def _row(store: Store, root_id: int, root: Path, path: str, data: bytes) -> FileRow:
    name, stat = os.fsencode(os.path.basename(path)), os.stat(path)
    plan = choose(name, data[:HEAD_BYTES], ChunkSettings())
    digest = hashlib.blake2b(data, digest_size=16).digest()
    content_id = store.find_content(digest, plan.signature)
    if content_id is None:
        content = chunk_content(data, name, ChunkSettings())
        content_id = store.add_content(digest, plan.signature, len(data), content)
    state = FileState(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    relative = os.fsencode(os.path.relpath(path, root))
    return FileRow(
        root_id, relative, state, "indexed", None, content_id, digest, plan.signature, plan.language, 0.0, settled=True
    )
