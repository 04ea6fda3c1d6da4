"""A folder of real files and an index of it, without a daemon or chunk workers, for tests of the index.

Invariant: the chunks tile each file's text as the real ones do; a chunk has ``LINES`` lines.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
import pytest

from livedex_indexing.chunk import frontmatter
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.model import Chunk, ChunkedContent, ChunkTerms, FileRow, FileState, Kind
from livedex_indexing.query.scope import places, root_at
from livedex_indexing.search.foreign_ranking import Ranker
from livedex_indexing.search.meaning import Semantics
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.searcher import Searcher
from livedex_indexing.store import read_pool
from livedex_indexing.store.database import fetch
from livedex_indexing.store.index_store import Store
from livedex_indexing.store.read_pool import ReadPool
from livedex_indexing.text import decoder
from livedex_indexing.text.name_beginnings import outline_words
from livedex_indexing.text.terms import hidden_words
from livedex_ipc.methods import check_params, path_bytes, paths_bytes
from livedex_ipc.wire_results import AnswerWarning

LINES = 10
OVERLAP = 40  # characters
SIGNATURE = b"test-signature-1"
LANGUAGES = {"py": "python", "md": "markdown", "c": "c", "txt": None, "js": "javascript", "sh": "shell", "cpp": "cpp"}
LANGUAGES["fence"] = "mjs"  # as a fence in Markdown may name it
LANGUAGES |= {"yaml": "yaml", "json": "json", "toml": "toml", "properties": "java properties"}
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_DEFINITION = re.compile(r"^\s*(?:def|class) (\w+)", re.MULTILINE)


def chunked(data: bytes, language: str | None = None) -> ChunkedContent:
    """Cut a file's bytes into chunks of ``LINES`` lines."""
    text, encoding, lossy, at, *_ = decoder.decode(data)
    chunks: list[Chunk] = []
    terms: list[ChunkTerms] = []
    line = 1
    lines = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    kind: Kind = "code" if language in ("python", "c") else "markdown_text" if language == "markdown" else "plain"
    for start in range(0, len(lines), LINES):
        piece = "".join(lines[start : start + LINES])
        size = len(piece) if encoding == "cp1252" else len(piece.encode(encoding))
        symbols = _DEFINITION.findall(piece)
        context = "".join(lines[:start])[-OVERLAP:]
        feeds = piece.count("\n")
        last = line + feeds - piece.endswith("\n")
        symbol = symbols[0] if symbols else None
        headings = _HEADING.findall(piece) if language == "markdown" else []
        heading = headings[0] if headings and piece[0] == "#" else None
        chunks.append(
            Chunk(len(chunks), piece, context, kind, language, heading, symbol, line, last, at, at + size, {})
        )
        terms.append(ChunkTerms(hidden_words(piece), " ".join(headings), outline_words(symbols)))
        at, line = at + size, line + feeds
    pipeline = {"code": "code", "markdown_text": "markdown"}.get(kind, "plain")
    values = frontmatter.read(text).values if language == "markdown" else None
    return ChunkedContent(pipeline, language, encoding, lossy, chunks, terms, frontmatter=values)


class WireAnswer(NamedTuple):
    """A search's answer with its hits and optional fields as the wire has them."""

    hits: list[dict[str, Any]]
    next_offset: int | None
    generation: int
    mode: str
    warnings: list[AnswerWarning]
    stale: Stale
    extras: dict[str, Any]
    failed: int


def request(served: dict[int, bytes], query: str, /, **params: Any) -> SearchRequest:
    """Return a search request with some params; the others are at their defaults. Raises OutsideRoots."""
    known = {**check_params("search", {"query": ""}), "query": query, **params}
    path = path_bytes(known)
    wanted = [*([] if path is None else [path]), *(paths_bytes(known) or ())]
    inside = tuple(place for path in wanted for place in places(path, served)) if wanted else None
    root_ids = tuple(root_at(root, served) for root in paths_bytes(known, "roots") or ())
    return SearchRequest.from_params(known, inside, root_ids)


class Indexed:
    """Roots below one folder, their files, a store that holds them and a searcher over it."""

    def __init__(self, folder: Path, roots: tuple[str, ...] = ("root",), database: str = "index.db") -> None:
        self.folder = folder
        self.database = str(folder / database)
        self.store = Store.open(self.database)
        self.roots: dict[int, bytes] = {}
        for name in roots:
            (folder / name).mkdir(parents=True, exist_ok=True)
            found = (folder / name).stat()
            self.roots[self.store.put_root(os.fsencode(folder / name), found.st_dev, found.st_ino)] = os.fsencode(
                folder / name
            )
        self.pool = ReadPool(self.database)
        self.searcher = Searcher(self.pool)
        self.semantics: Semantics | None = None  # the vectors that searches use
        self.backend: Ranker | None = None  # what ranks instead of the index

    def __enter__(self) -> Indexed:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.close()
        self.store.close()

    def root_of(self, path: str) -> tuple[int, bytes]:
        """Return the root of a path and the path relative to it."""
        full = os.fsencode(self.folder / path)
        root, root_id = max((root, root_id) for root_id, root in self.roots.items() if full.startswith(root + b"/"))
        return root_id, full[len(root) + 1 :]

    def write(self, path: str, content: str | bytes, *, mtime: float | None = None) -> None:
        """Write a file and index it. ``path`` is relative to the folder, so it begins with a root's name."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        if mtime is not None:
            os.utime(file, (mtime, mtime))
        self.index(path)

    def index(self, *paths: str) -> None:
        """Index files as they are on disk, in one transaction."""
        with self.store.transaction():
            self.store.put_files([self.row(path) for path in paths])

    def row(self, path: str) -> FileRow:
        """Return the row of a file as it is on disk; store its content."""
        root_id, rel = self.root_of(path)
        file = self.folder / path
        data, found = file.read_bytes(), file.stat()
        language = LANGUAGES.get(path.rpartition(".")[2])
        digest = hashlib.blake2b(data, digest_size=16).digest()
        content_id = self.store.find_content(digest, SIGNATURE)
        if content_id is None:
            content_id = self.store.add_content(digest, SIGNATURE, len(data), chunked(data, language))
        state = FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        return FileRow(
            root_id, rel, state, "indexed", None, content_id, digest, SIGNATURE, language, found.st_mtime, settled=True
        )

    def remove(self, path: str) -> None:
        """Remove a file from the disk and from the index."""
        (self.folder / path).unlink()
        root_id, rel = self.root_of(path)
        self.store.remove_files(root_id, [rel])

    def ask(self, query: str, **params: Any) -> WireAnswer:
        """The whole answer of a search."""
        limits = {key: params.pop(key) for key in ("deadline", "cancelled") if key in params}
        asked = request(self.roots, query, **params)
        answer = self.searcher.search(asked, self.roots, semantics=self.semantics, backend=self.backend, **limits)
        hits, extras = msgspec.json.decode(msgspec.json.encode([answer.hits, answer.optional_fields()]))
        return WireAnswer(hits, *answer[1:6], extras, answer.failed)

    def search(self, query: str, **params: Any) -> list[dict[str, Any]]:
        return self.ask(query, **params).hits

    def found(self, query: str, **params: Any) -> list[str]:
        """Return the paths of the hits relative to their root, in order, each once."""
        hits = self.search(query, **{"limit": 1000, **params})
        return list(dict.fromkeys(hit["relative_path"] for hit in hits))


def expressions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of FTS5 expressions with which texts are searched from now on, one for each statement."""
    searched: list[str] = []

    def noted(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        if "postings MATCH" in sql or "exact MATCH" in sql:
            searched.extend(value for value in values if isinstance(value, str) and not value.startswith("["))
        return fetch(db, sql, values)

    monkeypatch.setattr(read_pool, "fetch", noted)
    return searched
