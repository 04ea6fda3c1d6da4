"""Reads and writes ``forgotten.db``, the SQLite file with the record of forgotten files.

Invariant: a commit that returned is on the disk. The file has no log and no shared memory next to it that could be lost
or cut short by themselves.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from pathlib import Path
from typing import Final

import apsw

from livedex_indexing.store.database import DAMAGED, fetch, immediate
from livedex_indexing.store.forgotten_copy import Hashes, Record
from livedex_indexing.store.set_aside import keep_folder, keep_special

APPLICATION_ID: Final = 0x4C444650  # "LDFP"
HASH_BYTES: Final = 16
BUSY_MS: Final = 5_000
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE forgotten (
    root BLOB NOT NULL,         -- absolute path of the root
    path BLOB NOT NULL,         -- relative to it
    hash BLOB NOT NULL,         -- BLAKE2b-128 of the file's bytes when it was forgotten
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
"""
_ROWS: Final = "SELECT root, path, hash FROM forgotten"
_PUT: Final = "INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?)"
_DROP: Final = "DELETE FROM forgotten WHERE root = ? AND path = ?"
_COMPANIONS: Final = ("-journal", "-wal", "-shm")
_DAMAGED: Final = (*DAMAGED, apsw.SQLError)


class NewerFileError(Exception):
    """A newer livedex wrote the file."""

    def __init__(self) -> None:
        super().__init__("a newer livedex wrote it")


def read(path: str) -> Record:
    """Return what the file says, as far as it can be read.

    Raises NewerFileError, or apsw.Error or OSError if the disk or another program keeps it from being read.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return Record({}, "absent")
    if not stat.S_ISREG(found.st_mode):
        return Record({}, "damaged")
    if not found.st_size:
        return Record({}, "absent")
    hashes: Hashes = {}
    try:
        with closing(_connect(path)) as db:
            if not int(db.execute("SELECT count(*) FROM sqlite_master").get):
                return Record({}, "absent")
            if int(db.pragma("application_id")) != APPLICATION_ID:
                return Record({}, "damaged")
            if int(db.pragma("user_version")) > _VERSION:
                raise NewerFileError
            sound = True
            for root, rel, digest in db.execute(_ROWS):
                if isinstance(root, bytes) and isinstance(rel, bytes) and _is_hash(digest):
                    hashes[root, rel] = digest
                else:
                    sound = False
            sound = sound and fetch(db, "PRAGMA integrity_check(1)") == [("ok",)]
    except _DAMAGED:
        return Record(hashes, "damaged")
    return Record(hashes, "whole" if sound else "damaged")


def _is_hash(value: object) -> bool:
    return isinstance(value, bytes) and len(value) == HASH_BYTES


def _connect(path: str) -> apsw.Connection:
    keep_special(f"{path}-journal", path)  # SQLite would wait for somebody who writes to a FIFO there
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(BUSY_MS)
    return db


class ForgottenDatabase:
    """The open file. Every method raises apsw.Error or OSError."""

    def __init__(self, path: str) -> None:
        """Open the file, or create it (0600)."""
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        Path(path).chmod(0o600)
        self._db = db = _connect(path)
        try:
            # An earlier livedex kept a log, whose index is mapped: to cut it short would have ended the daemon.
            db.pragma("journal_mode", "delete")
            # Also sync the folder: the removal of the journal is the commit, and it must survive a power loss.
            db.pragma("synchronous", "extra")
            db.pragma("secure_delete", True)
            if not int(db.execute("SELECT count(*) FROM sqlite_master").get):
                with immediate(db):
                    db.execute(_SCHEMA)
                    db.pragma("application_id", APPLICATION_ID)
                    db.pragma("user_version", _VERSION)
        except BaseException:
            db.close()
            raise

    def put(self, hashes: Hashes, before_commit: Callable[[], None]) -> None:
        """Add or replace rows. ``before_commit``: if it raises, nothing is changed."""
        with immediate(self._db):
            self._db.executemany(_PUT, ((root, path, digest) for (root, path), digest in hashes.items()))
            before_commit()

    def drop(self, keys: Iterable[tuple[bytes, bytes]], before_commit: Callable[[], None]) -> None:
        """Remove rows, as ``put`` adds them."""
        with immediate(self._db):
            self._db.executemany(_DROP, keys)
            before_commit()

    def close(self) -> None:
        self._db.close()


def put_aside(path: str) -> None:
    """Rename a damaged file to ``{path}.damaged`` and remove the files next to it. Raises OSError."""
    keep_folder(path, path)
    keep_folder(f"{path}.damaged", path)
    with suppress(FileNotFoundError):
        if os.lstat(path).st_size:
            os.replace(path, f"{path}.damaged")
        else:
            os.unlink(path)
    for suffix in _COMPANIONS:
        keep_folder(path + suffix, path)
        with suppress(FileNotFoundError):
            os.unlink(path + suffix)
