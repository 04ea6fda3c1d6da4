"""The store: files, contents, chunks and postings in one SQLite file, written by one thread.

Invariant: all changes of a transaction become visible at once, together with the next generation; the text of files
is never stored, only their words.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, Unpack

import apsw

from livedex_indexing.model import (
    STATUSES,
    ChunkedContent,
    Counts,
    FileRow,
    KnownState,
    RootRow,
    RootUpdate,
    StatusCounts,
)
from livedex_indexing.store import maintenance, page_checksums
from livedex_indexing.store.contents import ContentTable
from livedex_indexing.store.database import IndexDamaged, IndexNewer, IndexUnwritable, fetch, open_writer, translated
from livedex_indexing.store.file_guard import FileGuard, Loss
from livedex_indexing.store.file_rows import FileTable, KnownPaths, to_signed, to_unsigned
from livedex_indexing.store.sql import GENERATION

__all__ = ["KEEP_S", "IndexDamaged", "IndexNewer", "IndexUnwritable", "Store", "read_counts", "read_roots"]

KEEP_S: Final = 24 * 3600.0  # how long to keep unused contents, and the files of a root that is gone

_SET_GENERATION = "UPDATE state SET value = ? WHERE name = 'generation'"
_ROOTS = """SELECT id, path, dev, ino, missing_since, first_indexed, last_reconciled, planned
            FROM roots ORDER BY path"""
_PUT_ROOT = """INSERT INTO roots (path, dev, ino) VALUES (?, ?, ?)
               ON CONFLICT (path) DO UPDATE SET dev = excluded.dev, ino = excluded.ino RETURNING id"""
_KEEP_ROOT = """INSERT INTO roots (id, path, dev, ino, missing_since) VALUES (?, ?, ?, ?, ?)"""
_VISIBLE: Final = frozenset({"missing_since"})  # the part of a root's state that a search can see
# SQLite would choose the index by path and look up each row by itself: twice as long, more when cold.
_STATUSES = "SELECT root_id, status, count(*) FROM files NOT INDEXED GROUP BY root_id, status"
_CHUNKS = "SELECT (SELECT count(*) FROM chunks) - (SELECT count(*) FROM dead)"


# Called after each commit with the files that it changed and that were indexed before or after it, or wait for it with
# known bytes, as (root id, path), each with the hash of its bytes before, and with the roots whose served files all
# changed.
OnChange = Callable[[dict[tuple[int, bytes], bytes | None], set[int]], None]


def ignore_change(_files: dict[tuple[int, bytes], bytes | None], _roots: set[int]) -> None:
    return


class Store:
    """The write side. Not thread-safe: one thread opens it, uses it and closes it.

    Every method that changes something is a transaction of its own unless it runs inside `transaction`. Raises
    IndexUnwritable if the file cannot be written and IndexDamaged if its pages make no sense; the transaction is
    then undone.
    """

    def __init__(self, db: apsw.Connection, path: str, now: Callable[[], float], on_change: OnChange) -> None:
        self.path = path
        self.on_change = on_change
        self._now = now
        self._use(db)

    def _use(self, db: apsw.Connection) -> None:
        self._db = db
        self._contents = ContentTable(db, self._now)
        self._files = FileTable(db, self._contents)
        self._changed = False
        self.generation: int = int(db.execute(GENERATION).get)
        self._guard = FileGuard(db, self.path)
        self._folded = False  # whether the log was copied into the file once since it was opened

    @classmethod
    def open(cls, path: str, *, now: Callable[[], float] = time.time, on_change: OnChange = ignore_change) -> Store:
        """Open the index file, or create it. ``now`` returns seconds since the epoch.

        Raises IndexDamaged (no database, corrupt, foreign), IndexNewer (the schema of a later livedex; nothing is
        changed) or IndexUnwritable.
        """
        db = open_writer(path)
        with translated(path):
            return cls(db, path, now, on_change)

    def reopen(self) -> None:
        """Open the file that is at the path now, or an empty one: for when the file was lost or put aside.

        The generation keeps growing, so that no cached state of the former file passes for the new file's.
        Raises the errors of `open`; until a later call succeeds, every use raises IndexUnwritable.
        """
        # Closed first: the last connection to close removes the log by its name, which may be the new file's by then.
        self.close()
        page_checksums.forget_unsynced(self.path)
        former = self.generation
        db = open_writer(self.path)
        with translated(self.path):
            db.execute(_SET_GENERATION, (former + 1,))
            self._use(db)

    def replaced_or_lost(self) -> Loss | Literal["unsynced"] | None:
        """Return what happened to the open file (deleted, replaced, truncated, overwritten), None if nothing did.

        ``unsynced``: the disk lost some writes and works again. Raises IndexUnwritable while it still fails.
        """
        with translated(self.path):
            try:
                lost = self._guard.replaced_or_lost()
            except OSError as error:
                raise IndexUnwritable(f"the index {self.path} cannot be read: {error.strerror}") from error
            if lost is None and page_checksums.is_unsynced(self.path):
                maintenance.fold(self._db)  # pages that could not be synced are still in the log: try again
                return "unsynced"
            return lost

    def has_next_to_it(self, path: str) -> bool:
        """Return whether the file at ``path`` is the log of the open file, or the index of that log."""
        return self._guard.has_next_to_it(path)

    def prove_writable(self) -> None:
        """Commit a write that changes nothing. Raises IndexUnwritable or IndexDamaged."""
        with self.transaction():
            self._db.execute(_SET_GENERATION, (self.generation,))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make everything inside one commit, undone if it raises. A nested one joins the outer one."""
        joins = self._db.in_transaction
        if joins:
            yield
            return
        with translated(self.path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._contents.settle()
                generation = self.generation + int(self._changed)
                if self._changed:
                    self._db.execute(_SET_GENERATION, (generation,))
                self._db.execute("COMMIT")
            except BaseException:
                self._contents.forget_cached()
                if self._db.in_transaction:  # SQLite has rolled back by itself after a full disk or a lost device
                    self._db.execute("ROLLBACK")
                raise
            else:
                self.generation = generation
                if self._files.changed_files or self._files.changed_roots:
                    self.on_change(self._files.changed_files, self._files.changed_roots)
            finally:
                self._changed = False
                self._files.forget_changed()

    def close(self) -> None:
        """Close the file; the last connection to close copies the write-ahead log into it. May be called twice."""
        with suppress(apsw.Error):  # a full or failing disk: it is closed, and the log stays for the next to open it
            self._db.close()

    # roots

    def put_root(self, path: bytes, dev: int, ino: int) -> int:
        """Add a root, or set the new ``dev`` and ``ino`` of a known one. Return its id."""
        with self.transaction():
            return int(self._db.execute(_PUT_ROOT, (path, to_signed(dev), to_signed(ino))).get)

    def keep_root(self, root_id: int, path: bytes, dev: int, ino: int, missing_since: float | None) -> None:
        """Add a root under the id that it had in a former file, with nothing indexed yet."""
        with self.transaction():
            self._db.execute(_KEEP_ROOT, (root_id, path, to_signed(dev), to_signed(ino), missing_since))

    def roots(self) -> list[RootRow]:
        return read_roots(self._db)

    def set_root(self, root_id: int, **state: Unpack[RootUpdate]) -> None:
        """Set the given fields of the root."""
        unknown = state.keys() - RootUpdate.__optional_keys__
        if unknown:
            raise ValueError(f"a root has no {sorted(unknown)}")
        row: RootUpdate = {**state}
        if "dev" in row:
            row["dev"] = to_signed(row["dev"])
        if "ino" in row:
            row["ino"] = to_signed(row["ino"])
        with self.transaction():
            self._db.execute(
                f"UPDATE roots SET {', '.join(f'{n} = ?' for n in row)} WHERE id = ?", (*row.values(), root_id)
            )
            if not _VISIBLE.isdisjoint(state):
                self._changed = True
                self._files.changed_roots.add(root_id)

    def drop_root(self, root_id: int) -> None:
        """Remove a root with its files; contents that only it used do not wait for `collect`."""
        with self.transaction():
            self._files.remove_below(root_id, b"", forget=True)
            self._db.execute("DELETE FROM roots WHERE id = ?", (root_id,))
            self._changed = True

    # contents

    def find_content(self, content_hash: bytes, signature: bytes) -> int | None:
        """Return the id of the content cut from these bytes by this plan, used by a file or not; None if unknown."""
        return self._contents.find(content_hash, signature)

    def add_content(
        self, content_hash: bytes, signature: bytes, size: int, content: ChunkedContent, *, rewrite: bool = False
    ) -> int:
        """Store a content and return its id. No search sees it until a row of `put_files` points at it.

        With ``rewrite`` an existing content is written again, which repairs damaged rows.
        """
        with self.transaction():
            return self._contents.add(content_hash, signature, size, content, rewrite=rewrite)

    def collect(self, older_than_s: float = KEEP_S, limit: int = 200) -> int:
        """Remove at most ``limit`` contents that no file has used for ``older_than_s``. Return how many."""
        with self.transaction():
            gone = self._contents.collect(older_than_s, limit)
            self._changed |= gone > 0  # word frequencies change with them, and so may the order of hits
            return gone

    # files

    def put_files(self, rows: Iterable[FileRow]) -> None:
        """Insert or replace each row by (root_id, path)."""
        with self.transaction():
            self._changed |= self._files.put(rows) > 0

    def remove_files(self, root_id: int, paths: Iterable[bytes], *, forget: bool = False) -> int:
        """Remove the rows of these paths, as far as they exist. Return how many.

        With ``forget`` contents that no other file uses are collected at once, not after a day: for files that the
        user forgot or a rule excludes.
        """
        with self.transaction():
            gone = self._files.remove(root_id, paths, forget=forget)
            self._changed |= gone > 0
            return gone

    def remove_tree(self, root_id: int, path: bytes, *, forget: bool = False) -> int:
        """Remove everything below a folder, but not the row of ``path`` itself; ``b""`` is the whole root."""
        with self.transaction():
            gone = self._files.remove_below(root_id, path, forget=forget)
            self._changed |= gone > 0
            return gone

    def folder(self, root_id: int, path: bytes) -> dict[bytes, FileRow]:
        """Return the rows directly in a folder, by name."""
        return self._files.folder(root_id, path)

    def states(self, root_id: int, path: bytes) -> dict[bytes, KnownState]:
        """Return the known states of the entries directly in a folder, by name: just enough to detect a change."""
        return self._files.states(root_id, path)

    def all_states(self, root_id: int, limit: int) -> dict[bytes, dict[bytes, KnownState]] | None:
        """Return the known states of a whole root, by folder and name; None if it has more than ``limit`` rows."""
        return self._files.all_states(root_id, limit)

    def forgotten(self, root_id: int) -> list[tuple[bytes, bytes]]:
        """Return the files of a root that are left out as forgotten, as (path, content hash)."""
        return self._files.forgotten(root_id)

    def pending(self, limit: int) -> list[tuple[int, bytes]]:
        """Return at most ``limit`` of the files that are not read yet, as (root id, path)."""
        return self._files.pending(limit)

    def folders_below(self, root_id: int, path: bytes) -> list[bytes]:
        """Return the folders that contain rows, ``path`` included, in byte order."""
        return self._files.folders_below(root_id, path)

    def file(self, root_id: int, path: bytes) -> FileRow | None:
        return self._files.file(root_id, path)

    def known_paths(self, root_id: int, paths: Collection[bytes]) -> KnownPaths:
        """Return what the index has of these paths, which are not ``b""``: in few statements."""
        return self._files.known_paths(root_id, paths)

    def by_inode(self, ino: int) -> list[FileRow]:
        """Return the rows whose file had this inode, in any root: a renamed file may have been one of them."""
        return self._files.by_inode(ino)

    def lost_names(self, few: int) -> list[tuple[tuple[int, bytes], int]]:
        """Return the paths that cease, by this transaction, to be a name of an inode, and that inode.

        If there are more than ``few``, only those whose inode has another name in the index.
        """
        return self._files.lost_names(few)

    # upkeep

    def maintain(self, budget_s: float, *, keep_s: float = KEEP_S) -> bool:
        """Collect, merge, free pages and empty the write-ahead log, in short transactions, for about ``budget_s``.

        Return True when nothing is left to do. Forgotten contents are then physically gone. Removed ones wait
        ``keep_s`` for a file to use them again; their words are merged away after at most as long again.
        """
        with translated(self.path):
            return maintenance.maintain(self._db, lambda: self.collect(keep_s) > 0, self._now() - keep_s, budget_s)

    def is_scattered(self) -> bool:
        """Whether bulk work left the postings in so many pieces that searches become slower."""
        with translated(self.path):
            return maintenance.is_scattered(self._db)

    def merge(self, budget_s: float) -> bool:
        """Merge the postings, in short transactions, for about ``budget_s``. Return True when they are in one piece."""
        with translated(self.path):
            return maintenance.merge(self._db, budget_s)

    def checkpoint(self) -> bool:
        """Copy the write-ahead log into the file and empty it. Return False while a reader still needs it."""
        with translated(self.path):
            return maintenance.checkpoint(self._db)

    def release_memory(self) -> None:
        """Free the page cache: for the end of bulk work."""
        self._db.pragma("shrink_memory")

    def counts(self) -> Counts:
        return read_counts(self._db)

    def damaged_pages(self, first: int, count: int) -> list[int] | None:
        """Return those of ``count`` pages from ``first`` on (1-based) whose bytes have changed on the disk.

        None if this cannot be checked now: the log must be copied into the file first, and a reader still needs it.
        """
        with translated(self.path):
            if not self._folded:
                self._folded = maintenance.fold(self._db)
            if not self._folded:
                return None
            found = page_checksums.damaged(self._db, first, count)
            if found and not maintenance.fold(self._db):
                return None  # one page may still wait in the log while later ones have reached the file
            return page_checksums.damaged(self._db, first, count) if found else []

    def pages(self) -> int:
        """Return the number of pages of the file. Raises IndexDamaged if there is no file."""
        try:
            return os.stat(self.path).st_size // page_checksums.PAGE_BYTES
        except OSError as error:
            raise IndexDamaged(f"the index {self.path} is lost: {error.strerror}", {"path": self.path}) from error

    def integrity(self) -> list[str]:
        """Return the faults inside the file, in words; empty if it is sound. Reads all of it."""
        return maintenance.integrity(self._db)


def read_roots(db: apsw.Connection) -> list[RootRow]:
    return [
        RootRow(root_id, path, to_unsigned(dev), to_unsigned(ino), missing, bool(indexed), reconciled, planned)
        for root_id, path, dev, ino, missing, indexed, reconciled, planned in fetch(db, _ROOTS)
    ]


def read_counts(db: apsw.Connection) -> Counts:
    """Return the counts, for the writer and for readers."""
    by_root: dict[int, dict[str, int]] = {}
    for root_id, status, count in fetch(db, _STATUSES):
        by_root.setdefault(root_id, {})[STATUSES[status]] = count
    roots = {root_id: StatusCounts(**counts) for root_id, counts in by_root.items()}
    return Counts(roots, int(db.execute(_CHUNKS).get))
