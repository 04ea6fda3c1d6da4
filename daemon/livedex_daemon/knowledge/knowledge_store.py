"""Agent memory in ``knowledge.db``: entries are added, found by their words, listed and deleted.

Invariant: an entry whose id was returned survives a power loss, a domain keeps the same content once, and nothing is
deleted that was not asked for.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import apsw

from livedex_daemon.knowledge.agent_memory import Counts, FoundEntries, NewEntry, Page, bounded
from livedex_daemon.knowledge.entry_ranking import ranked
from livedex_daemon.knowledge.entry_vectors import entry_hash
from livedex_daemon.knowledge.hot_memory import Candidate, hot_text
from livedex_daemon.knowledge.memory_query import MemoryQuery, indexed_text, memory_query
from livedex_daemon.precious.precious_database import DatabaseUnusable, PreciousDatabase, Schema, first_row, rows
from livedex_indexing.hits.answer_json import rfc3339_of_seconds
from livedex_indexing.query.word_counts import idf_of
from livedex_indexing.search.meaning import Meaning
from livedex_ipc.memory_entry import EntryFields, EntryKind

SCHEMA: Final = Schema("agent memory", 0x4C444558 + 2, 1, Path(__file__).with_name("knowledge.sql"))
HOT_CANDIDATES: Final = 2_000  # the entries used last among which hot memory is chosen
HEADING_WEIGHT: Final = 2.0  # a word in the heading counts twice
COMPARED: Final = 20_000  # entries whose vectors are compared with a query's: the newest
BY_WORDS: Final = 200  # entries found by words that are put together with those found by vectors

_COLUMNS: Final = "e.id, e.content, e.domain, e.heading, e.kind, e.source, e.created_at, e.used_at, e.uses, e.metadata"
_INSERT: Final = (
    "INSERT INTO entries (domain, kind, content, digest, heading, source, metadata, created_at)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)


class KnowledgeStore:
    """One connection to ``knowledge.db``. For one thread at a time. Every method raises DatabaseUnusable."""

    name = "sqlite"
    ranks_by_meaning = True

    def __init__(self, path: str) -> None:
        self._database = PreciousDatabase(path, SCHEMA)

    def wait_from(self, moment: float | None) -> None:
        """Count what the next calls wait for a lock from this moment on; None: from each call."""
        self._database.waits_from = moment

    def close(self) -> None:
        self._database.close()

    def check_readable(self) -> None:
        """Read a little. Raises DatabaseUnusable."""
        with self._database.reading() as db:
            first_row(db, "SELECT content FROM entries ORDER BY id DESC LIMIT 1")

    def check_writable(self) -> None:
        """Write what the file says already. Raises DatabaseUnusable."""
        self._database.check_writable()

    def add(self, entry: NewEntry) -> tuple[int, bool]:
        """Return the id of the entry and True, or that of the same content in the domain and False."""
        digest = hashlib.blake2b(entry.content.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._database.transaction(durable=True) as db:
            known = first_row(db, "SELECT id FROM entries WHERE domain = ? AND digest = ?", (entry.domain, digest))
            if known is not None:
                return known[0], False
            metadata = json.dumps(entry.metadata or {}, ensure_ascii=False, separators=(",", ":"))
            values = (entry.domain, entry.kind, entry.content, digest, entry.heading, entry.source, metadata)
            db.execute(_INSERT, (*values, time.time()))
            number = db.last_insert_rowid()
            texts = (indexed_text(text or "") for text in (entry.content, entry.heading, entry.source))
            db.execute("INSERT INTO words (rowid, content, heading, source) VALUES (?, ?, ?, ?)", (number, *texts))
            return number, True

    def search(self, query: str, limit: int, domains: tuple[str, ...] | None = None) -> list[EntryFields]:
        """Return at most ``limit`` entries of some domains (None: of all), best first, and note that they were used.

        An empty query returns the newest. If no entry has the words, those with the text as typed are found.
        """
        with self._database.reading() as db:
            found = _newest(db, limit, domains) if not query.strip() else _by_words(db, query, limit, domains)
        self._note_use(found)
        return found

    def search_by_meaning(
        self, query: str, limit: int, domains: tuple[str, ...] | None, meaning: Meaning
    ) -> FoundEntries | None:
        """Return entries as `search` does, ranked by vectors, too, and how many of those compared have none yet; None
        if others took the place of these vectors meanwhile: cosines may be missing.

        ``meaning`` must have vectors.
        """
        vectors = meaning.vectors
        assert vectors is not None
        with self._database.reading() as db:
            hashes = _hashes(db, memory_query(query), domains)
            by_words = {} if meaning.mode == "semantic" else _scores(_by_words(db, query, BY_WORDS, domains))
            cosines = vectors.of_chunks.cosines_of_texts(vectors.vector, set(hashes.values()))
            if meaning.is_outdated:
                return None
            near = {entry: cosines[key] for entry, key in hashes.items() if key in cosines}
            best = ranked(by_words, near, vectors.weight, meaning.fusion, limit)
            found = _with_scores(db, best)
        self._note_use(found)
        return FoundEntries(found, len(hashes) - len(near))

    def _note_use(self, found: list[EntryFields]) -> None:
        """Count the uses, unless the file cannot be written: on a full disk what was found is found all the same."""
        if found:
            with suppress(DatabaseUnusable), self._database.transaction(durable=False) as db:
                sql = "UPDATE entries SET uses = uses + 1, used_at = ? WHERE id = ?"
                db.executemany(sql, [(time.time(), entry["id"]) for entry in found])

    def page(self, domain: str | None, kind: EntryKind | None, limit: int, offset: int) -> Page:
        """Return entries in the order in which they were added, as many as ``bounded`` lets through."""
        where, values = _conditions(None if domain is None else (domain,), kind)
        with self._database.reading() as db:
            total = int(db.execute(f"SELECT count(*) FROM entries e{where}", values).get)
            sql = f"SELECT {_COLUMNS}, 0.0 FROM entries e{where} ORDER BY e.id LIMIT ? OFFSET ?"
            cursor = db.execute(sql, (*values, limit, offset))
            entries = bounded(map(_fields, cursor))
            cursor.close(True)
            return Page(entries, total)

    def hot(self, max_chars: int) -> str:
        """Return the entries used last and most as one text of at most ``max_chars`` characters."""
        sql = (
            "SELECT heading, content, uses, ? - coalesce(used_at, created_at) FROM entries"
            " ORDER BY coalesce(used_at, created_at) DESC, id DESC LIMIT ?"
        )
        with self._database.reading() as db:
            found = rows(db, sql, (time.time(), HOT_CANDIDATES))
        return hot_text((Candidate(*row) for row in found), max_chars)

    def remove(self, entry_id: int) -> bool:
        """Delete one entry. Return True if there was one."""
        with self._database.transaction(durable=True) as db:
            db.execute("DELETE FROM entries WHERE id = ?", (entry_id,))
            is_gone = bool(db.changes())
            if is_gone:
                db.execute("DELETE FROM words WHERE rowid = ?", (entry_id,))
            return is_gone

    def counts(self) -> Counts:
        with self._database.reading() as db:
            found = rows(db, "SELECT domain, count(*) FROM entries GROUP BY domain ORDER BY domain")
        domains = dict(found)
        return Counts(sum(domains.values()), domains, self._database.bytes_on_disk())


def _by_words(db: apsw.Connection, query: str, limit: int, domains: tuple[str, ...] | None) -> list[EntryFields]:
    return _best(db, memory_query(query), limit, domains) or _with_text(db, query.strip(), limit, domains)


def _scores(entries: list[EntryFields]) -> dict[int, float]:
    """Return the scores by id. An entry that has the text as it was typed scores as one that has all words."""
    return {entry["id"]: entry["score"] or 1.0 for entry in entries}


def _hashes(db: apsw.Connection, query: MemoryQuery, domains: tuple[str, ...] | None) -> dict[int, bytes]:
    """Return the entries whose vectors are to be compared, with the hashes of their texts: those that have all phrases
    of the query, and nothing that it excludes."""
    where, values = _conditions(domains)
    clauses = [where.removeprefix(" WHERE ")] if where else []
    wanted = [*(("IN", text) for text in query.required), *(("NOT IN", text) for text in query.excluded)]
    for inside, expression in wanted:
        clauses.append(f"e.id {inside} (SELECT rowid FROM words WHERE words MATCH ?)")
        values = (*values, expression)
    condition = f" WHERE {' AND '.join(clauses)}" if clauses else ""
    sql = f"SELECT e.id, e.digest, e.heading FROM entries e{condition} ORDER BY e.id DESC LIMIT ?"
    return {number: entry_hash(digest, heading) for number, digest, heading in rows(db, sql, (*values, COMPARED))}


def _with_scores(db: apsw.Connection, best: list[tuple[int, float]]) -> list[EntryFields]:
    """Return the entries with these ids, in this order, with these scores."""
    sql = f"SELECT {_COLUMNS}, 0.0 FROM entries e WHERE e.id IN (SELECT value FROM json_each(?))"
    found = {row[0]: _fields(row) for row in rows(db, sql, (json.dumps([number for number, _ in best]),))}
    return [{**found[number], "score": score} for number, score in best if number in found]


def _best(db: apsw.Connection, query: MemoryQuery, limit: int, domains: tuple[str, ...] | None) -> list[EntryFields]:
    """Return the entries that a query finds. The score is BM25's by the sum of the words' idf, as that of files."""
    if query.is_empty:
        return []
    total = int(db.execute("SELECT count(*) FROM entries").get)
    counted = [int(db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (word,)).get) for word in query.words]
    weight = sum(idf_of(count, total) for count in counted if count) or 1.0
    where, values = _conditions(domains)
    sql = (
        f"WITH found AS (SELECT rowid AS id FROM words WHERE words MATCH ?1)"
        f" SELECT {_COLUMNS}, -bm25(words, 1.0, {HEADING_WEIGHT}, 0.5) / ?2 AS score"
        f" FROM words JOIN entries e ON e.id = words.rowid WHERE words MATCH ?3 AND e.id IN (SELECT id FROM found)"
        f"{where.replace(' WHERE', ' AND')} ORDER BY score DESC, e.id DESC LIMIT ?"
    )
    return [_fields(row) for row in rows(db, sql, (query.match(), weight, query.ranking(), *values, limit))]


def _newest(db: apsw.Connection, limit: int, domains: tuple[str, ...] | None) -> list[EntryFields]:
    where, values = _conditions(domains)
    sql = f"SELECT {_COLUMNS}, 0.0 FROM entries e{where} ORDER BY e.id DESC LIMIT ?"
    return [_fields(row) for row in rows(db, sql, (*values, limit))]


def _with_text(db: apsw.Connection, text: str, limit: int, domains: tuple[str, ...] | None) -> list[EntryFields]:
    """Return the entries that contain a text as it is typed, ASCII letters in either case."""
    where, values = _conditions(domains)
    clause = f"{where} AND" if where else " WHERE"
    # LIKE refuses a pattern of more than 50,000 bytes.
    has_text = "instr(lower(e.content), lower(?))"
    sql = f"SELECT {_COLUMNS}, 0.0 FROM entries e{clause} {has_text} ORDER BY e.id DESC LIMIT ?"
    return [_fields(row) for row in rows(db, sql, (*values, text, limit))]


def _conditions(domains: tuple[str, ...] | None, kind: EntryKind | None = None) -> tuple[str, tuple[Any, ...]]:
    """Return a WHERE clause, empty if all entries are meant, and its values."""
    clauses: list[str] = []
    values: list[str] = []
    if domains is not None:
        clauses.append(f"e.domain IN ({', '.join('?' * len(domains))})")
        values += domains
    if kind is not None:
        clauses.append("e.kind = ?")
        values.append(kind)
    return (f" WHERE {' AND '.join(clauses)}" if clauses else ""), tuple(values)


def _fields(row: tuple[Any, ...]) -> EntryFields:
    number, content, domain, heading, kind, source, created_at, used_at, uses, metadata, score = row
    return {
        "id": number,
        "content": content,
        "domain": domain,
        "heading": heading,
        "kind": kind,
        "source": source,
        "score": score,
        "created_at": rfc3339_of_seconds(created_at),
        "used_at": None if used_at is None else rfc3339_of_seconds(used_at),
        "uses": uses,
        "metadata": json.loads(metadata),
    }
