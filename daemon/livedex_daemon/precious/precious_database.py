"""Opens a precious SQLite file and runs its transactions, for one of many processes.

Invariant: a durable transaction that returned is on the disk, and a file that was put in the place of the opened one is
never mistaken for it. The file is never removed, emptied or replaced here.
"""

from __future__ import annotations

import json
import os
import random
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from livedex_indexing.store.database import immediate
from livedex_indexing.store.log_length import is_cut_short
from livedex_ipc.errors import Unavailable

BUSY_S: Final = 10.0  # a process that was stopped in the middle of a transaction keeps all others waiting
LOOK_S: Final = 0.5  # for a lock, in a look that nobody asked for: others wait behind it
_FIRST_TRIES: Final = 4
_FIRST_PAUSES_S: Final = (0.0005, 0.002)
_PAUSES_S: Final = (0.005, 0.04)
CACHE_KIB: Final = 4_096
WAL_CHECKPOINT_PAGES: Final = 2_000
JOURNAL_LIMIT_BYTES: Final = 32 << 20

# Whoever goes on with a removed one, also the last, has a log, or an index and locks of it, that no other process has.
_FILES: Final = ("", "-wal", "-shm")
_DAMAGED: Final = (
    *(apsw.CorruptError, apsw.NotADBError, apsw.FormatError),
    # What was never written so is read: a text that is not UTF-8 or no JSON, a number twice, a schema without a table.
    *(UnicodeDecodeError, json.JSONDecodeError, apsw.ConstraintError, apsw.SQLError),
)
_UNUSABLE: Final = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.CantOpenError,
    apsw.PermissionsError,
    apsw.ProtocolError,
    apsw.NoMemError,
)


class DatabaseUnusable(Unavailable):
    """The file cannot be opened, read or written: damaged, of a newer livedex, locked, or the disk does not take it."""

    remedy = (
        "see that this user may write to it and its folder, that its disk works and has space, and that no quota or"
        " limit of file size is reached"
    )


class DatabaseForeign(DatabaseUnusable):
    """The file is of another program, or of a newer livedex."""

    remedy = "use the livedex that wrote it, or move it away: a new one begins empty"


class DatabaseDisplaced(DatabaseUnusable):
    """A folder, a link or anything else is in the place of the file."""

    remedy = "put the file itself there, or move away what is there: a new one begins empty"


class DatabaseObstructed(DatabaseUnusable):
    """A folder, a link or anything else is in the place of the file's log, of the index of that or of a journal."""

    remedy = "move away what is there, and keep the file itself"


class DatabaseCut(DatabaseUnusable):
    """Another program has cut the file's log short: what this had since it was last copied is lost."""

    remedy = "find the program that cut it; livedex goes on with what is left, once no process of it uses the file"


class DatabaseDamaged(DatabaseUnusable):
    """What the file contains makes no sense."""

    remedy = "restore it from a backup, or move it away: a new one begins empty"


class DatabaseBusy(DatabaseUnusable):
    """Another process has locked the file for ``BUSY_S``: it was stopped, or it is another program."""

    remedy = "end the program that has locked it"


class Schema(NamedTuple):
    """What a file holds. ``subject``: how messages name it; ``script``: the SQL file that makes its tables."""

    subject: str
    application_id: int
    version: int
    script: Path


class PreciousDatabase:
    """One connection. For one thread at a time. Every method raises DatabaseUnusable.

    ``waits_from``: when the caller began to wait, by the monotonic clock; None: at each call. It waits for a lock for
    ``BUSY_S`` from then on.
    """

    def __init__(self, path: str, schema: Schema) -> None:
        """Open the file; create it (0600) if there is none."""
        self._path = path
        self._schema = schema
        self._is_synced = True  # whether each commit waits for the disk
        self._lost_sync = False
        self._is_open = True
        self.waits_from: float | None = None
        with self._translated():
            self._db = self._open()

    def close(self) -> None:
        """Close the file. A log that was cut short is not copied into it: its rest would mix two states."""
        with suppress(apsw.Error, OSError):
            if self._is_open and is_cut_short(self._db, self._path, self._page_bytes):
                self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self._db.close()

    @property
    def path(self) -> str:
        return self._path

    @contextmanager
    def transaction(self, *, durable: bool) -> Iterator[apsw.Connection]:
        """Write. Nothing is changed if the block raises.

        ``durable``: it is on the disk when the block has ended, with all that was written before. Else a power loss may
        undo it, until something durable is written.
        """
        with self._translated():
            self._look_at_file()
            self._set_synced(durable)
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException as error:
                if isinstance(error, apsw.IOError | apsw.FullError):
                    self._lost_sync = True
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Read one state of the file."""
        with self._translated():
            self._look_at_file()
            self._db.execute("BEGIN")
            try:
                yield self._db
            finally:
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    def check_writable(self) -> None:
        """Write what the file says already. Raises DatabaseUnusable."""
        with self.transaction(durable=True) as db:
            db.pragma("user_version", self._schema.version)

    def bytes_on_disk(self) -> int:
        total = 0
        for suffix in ("", "-wal"):
            with suppress(OSError):
                total += os.stat(self._path + suffix).st_size
        return total

    def _open(self) -> apsw.Connection:
        _create(self._path)
        if not stat.S_ISREG(os.lstat(self._path).st_mode):
            raise self._unusable("it is not a regular file", DatabaseDisplaced)
        obstacle = obstacle_of(self._path)
        if obstacle is not None:
            raise self._unusable(f"{obstacle} is not a regular file", DatabaseObstructed)
        with suppress(PermissionError):
            Path(self._path).chmod(0o600)
        # Noted before it is opened: what is put in its place from now on is another file.
        self._identities = {"": _identity(self._path)}
        db = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
            db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
            db.set_busy_handler(self._wait_for_lock())
            db.pragma("cache_size", -CACHE_KIB)
            db.pragma("temp_store", "memory")
            self._check_version(db)
            _use_log(db)
            self._is_synced = True
            db.pragma("synchronous", "full")
            db.pragma("wal_autocheckpoint", WAL_CHECKPOINT_PAGES)
            db.pragma("journal_size_limit", JOURNAL_LIMIT_BYTES)
            _make_tables(db, self._schema)
            self._page_bytes = int(db.pragma("page_size"))
            self._identities.update({suffix: _identity(self._path + suffix) for suffix in _FILES[1:]})
            return db
        except BaseException:
            db.close()
            raise

    def _check_version(self, db: apsw.Connection) -> None:
        strange = strangeness(db, self._schema)
        if strange is not None:
            raise self._unusable(strange, DatabaseForeign)

    def _look_at_file(self) -> None:
        """Open it again if a file of it is not the one that was opened: commits to a removed file succeed."""
        if not self._is_open or self._was_replaced():
            self._is_open = False  # and stays so if the file cannot be used now: the next call tries again
            self._db.close()
            self._db = self._open()
            self._is_open = True
        if is_cut_short(self._db, self._path, self._page_bytes):
            # Commits after a gap would be lost at the next opening, and a copy of the rest would mix two states.
            self._is_open = False
            self._db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._db.close()
            raise self._unusable(f"another program has cut {self._path}-wal short", DatabaseCut)

    def _was_replaced(self) -> bool:
        for suffix in _FILES:
            found = _identity(self._path + suffix)
            known = self._identities.get(suffix)
            if known is None and found is not None:
                self._identities[suffix] = found
            elif found != known:
                return True
        return False

    def _set_synced(self, durable: bool) -> None:
        if self._lost_sync:
            # The kernel marks pages as written that the disk refused. Copy what is in the log, and sync it again.
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            self._lost_sync = False
        if durable != self._is_synced:
            self._db.pragma("synchronous", "full" if durable else "normal")
            self._is_synced = durable

    def _wait_for_lock(self) -> Any:
        """Return a busy handler. All who wait have the same chance: with SQLite's own, who waits longest looks least.

        A hundred processes that looked each millisecond would leave no time for the one that has the lock.
        """
        deadline = 0.0

        def wait(tries: int) -> bool:
            nonlocal deadline
            now = time.monotonic()
            if tries == 0:
                deadline = (now if self.waits_from is None else self.waits_from) + BUSY_S
            shortest_s, longest_s = _FIRST_PAUSES_S if tries < _FIRST_TRIES else _PAUSES_S
            time.sleep(random.uniform(shortest_s, longest_s))
            return now < deadline

        return wait

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGED as error:
            raise self._unusable(f"it is damaged ({error})", DatabaseDamaged) from error
        except (apsw.BusyError, apsw.LockedError) as error:
            raise self._unusable("another program has locked it", DatabaseBusy) from error
        except _UNUSABLE as error:
            raise self._unusable(str(error)) from error
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error

    def _unusable(self, reason: str, kind: type[DatabaseUnusable] = DatabaseUnusable) -> DatabaseUnusable:
        message = f"{self._schema.subject} {self._path} cannot be used: {reason}"
        return kind(message, {"path": self._path, "remedy": kind.remedy})


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def obstacle_of(path: str) -> str | None:
    """Return what is in the place of the file's log, the index of that or a journal, and is no file; None if none is.

    SQLite would wait for somebody who writes to a FIFO there.
    """
    for suffix in (*_FILES[1:], "-journal"):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(path + suffix).st_mode):
                return path + suffix
    return None


def rows(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    """Return all rows of a statement, as tuples. No cursor stays open that would pin the log."""
    return db.execute(sql, values).fetchall()


def first_row(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    """Return the first row of a statement as a tuple, None if there is none."""
    found = db.execute(sql, values).fetchall()
    return found[0] if found else None


def _create(path: str) -> None:
    """Create the file (0600) if there is none, and make its name durable: a commit in it must be found again."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _use_log(db: apsw.Connection) -> None:
    """Switch to a write-ahead log. Of many processes that begin at the same time, one does."""
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            if str(db.pragma("journal_mode", "wal")).lower() == "wal":
                return
            raise apsw.CantOpenError("its file system cannot hold a write-ahead log")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(random.uniform(0.001, 0.01))


def strangeness(db: apsw.Connection, schema: Schema) -> str | None:
    """Return why a database is not one of this livedex; None if it is one, or is new."""
    tables = int(db.execute("SELECT count(*) FROM sqlite_master").get)
    application, version = int(db.pragma("application_id")), int(db.pragma("user_version"))
    if not tables and application in (0, schema.application_id):
        return None
    if application != schema.application_id:
        return "it is a database of another program"
    return "a newer livedex wrote it" if version > schema.version else None


def _make_tables(db: apsw.Connection, schema: Schema) -> None:
    if int(db.pragma("user_version")) == schema.version:
        return
    with immediate(db):
        if int(db.pragma("user_version")) != schema.version:
            db.execute(schema.script.read_text(encoding="utf-8"))
            db.pragma("application_id", schema.application_id)
            db.pragma("user_version", schema.version)
