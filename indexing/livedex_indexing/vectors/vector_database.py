"""Opens a file of vectors, with sqlite-vec loaded; creates it if needed.

Invariant: the file is derived data of one model: one that is damaged or of another model or schema is removed and made
again, and only its owner can read it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from pathlib import Path
from typing import Final

import apsw

from livedex_indexing.store.database import DAMAGED, fetch
from livedex_indexing.store.set_aside import keep_special

APPLICATION_ID: Final = 0x4C445645  # "LDVE", in the file's header
SCHEMA_VERSION: Final = 1
BUSY_MS: Final = 5_000
_CACHE_KIB: Final = 2_048

_SCHEMA = """
CREATE TABLE model (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- A vector for each text: signed bytes. A text stays for a while after its last chunk: it may come back.
CREATE TABLE texts (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, vector BLOB NOT NULL, unused_since REAL);
-- Which contents of the index were seen, as it has them.
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, hash BLOB NOT NULL, signature BLOB NOT NULL, first_chunk INTEGER NOT NULL
);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, content_id INTEGER NOT NULL, text_id INTEGER NOT NULL);
CREATE INDEX chunks_by_content ON chunks (content_id);
"""


class SqliteVecMissing(Exception):
    """The extension cannot be loaded here."""


def extension_path() -> str:
    """Return the extension's path, without importing the package: that would import numpy. Raises SqliteVecMissing."""
    spec = importlib.util.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise SqliteVecMissing("the package sqlite-vec is not installed: pip install sqlite-vec")
    return os.path.join(spec.submodule_search_locations[0], "vec0")


def load_extension(db: apsw.Connection) -> None:
    """Load sqlite-vec into a connection. Raises SqliteVecMissing."""
    db.enable_load_extension(True)
    try:
        db.load_extension(extension_path())
    except (apsw.Error, OSError) as error:
        raise SqliteVecMissing(f"sqlite-vec cannot be loaded: {error}") from error
    finally:
        db.enable_load_extension(False)


def open_writer(path: str, identity: str, dimensions: int) -> apsw.Connection:
    """Open the one connection that writes. Raises SqliteVecMissing, OSError or apsw.Error."""
    for _ in range(2):
        db = None
        try:
            db = _opened(path)
            if _fits(db, identity, dimensions):
                return db
        except DAMAGED:
            pass
        if db is not None:
            db.close()
        remove(path)
    raise OSError(f"{path} cannot be made")


def open_reader(path: str) -> apsw.Connection:
    """Open a connection that only reads. Raises SqliteVecMissing or apsw.Error."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(BUSY_MS)
    db.pragma("cache_size", -_CACHE_KIB)
    load_extension(db)
    return db


def remove(path: str) -> None:
    """Remove a file of vectors with its log."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


def facts(db: apsw.Connection) -> dict[str, object]:
    """Return what the file says of its model."""
    return dict(fetch(db, "SELECT name, value FROM model"))


def _opened(path: str) -> apsw.Connection:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    Path(path).chmod(0o600)
    keep_special(f"{path}-journal", path)  # SQLite would wait for somebody who writes to a FIFO there
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(BUSY_MS)
    db.pragma("cache_size", -_CACHE_KIB)
    load_extension(db)
    return db


def _fits(db: apsw.Connection, identity: str, dimensions: int) -> bool:
    """Make the tables in an empty file. Return False if the file is of another schema or model."""
    if not int(db.execute("SELECT count(*) FROM sqlite_master").get):
        db.pragma("journal_mode", "wal")
        db.pragma("secure_delete", True)  # a vector tells about its text
        db.execute("BEGIN IMMEDIATE")
        db.execute(_SCHEMA)
        db.executemany("INSERT INTO model VALUES (?, ?)", [("identity", identity), ("dimensions", dimensions)])
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", SCHEMA_VERSION)
        db.execute("COMMIT")
    db.pragma("synchronous", "normal")
    db.pragma("secure_delete", True)
    if int(db.pragma("application_id")) != APPLICATION_ID or int(db.pragma("user_version")) != SCHEMA_VERSION:
        return False
    known = facts(db)
    return known.get("identity") == identity and known.get("dimensions") == dimensions
