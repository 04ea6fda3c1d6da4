"""Records which files the user asked to forget, outside the index, so that the record survives a rebuild.

Invariant: a mark is on disk before `ForgottenFiles.add` returns, and it applies to one path and one content: when
either changes, the file is no longer forgotten.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from livedex_indexing.relpath import is_within
from livedex_indexing.store.database import fetch
from livedex_ipc.errors import Unavailable

APPLICATION_ID: Final = 0x4C444650  # "LDFP"
_BUSY_MS: Final = 5_000
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE forgotten (
    root BLOB NOT NULL,         -- absolute path of the root
    path BLOB NOT NULL,         -- relative to it
    hash BLOB NOT NULL,         -- BLAKE2b-128 of the file's bytes when it was forgotten
    PRIMARY KEY (root, path)
) WITHOUT ROWID;
"""

_PUT: Final = "INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?)"


class ForgottenFilesUnusable(Unavailable):
    """``forgotten.db`` cannot be read or written, or is not such a file. It cannot be derived: it is never rebuilt."""


class ForgottenFiles:
    """The marks in ``forgotten.db``. Not thread-safe: one thread uses it.

    Every method raises ForgottenFilesUnusable if the file cannot be used.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._hashes: dict[tuple[bytes, bytes], bytes] = {}
        try:
            self._db = _open(path)
            self._hashes = {(root, rel): digest for root, rel, digest in fetch(self._db, "SELECT * FROM forgotten")}
        except (apsw.Error, OSError) as error:
            raise self._unusable(error) from error

    def add(self, root: bytes, files: Iterable[tuple[bytes, bytes]]) -> int:
        """Mark files, given as (relative path, content hash), durably. Return how many."""
        rows = [(root, path, digest) for path, digest in files]
        self._write(_PUT, rows)
        self._hashes.update({(root, path): digest for root, path, digest in rows})
        return len(rows)

    def clear(self, root: bytes, path: bytes) -> int:
        """Unmark a file, or all files below a folder (``b""``: the whole root). Return how many."""
        gone = [key for key in self._hashes if key[0] == root and is_within(key[1], path)]
        self._write("DELETE FROM forgotten WHERE root = ? AND path = ?", gone)
        for key in gone:
            del self._hashes[key]
        return len(gone)

    def of_root(self, root: bytes) -> list[tuple[bytes, bytes]]:
        """Return the marks of a root, as (relative path, content hash)."""
        return [(path, digest) for (forgotten_root, path), digest in self._hashes.items() if forgotten_root == root]

    def has_path(self, root: bytes, path: bytes) -> bool:
        """Whether a file at this path was forgotten, with any content. If not, its hash need not be computed."""
        return (root, path) in self._hashes

    def is_forgotten(self, root: bytes, path: bytes, content_hash: bytes) -> bool:
        return self._hashes.get((root, path)) == content_hash

    def recreate(self) -> bool:
        """Write the file again from memory if it was removed. True if it was."""
        if os.path.lexists(self.path):
            return False
        self._db.close()
        try:
            self._db = _open(self.path)
        except (apsw.Error, OSError) as error:
            raise self._unusable(error) from error
        self._write(_PUT, [(root, path, digest) for (root, path), digest in self._hashes.items()])
        return True

    def close(self) -> None:
        self._db.close()

    def _write(self, statement: str, rows: Sequence[tuple[bytes, ...]]) -> None:
        if not rows:
            return
        try:
            with self._db:
                self._db.executemany(statement, rows)
        except apsw.Error as error:
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> ForgottenFilesUnusable:
        return ForgottenFilesUnusable(
            f"the marks of forgotten files in {self.path} cannot be used: {error}; free the disk or put the file back",
            {"path": self.path},
        )


def _open(path: str) -> apsw.Connection:
    with suppress(FileExistsError):  # the mode of the WAL follows the file's
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise OSError("not a regular file")
    Path(path).chmod(0o600)
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(_BUSY_MS)
    db.transaction_mode = "IMMEDIATE"
    if int(db.execute("SELECT count(*) FROM sqlite_master").get) == 0:
        db.pragma("journal_mode", "wal")
        with db:
            db.execute(_SCHEMA)
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", _VERSION)
    if int(db.pragma("application_id")) != APPLICATION_ID or int(db.pragma("user_version")) != _VERSION:
        db.close()
        raise OSError("it belongs to another program or a newer livedex")
    db.pragma("synchronous", "full")  # not derivable: a commit that was reported must survive a power loss
    db.pragma("secure_delete", True)
    return db
