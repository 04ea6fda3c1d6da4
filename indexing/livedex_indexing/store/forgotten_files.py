"""Records which files the user asked to forget, outside the index, so that the record survives a rebuild.

Invariant: a mark is on disk in two files before `ForgottenFiles.add` returns, and it applies to one path and one
content: when either changes, the file is no longer forgotten. Where the two files differ, a mark in either of them
counts: a file that is forgotten for too long is better than one that is served.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable, Iterable

import apsw

from livedex_indexing.relpath import is_within
from livedex_indexing.store import forgotten_copy, forgotten_database
from livedex_indexing.store.forgotten_copy import Completeness, Hashes, Record
from livedex_indexing.store.forgotten_database import ForgottenDatabase, NewerFileError
from livedex_ipc.errors import Unavailable
from livedex_ipc.paths import remedy_for

log = logging.getLogger(__name__)

Stamp = tuple[int, int, int] | None


class ForgottenFilesUnusable(Unavailable):
    """The record cannot be written, or cannot be read at all. It cannot be derived: it is never begun again empty."""


class ForgottenFiles:
    """The marks in ``forgotten.db`` and in ``forgotten.db.copy``. Not thread-safe: one thread uses it.

    Every method raises ForgottenFilesUnusable if the files cannot be used.
    """

    def __init__(self, path: str) -> None:
        """Read both files and repair one from the other. Raises ForgottenFilesUnusable if neither can be read."""
        self.path = path
        self._copy_path = f"{path}.copy"
        self._database: ForgottenDatabase | None = None
        self._stamps: tuple[Stamp, Stamp] | None = None  # of the two files as they were written; None: write them
        copy = forgotten_copy.read(self._copy_path)
        main = self._read_database(copy)
        # The lines of the copy have checksums, the rows of the database do not.
        self._hashes: Hashes = main.hashes | copy.hashes
        self._state = _completeness(main, copy)
        if "damaged" in (main.state, copy.state):
            log.warning("forgotten_files_damaged", extra={"database": main.state, "copy": copy.state})
        try:
            if main.state == copy.state == "whole" and main.hashes == copy.hashes:
                self._accept()
            else:
                self._write_both(renew=main.state != "whole")
        except (apsw.Error, OSError) as error:  # a full disk: what was read counts, and a later look writes it
            if "whole" not in (main.state, copy.state):
                raise self._unusable(error) from error
            log.warning("forgotten_files_unwritable", extra={"error": type(error).__name__})

    def _read_database(self, copy: Record) -> Record:
        try:
            return forgotten_database.read(self.path)
        except (NewerFileError, apsw.Error, OSError) as error:
            if copy.state == "whole":  # nothing depends on what cannot be read
                return Record({}, "damaged")
            raise self._unusable(error) from error

    @property
    def is_incomplete(self) -> bool:
        """Whether marks may be missing: neither file was sound when they were opened."""
        return self._state != "whole"

    @property
    def is_lost(self) -> bool:
        """Whether marks were lost, as far as is known. It stays so until the daemon is stopped."""
        return self._state == "lost"

    def adopt(self, root: bytes, files: Iterable[tuple[bytes, bytes]]) -> None:
        """Mark files of an incomplete record that the index still has as forgotten, as (relative path, hash)."""
        missing = [(path, digest) for path, digest in files if (root, path) not in self._hashes]
        if missing:
            self._state = "lost"
            self.add(root, missing)
            log.warning("forgotten_files_adopted", extra={"count": len(missing)})

    def settle(self) -> None:
        """End the first start: the index had no forgotten files either."""
        if self._state == "new":
            self._state = "whole"
            self._stamps = None
            with contextlib.suppress(apsw.Error, OSError):  # then a later look writes it
                self._write_both(renew=False)

    def add(self, root: bytes, files: Iterable[tuple[bytes, bytes]]) -> int:
        """Mark files, given as (relative path, content hash), durably. Return how many."""
        added = {(root, path): digest for path, digest in files}
        if added:
            self._change(self._hashes | added, lambda database, commit: database.put(added, commit))
        return len(added)

    def clear(self, root: bytes, path: bytes) -> int:
        """Unmark a file, or all files below a folder (``b""``: the whole root). Return how many."""
        return self.clear_files([key for key in self._hashes if key[0] == root and is_within(key[1], path)])

    def clear_files(self, files: Iterable[tuple[bytes, bytes]]) -> int:
        """Unmark files, given as (root, relative path), as far as they are marked. Return how many."""
        gone = {key for key in files if key in self._hashes}
        if gone:
            left = {key: digest for key, digest in self._hashes.items() if key not in gone}
            self._change(left, lambda database, commit: database.drop(gone, commit))
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
        """Write both files again from memory if others changed one of them. True if that was necessary."""
        if self._stamps is not None and self._stamps == self._stamps_now():
            return False
        try:
            self._close_database()
            main = forgotten_database.read(self.path)
            if main == Record(self._hashes, "whole"):
                if forgotten_copy.read(self._copy_path) == Record(self._hashes, self._state):
                    self._accept()
                    return False
                self._write_both(renew=False)
            else:
                self._write_both(renew=True)
        except (NewerFileError, apsw.Error, OSError) as error:
            raise self._unusable(error) from error
        log.warning("forgotten_files_written_again")
        return True

    def close(self) -> None:
        """Close the files. A report of lost marks ends here."""
        if self._state == "lost":
            self._state = "whole"
            with contextlib.suppress(OSError):  # then the next start reports it again
                forgotten_copy.write(self._copy_path, self._hashes, self._state)
        self._close_database()

    def _accept(self) -> None:
        """Take both files as they are."""
        self._opened()
        self._stamps = self._stamps_now()

    def _write_both(self, *, renew: bool) -> None:
        """Make both files say what memory does. ``renew``: begin the database again."""
        # First: it then has what the database may lack until it is filled again.
        forgotten_copy.write(self._copy_path, self._hashes, self._state)
        if renew:
            self._close_database()
            forgotten_database.put_aside(self.path)
        self._opened().put(self._hashes, _nothing)
        self._stamps = self._stamps_now()

    def _change(self, hashes: Hashes, write: Callable[[ForgottenDatabase, Callable[[], None]], None]) -> None:
        """Change both files, or neither; then memory."""
        self.recreate()
        try:
            write(self._opened(), lambda: forgotten_copy.write(self._copy_path, hashes, self._state))
        except (apsw.Error, OSError) as error:
            self._stamps = None  # the copy may be ahead of the database: write both again
            raise self._unusable(error) from error
        self._hashes = hashes
        self._stamps = self._stamps_now()

    def _opened(self) -> ForgottenDatabase:
        if self._database is None:
            self._database = ForgottenDatabase(self.path)
        return self._database

    def _close_database(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _stamps_now(self) -> tuple[Stamp, Stamp]:
        return _stamp(self.path), _stamp(self._copy_path)

    def _unusable(self, error: Exception) -> ForgottenFilesUnusable:
        reason, remedy = str(error), "put the file back, or make it readable and writable"
        if isinstance(error, OSError):
            reason, remedy = error.strerror or reason, remedy_for(error, remedy)
        elif isinstance(error, apsw.FullError):
            remedy = "free some space on its disk"
        message = f"the record of forgotten files in {self.path} cannot be used: {reason}; {remedy}"
        return ForgottenFilesUnusable(message, {"path": self.path})


def _completeness(main: Record, copy: Record) -> Completeness:
    """Return what is known of the marks of both files together."""
    if copy.state == "whole" or (main.state == "whole" and copy.state in ("absent", "damaged")):
        return "whole"
    if copy.state in ("absent", "new") and main.state in ("absent", "whole"):
        return "new"
    return "lost"


def _stamp(path: str) -> Stamp:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _nothing() -> None:
    return
