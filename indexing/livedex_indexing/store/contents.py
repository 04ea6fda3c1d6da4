"""Contents: the chunks of one state of a file's bytes, stored once for all files with those bytes.

Invariant: a content that no file uses carries ``unused_since`` and its chunks are listed in ``dead``; one in
use has neither. `ContentTable.settle` restores this before each commit for every content that was touched.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import apsw

from livedex_indexing.model import KINDS, Chunk, ChunkedContent, ChunkTerms, DocumentText
from livedex_indexing.store import properties
from livedex_indexing.store.database import as_json, fetch
from livedex_indexing.store.sql import IN_CONTENT
from livedex_indexing.text.letters import fold_letters, loses_letters
from livedex_indexing.text.unsegmented import UNSEGMENTED, to_bigrams

_KIND_PLACE: Final = {kind: place for place, kind in enumerate(KINDS)}
_OF_CONTENT: Final = frozenset({"frontmatter", "lossy", "fallback"})  # kept once on the content, not on each chunk

_FIND = "SELECT id FROM contents WHERE hash = ? AND signature = ?"
_NEXT_CHUNK = "SELECT coalesce(max(id), 0) + 1 FROM chunks"
_ADD = """INSERT INTO contents (id, hash, signature, size, first_chunk, chunks, pipeline, language, encoding, lossy,
          folds, frontmatter, frontmatter_fault, fallback, parsed_by, pages)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_ADD_DOCUMENT = "INSERT INTO documents VALUES (?, ?)"
_ADD_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ADD_BODY = "INSERT INTO postings (rowid, body, ids, heads, symbols) VALUES (?, ?, ?, ?, ?)"
_ADD_WORDS = "INSERT INTO exact (rowid, words) VALUES (?, ?)"
_ADD_PROPERTY = "INSERT INTO properties (content_id, name, value) VALUES (?, ?, ?)"
_USE = """SELECT unused_since, first_chunk, first_chunk + chunks - 1,
          EXISTS (SELECT 1 FROM files WHERE content_id = contents.id) FROM contents WHERE id = ?"""
_SET_UNUSED = "UPDATE contents SET unused_since = ? WHERE id = ?"
_KILL = "INSERT OR IGNORE INTO dead SELECT id FROM chunks WHERE id BETWEEN ? AND ?"
_REVIVE = "DELETE FROM dead WHERE id BETWEEN ? AND ?"
_NOT_LATER = "UPDATE contents SET unused_since = ?1 WHERE unused_since > ?1"
_COLLECTABLE = """SELECT id, first_chunk, first_chunk + chunks - 1, unused_since = 0 FROM contents
                  WHERE unused_since IS NOT NULL AND unused_since <= ? ORDER BY unused_since, id LIMIT ?"""
_COLLECT = (
    "DELETE FROM postings WHERE rowid BETWEEN ? AND ?",
    "DELETE FROM chunks WHERE id BETWEEN ? AND ?",
    "DELETE FROM dead WHERE id BETWEEN ? AND ?",
)
_OWN_CHUNKS = f"""SELECT c.id FROM contents t
                 JOIN chunks c ON {IN_CONTENT}
                 WHERE t.id = ? AND c.content_id = t.id"""
_CLEAR = (
    "DELETE FROM postings WHERE rowid = ?",
    "DELETE FROM chunks WHERE id = ?",
    "DELETE FROM dead WHERE id = ?",
)
_DROP = (
    "DELETE FROM exact WHERE rowid = ?",
    "DELETE FROM properties WHERE content_id = ?",
    "DELETE FROM documents WHERE content_id = ?",
    "DELETE FROM contents WHERE id = ?",
)
LONG_AGO: Final = 1  # a time in the past: words removed then are merged away without waiting
# A cache of what a content contains may have been filled from damaged rows.
_REWRITTEN = "UPDATE state SET value = value + 1 WHERE name = 'rewritten'"
_UNMERGED = "UPDATE state SET value = ?1 WHERE name = 'unmerged' AND (value = 0 OR value > ?1)"


class ContentTable:
    """The tables ``contents``, ``properties``, ``chunks``, ``postings``, ``exact`` and ``dead`` as the writer uses
    them."""

    def __init__(self, db: apsw.Connection, now: Callable[[], float]) -> None:
        self._db = db
        self._now = now
        self._languages: dict[str, int] = {}
        self._touched: dict[int, bool] = {}  # content id → whether to collect it without waiting

    def forget_cached(self) -> None:
        """Drop cached ids after a rollback: their rows may not exist."""
        self._languages.clear()
        self._touched.clear()

    def find(self, content_hash: bytes, signature: bytes) -> int | None:
        found: int | None = self._db.execute(_FIND, (content_hash, signature)).get
        return found

    def add(
        self, content_hash: bytes, signature: bytes, size: int, content: ChunkedContent, *, rewrite: bool = False
    ) -> int:
        """Store a content with its chunks and postings. Return its id.

        An existing content is left as it is, or with ``rewrite`` written again under the same id.
        """
        known = self.find(content_hash, signature)
        if known is not None:
            if not rewrite:
                return known
            self._clear(known)
            self._db.execute(_REWRITTEN)
        db, chunks = self._db, content.chunks
        first = int(db.execute(_NEXT_CHUNK).get)
        language = self._language(content.language)
        text = "".join([chunk.text for chunk in chunks])
        frontmatter = None if content.frontmatter is None else as_json(content.frontmatter)
        db.execute(
            _ADD,
            (known, content_hash, signature, size, first, len(chunks), content.pipeline, language, content.encoding,
             int(content.lossy), int(loses_letters(text)), frontmatter, content.frontmatter_fault, content.fallback,
             *_document_columns(content.document)),
        )  # fmt: skip
        content_id = db.last_insert_rowid() if known is None else known
        if content.document is not None:
            db.execute(_ADD_DOCUMENT, (content_id, zlib.compress(content.document.text)))
        db.executemany(_ADD_CHUNK, [self._chunk_row(first + i, content_id, c) for i, c in enumerate(chunks)])
        db.executemany(_ADD_BODY, map(_body_row, range(first, first + len(chunks)), chunks, content.terms))
        if chunks:
            # The whole text, not chunk by chunk: a word that a hard cut split is one word here.
            db.execute(_ADD_WORDS, (content_id, fold_letters(text)))
        if content.frontmatter:
            rows = properties.rows_of(content.frontmatter)
            db.executemany(_ADD_PROPERTY, [(content_id, *row) for row in rows])
        self.touch(content_id)
        return content_id

    def _clear(self, content_id: int) -> None:
        """Remove all rows of a content, even if its own row is wrong about which chunks it has."""
        db = self._db
        own = fetch(db, _OWN_CHUNKS, (content_id,))
        for statement in _CLEAR:
            db.executemany(statement, own)
        for statement in _DROP:
            db.execute(statement, (content_id,))
        self.mark_unmerged()

    def touch(self, content_id: int, *, forget: bool = False) -> None:
        """Note that a file began or ceased to point at this content: `settle` checks it before the commit.

        With ``forget`` the next `collect` removes it, whatever its age, if no file uses it.
        """
        self._touched[content_id] = forget or self._touched.get(content_id, False)

    def settle(self) -> None:
        for content_id, forget in self._touched.items():
            for unused_since, first, last, used in fetch(self._db, _USE, (content_id,)):
                if used and unused_since is not None:
                    self._db.execute(_SET_UNUSED, (None, content_id))
                    self._db.execute(_REVIVE, (first, last))
                elif not used and (unused_since is None or (forget and unused_since)):
                    self._db.execute(_SET_UNUSED, (0.0 if forget else self._now(), content_id))
                    self._db.execute(_KILL, (first, last))
        self._touched.clear()

    def collect(self, older_than_s: float, limit: int) -> int:
        """Remove at most ``limit`` contents that no file has used for ``older_than_s``. Return how many."""
        now = self._now()
        self._db.execute(_NOT_LATER, (now,))  # marked while the clock was ahead: it would not be old before that time
        rows = fetch(self._db, _COLLECTABLE, (now - older_than_s, limit))
        for content_id, first, last, _ in rows:
            if last >= first:
                for statement in _COLLECT:
                    self._db.execute(statement, (first, last))
            for statement in _DROP:
                self._db.execute(statement, (content_id,))
        if rows:
            self.mark_unmerged(forget=any(forgotten for *_, forgotten in rows))
        return len(rows)

    def mark_unmerged(self, *, forget: bool = False) -> None:
        """Note that rows were removed whose words stay in the postings until `maintenance` merges them: with ``forget``
        at its next turn, otherwise later."""
        self._db.execute(_UNMERGED, (LONG_AGO if forget else max(LONG_AGO, int(self._now())),))

    def _language(self, name: str | None) -> int | None:
        if name is None:
            return None
        known = self._languages.get(name)
        if known is None:
            self._db.execute("INSERT OR IGNORE INTO languages (name) VALUES (?)", (name,))
            known = int(self._db.execute("SELECT id FROM languages WHERE name = ?", (name,)).get)
            self._languages[name] = known
        return known

    def _chunk_row(self, chunk_id: int, content_id: int, chunk: Chunk) -> tuple[Any, ...]:
        return (
            chunk_id, content_id, _KIND_PLACE[chunk.kind], self._language(chunk.language), chunk.start_byte,
            chunk.end_byte, chunk.start_line, chunk.end_line, len(chunk.context), chunk.heading, chunk.symbol,
            _metadata(chunk.metadata) if chunk.metadata else None,
        )  # fmt: skip


def _document_columns(document: DocumentText | None) -> tuple[str | None, str | None]:
    if document is None:
        return None, None
    return document.parser, json.dumps(document.pages) if document.pages else None


def _metadata(metadata: dict[str, Any]) -> str | None:
    own = {key: value for key, value in metadata.items() if key not in _OF_CONTENT}
    return as_json(own) if own else None


@cache
def _torn_word() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Match the end and the begin of a word that a hard cut splits over two chunks.

    The whole word is added to the ids of the second one. Compiled when a chunk has a context, for it takes 2 ms.
    """
    part = f"[\\w{UNSEGMENTED}]{{1,64}}"
    return re.compile(rf"{part}\Z"), re.compile(part)


def _body_row(chunk_id: int, chunk: Chunk, terms: ChunkTerms) -> tuple[Any, ...]:
    ids, context, text = terms.ids, chunk.context, chunk.text
    if context and text and (context[-1].isalnum() or context[-1] == "_" or not context[-1].isascii()):
        at_end, at_begin = _torn_word()
        end, begin = at_end.search(context), at_begin.match(text)
        if end is not None and begin is not None:
            ids = f"{ids} {to_bigrams(end[0] + begin[0])}"
    return chunk_id, to_bigrams(text), ids, to_bigrams(terms.heads), to_bigrams(terms.symbols)
