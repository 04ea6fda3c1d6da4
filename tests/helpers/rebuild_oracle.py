"""The strictest check of an index: is it the one that a daemon would build of the same folders from nothing?

Invariant: the file itself is read, not what the daemon reports; only what cannot follow from the folders is left out
(ids, times of indexing, contents that wait for a file to use them again).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from helpers.support import Daemon, Home, temporary_home
from livedex_indexing.store import maintenance
from livedex_indexing.store.database import fetch

WAIT_MS = 60_000

_FILES = """SELECT r.path, f.folder, f.name, f.status, f.reason, f.size, f.mtime_ns, f.ctime_ns, f.ino,
            coalesce(f.content_hash, t.hash), coalesce(f.signature, t.signature), t.size, t.chunks, t.pipeline, l.name,
            t.encoding, t.lossy, t.frontmatter, t.frontmatter_fault, t.fallback, t.unused_since
            FROM files f JOIN roots r ON r.id = f.root_id
            LEFT JOIN contents t ON t.id = f.content_id LEFT JOIN languages l ON l.id = t.language"""
_CHUNKS = """SELECT t.hash, t.signature, c.id - t.first_chunk, c.kind, l.name, c.start_byte, c.end_byte, c.start_line,
             c.end_line, c.context_chars, c.heading, c.symbol, c.metadata, c.id IN (SELECT id FROM dead)
             FROM contents t JOIN chunks c ON c.content_id = t.id LEFT JOIN languages l ON l.id = c.language
             WHERE t.id IN (SELECT content_id FROM files)"""
_WORD_TABLES = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
# The meaning of a row of each table of words, by its id. Every such table must be here.
_ROWS_OF = {
    "postings": """SELECT c.id, hex(t.hash) || hex(t.signature) || '#' || (c.id - t.first_chunk)
                   FROM contents t JOIN chunks c ON c.content_id = t.id WHERE t.id IN (SELECT content_id FROM files)""",
    "exact": "SELECT id, hex(hash) || hex(signature) FROM contents WHERE id IN (SELECT content_id FROM files)",
    "paths": """SELECT f.id, hex(r.path) || '/' || hex(f.folder) || '/' || hex(f.name)
                FROM files f JOIN roots r ON r.id = f.root_id""",
}
_PROPERTIES = """SELECT hex(t.hash) || hex(t.signature), p.name, p.value
                 FROM properties p JOIN contents t ON t.id = p.content_id
                 WHERE t.id IN (SELECT content_id FROM files)"""


def logical(index: Path) -> dict[str, Any]:
    """Return the contents of an index file that follow from the folders; an AssertionError if the file is not sound.

    ``files`` by (root, folder, name), ``chunks`` in order of (hash, signature, ordinal), ``words`` by their table.
    """
    with _copy(index) as db:
        assert maintenance.integrity(db) == []
        files = {row[:3]: row[3:] for row in fetch(db, _FILES)}
        return {"files": files, "chunks": sorted(fetch(db, _CHUNKS), key=lambda row: row[:3]), "words": _words(db)}


def _words(db: apsw.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return every place of every word by table, and the properties of contents."""
    places: dict[str, list[tuple[Any, ...]]] = {"properties": fetch(db, _PROPERTIES)}
    for (table,) in fetch(db, _WORD_TABLES):
        named = dict(fetch(db, _ROWS_OF[table]))
        db.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab('main', '{table}', 'instance')")
        rows = fetch(db, "SELECT term, doc, col, offset FROM temp.places")
        db.execute("DROP TABLE temp.places")
        places[table] = [(term, named[doc], col, at) for term, doc, col, at in rows if doc in named]
    return places


@contextmanager
def _copy(index: Path) -> Iterator[apsw.Connection]:
    """Yield one state of the file in memory, so that a daemon may continue with it."""
    with closing(apsw.Connection(":memory:")) as copy:
        copy_database(index, copy)
        yield copy


def copy_database(path: Path, to: apsw.Connection) -> None:
    """Copy one state of a database.

    It is opened read-only: the last connection to close it would write the log into it, which only the daemon may do.
    """
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as source:
        source.set_busy_timeout(5_000)
        with to.backup("main", source, "main") as backup:
            backup.step()


def held(daemon: Daemon) -> dict[str, Any]:
    """Return the index of a running daemon once it has caught up and its own audit finds no difference."""
    with daemon.client() as client:
        assert client.call("sync", {"timeout_ms": WAIT_MS})["synced"]
        audit = client.call("index/audit", {})
        assert audit["differences"] == [], audit
        listed = client.call("files/list", {"limit": 1})
    found = logical(daemon.home.data / "index.db")
    assert len(found["files"]) == listed["total"]
    return found


def rebuilt(home: Home, wrap: Sequence[str] = ()) -> dict[str, Any]:
    """Return the index that a daemon of another home builds of the same roots and forgotten files, from nothing."""
    with temporary_home() as other:
        other.data.mkdir(mode=0o700)
        forgotten = home.data / "forgotten.db"
        if forgotten.exists():
            with closing(apsw.Connection(str(other.data / forgotten.name))) as copy:
                copy_database(forgotten, copy)
        daemon = Daemon(other, home.config.read_text(), wrap=wrap).start()
        try:
            return held(daemon)
        finally:
            daemon.stop()


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """Return the first few differences between an index and the rebuilt one; empty if they are equal."""
    lines = _apart("files", one["files"].items(), other["files"].items())
    lines += _apart("chunks", one["chunks"], other["chunks"])
    for table in one["words"].keys() | other["words"].keys():
        lines += _apart(table, one["words"].get(table, ()), other["words"].get(table, ()))
    return "\n".join(lines)


def _apart(part: str, one: Iterable[Any], other: Iterable[Any]) -> list[str]:
    first, second = set(one), set(other)
    lines = [f"{part}: only here: {item}" for item in sorted(first - second, key=repr)[:5]]
    return lines + [f"{part}: only in the rebuilt one: {item}" for item in sorted(second - first, key=repr)[:5]]


def assert_as_rebuilt(daemon: Daemon, note: object = "") -> None:
    """Assert that the daemon's index equals what a daemon that starts from nothing builds of the same roots."""
    apart = difference(held(daemon), rebuilt(daemon.home, daemon.wrap))
    assert not apart, f"{note}\n{apart}"
