"""Opens the index file: creates it if needed, and refuses a file that is not a sound index of this schema.

Invariant: a connection from here is to a file of this schema, and only its owner can read the file.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw

from livedex_indexing.store import page_checksums
from livedex_indexing.store.set_aside import keep_special
from livedex_indexing.text.json_bytes import json_bytes
from livedex_ipc.errors import Unavailable

APPLICATION_ID: Final = 0x4C444558  # "LDEX", in the file's header
BUSY_MS: Final = 5_000
WRITER_CACHE_KIB: Final = 8_192
READER_CACHE_KIB: Final = 2_048
WAL_CHECKPOINT_PAGES: Final = 2_000  # 8 MB: commits rarely pay for a checkpoint, the WAL stays small
FULL_BYTES: Final = 64 << 10  # SQLite needs half of it for the index of its log
JOURNAL_LIMIT_BYTES: Final = 32 << 20

_TEXT_BLOCK_BYTES: Final = 1 << 20

SCHEMA_VERSION: Final = 8  # grows with every change of schema.sql, and of how words are written to it

DAMAGED: Final = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)
_UNWRITABLE = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    apsw.ProtocolError,  # file locks do not work: every reader would wait ten seconds for them
    apsw.ConnectionClosedError,  # the file is being replaced
)


class IndexDamaged(Unavailable):
    """The index file is not a database, is corrupt or belongs to another program. It is rebuilt aside."""


class IndexOlder(IndexDamaged):
    """The index file has an older schema. The new columns can only be filled from the files: it is rebuilt aside."""


class IndexForeign(IndexDamaged):
    """The file is a database of another program."""


class IndexNewer(Unavailable):
    """The index file was written by a newer livedex. Its bytes are left as they are."""


class IndexUnwritable(Unavailable):
    """The index file cannot be written or read now: a full disk, a read-only mount, an input/output error."""


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn the SQLite errors that a caller can act on into livedex errors, and a lack of memory into Python's own."""
    try:
        yield
    except DAMAGED as error:
        raise IndexDamaged(f"the index {path} is damaged: {error}", {"path": path}) from error
    except apsw.BusyError as error:
        raise IndexUnwritable(f"the index {path} is locked by another program", {"path": path}) from error
    except apsw.NoMemError as error:
        raise MemoryError(str(error)) from error
    except _UNWRITABLE as error:
        usual = "check that it is there and writable, and that no quota or limit of file size is reached"
        remedy = "free some space on it" if _is_on_full_disk(path, error) else usual
        raise IndexUnwritable(f"the index {path} cannot be used: {error}; {remedy}", {"path": path}) from error


def _is_on_full_disk(path: str, error: apsw.Error) -> bool:
    """Return whether a full disk explains the error. SQLite calls it an I/O error where its own small files fail."""
    if isinstance(error, apsw.FullError):
        return True
    try:
        disk = os.statvfs(os.path.dirname(path))
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < FULL_BYTES or (disk.f_files > 0 and disk.f_favail == 0)


def open_writer(path: str) -> apsw.Connection:
    """Open the one connection that writes, and create the file (0600) if there is none.

    On a full disk an index that is there can be opened, and read. Raises IndexDamaged (IndexOlder too), IndexNewer or
    IndexUnwritable; a file that is refused is left unchanged, byte for byte.
    """
    with translated(path):
        _make_private(path)
        try:
            return _opened(path, page_checksums.VFS_NAME)
        except apsw.IOError as error:
            if not _is_on_full_disk(path, error) or not os.stat(path).st_size:
                raise
            return _opened(path, page_checksums.MEMORY_VFS_NAME)


def _opened(path: str, vfs: str) -> apsw.Connection:
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, vfs=vfs)
    try:
        _harden(db)
        db.set_busy_timeout(BUSY_MS)
        db.pragma("cache_size", -WRITER_CACHE_KIB)
        db.pragma("temp_store", "memory")  # no text in a temporary folder, and no space needed there
        _check_version(db, path)
        _set_up(db, path)
        _make_tables(db)
    except BaseException:
        db.close()
        raise
    return db


def is_foreign(path: str) -> bool:
    """Return whether the file is another program's: a text, or a database that is no index. Nothing is written.

    Raises OSError.
    """
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        return False
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        with closing(apsw.Connection(f"file:{quote(os.fsencode(path))}?immutable=1", flags=flags)) as db:
            return int(db.pragma("application_id")) != APPLICATION_ID and not _has_our_tables(db)
    except apsw.NotADBError:
        return _is_text(path)
    except apsw.Error:
        return False


def _is_text(path: str) -> bool:
    """Return whether the whole file is UTF-8 without a NUL: a damaged index is not, and may have forgotten words."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open(path, "rb") as file:
        while block := file.read(_TEXT_BLOCK_BYTES):
            try:
                if b"\0" in block:
                    return False
                decoder.decode(block)
            except UnicodeDecodeError:
                return False
    return True


def open_reader(path: str, progress: Callable[[], bool]) -> apsw.Connection:
    """Open a read-only connection. SQLite calls ``progress`` now and then; True ends the running statement.

    Raises IndexDamaged or IndexUnwritable.
    """
    with translated(path):
        try:
            db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
        except apsw.Error:
            if os.path.isdir(path):
                raise _not_a_file(path) from None
            raise
        _harden(db)
        db.set_busy_timeout(BUSY_MS)
        db.pragma("cache_size", -READER_CACHE_KIB)
        db.pragma("temp_store", "memory")
        db.set_progress_handler(progress, 2_000)
    return db


def fetch(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Return all rows of a statement, as tuples. No cursor stays open that would pin the write-ahead log."""
    return db.execute(sql, values).fetchall()


def id_list(ids: Iterable[int]) -> str:
    """Return the ids in order, as JSON for SQLite's ``json_each``."""
    return as_json(sorted(ids))


def as_json(value: object) -> str:
    """Return the JSON of plain data. Raises MemoryError."""
    return json_bytes(value).decode()


def varints(data: bytes) -> list[int]:
    """Decode the numbers of an FTS5 record: SQLite's varints, high bits first."""
    numbers, value, length = [], 0, 0
    for byte in data:
        length += 1
        if length == 9:
            value = value << 8 | byte
        else:
            value = value << 7 | byte & 0x7F
        if length == 9 or byte < 0x80:
            numbers.append(value)
            value, length = 0, 0
    return numbers


def _not_a_file(path: str) -> IndexDamaged:
    return IndexDamaged(f"the index {path} is not a regular file", {"path": path})


def _make_private(path: str) -> None:
    """Set mode 0600, whatever the umask. SQLite gives the WAL and its index the mode of the database.

    An existing file is not opened here: closing a descriptor of a database drops the locks that this process holds.
    """
    try:
        keep_special(f"{path}-journal", path)  # SQLite needs the name while it creates the file
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        pass
    except OSError as error:
        raise IndexUnwritable(f"the index {path} cannot be made: {error.strerror}", {"path": path}) from error
    for place in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(place).st_mode):
                raise _not_a_file(place)
    with suppress(PermissionError):  # another user's file: opening it says so better
        Path(path).chmod(0o600)


def _check_version(db: apsw.Connection, path: str) -> None:
    tables = int(db.execute("SELECT count(*) FROM sqlite_master").get)
    application, version = int(db.pragma("application_id")), int(db.pragma("user_version"))
    if not tables and application in (0, APPLICATION_ID) and version == 0:
        return
    if application != APPLICATION_ID:
        kind = IndexDamaged if _has_our_tables(db) else IndexForeign
        raise kind(f"{path} is a database of another program", {"path": path})
    if version > SCHEMA_VERSION:
        raise IndexNewer(
            f"the index {path} was written by a newer livedex (schema {version}, known up to {SCHEMA_VERSION})",
            {"path": path, "schema": version},
        )
    if version < SCHEMA_VERSION:
        raise IndexOlder(f"the index {path} is of an older livedex (schema {version})", {"path": path})
    if not page_checksums.is_reserved(db):
        raise IndexDamaged(f"the pages of the index {path} have no checksums: another program made it", {"path": path})


def _has_our_tables(db: apsw.Connection) -> bool:
    sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('roots', 'contents', 'postings')"
    return int(db.execute(sql).get) == 3


def _harden(db: apsw.Connection) -> None:
    """Trust nothing in the file: another user may have written it. SQLite then runs no code from its schema, and no SQL
    writes to its internal tables or to those of FTS5."""
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)


def _set_up(db: apsw.Connection, path: str) -> None:
    db.pragma("page_size", page_checksums.PAGE_BYTES)
    if not int(db.execute("SELECT count(*) FROM sqlite_master").get):
        page_checksums.reserve(db)
        db.pragma("auto_vacuum", 2)  # incremental; on a file with tables it writes, which a full disk refuses
    if str(db.pragma("journal_mode", "wal")).lower() != "wal":
        raise IndexUnwritable(f"the filesystem of {path} cannot hold a write-ahead log", {"path": path})
    db.pragma("synchronous", "normal")
    db.pragma(
        "foreign_keys", False
    )  # the code keeps them and integrity() proves them; a check per row would cost a tenth
    db.pragma("secure_delete", True)  # freed bytes are zeroed; measured: no slower
    db.pragma("wal_autocheckpoint", WAL_CHECKPOINT_PAGES)
    db.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)


@contextmanager
def immediate(db: apsw.Connection) -> Iterator[None]:
    """Make everything inside one write transaction, undone if it raises."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite has rolled back by itself after a full disk
            db.execute("ROLLBACK")
        raise


def _make_tables(db: apsw.Connection) -> None:
    """Create the tables in an empty file, in one transaction: a crash leaves an empty file or a whole index."""
    if int(db.pragma("user_version")) == SCHEMA_VERSION:
        return
    with immediate(db):
        db.execute(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", SCHEMA_VERSION)
