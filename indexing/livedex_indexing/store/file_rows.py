"""Files: one row per path, in the tables ``files`` and ``paths``, as the writer uses them.

Invariant: every row of ``files`` has its words in ``paths`` under the same id, and `ContentTable.touch` receives each
content that a row begins or ceases to point at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

import apsw

from livedex_indexing import relpath
from livedex_indexing.model import STATUSES, FileRow, FileState, KnownState
from livedex_indexing.store.contents import ContentTable
from livedex_indexing.store.database import fetch, id_list
from livedex_indexing.store.many_paths import NAMED, fetch_named, with_files_below
from livedex_indexing.text.path_words import path_text

_STATUS_PLACE: Final = {status: place for place, status in enumerate(STATUSES)}
_WRAP: Final = 1 << 64  # inode numbers are unsigned 64-bit, SQLite's integers signed
_BATCH: Final = 500

ROW = """f.root_id, f.folder, f.name, f.size, f.mtime_ns, f.ctime_ns, f.ino, f.status, f.reason, f.content_id,
         coalesce(t.hash, f.content_hash), coalesce(t.signature, f.signature),
         (SELECT name FROM languages WHERE id = t.language), f.indexed_at, f.settled"""
FROM = "FROM files f LEFT JOIN contents t ON t.id = f.content_id"
_FOLDER = f"SELECT {ROW} {FROM} WHERE f.root_id = ? AND f.folder = ?"
_FILE = f"{_FOLDER} AND f.name = ?"
_BY_INO = f"SELECT {ROW} {FROM} WHERE f.ino = ?"
_NAMED = f"SELECT {ROW} {FROM} WHERE {NAMED}"
_SHARED = "SELECT ino FROM files WHERE ino IN (SELECT value FROM json_each(?)) GROUP BY ino HAVING count(*) > 1"
_LINKED = "SELECT DISTINCT ino FROM files WHERE ino IN (SELECT value FROM json_each(?))"
_HAS_INO = "SELECT 1 FROM files WHERE ino = ?"
# While the state is the same, these rows are certain; the others are examined whatever their state.
_CERTAIN = f"""(status = {STATUSES.index("indexed")}
               OR status = {STATUSES.index("skipped")} AND reason IN ('binary', 'forgotten')) AND settled = 1"""
_STATES = f"SELECT name, size, mtime_ns, ctime_ns, ino, {_CERTAIN} FROM files WHERE root_id = ? AND folder = ?"
_ALL_STATES = f"SELECT folder, name, size, mtime_ns, ctime_ns, ino, {_CERTAIN} FROM files WHERE root_id = ?"
_FORGOTTEN = f"""SELECT folder, name, content_hash FROM files
                 WHERE root_id = ? AND status = {STATUSES.index("skipped")} AND reason = 'forgotten'"""
PENDING: Final = f"SELECT root_id, folder, name FROM files WHERE status = {STATUSES.index('pending')} LIMIT ?"
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM files WHERE root_id = ? LIMIT ?)"
# Of the bytes that are indexed, or wait to be.
_HASH = f"""coalesce((SELECT hash FROM contents WHERE id = content_id),
                     CASE status WHEN {STATUSES.index("pending")} THEN content_hash END)"""
_FIND = f"SELECT id, content_id, {_HASH}, ino FROM files WHERE root_id = ? AND folder = ? AND name = ?"
_FIND_NAMED = f"SELECT id, content_id, {_HASH}, ino, folder, name FROM files f WHERE {NAMED}"
_ADD = """INSERT INTO files (root_id, folder, name, size, mtime_ns, ctime_ns, ino, status, reason, content_id,
          content_hash, signature, indexed_at, settled) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_CHANGE = """UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, ino = ?, status = ?, reason = ?, content_id = ?,
             content_hash = ?, signature = ?, indexed_at = ?, settled = ? WHERE id = ?"""
_ADD_PATH = "INSERT INTO paths (rowid, name, folder) VALUES (?, ?, ?)"
_BELOW_ALL = f"SELECT id, content_id, {_HASH}, ino, folder, name FROM files WHERE root_id = ?1"
# In two parts: for an OR between them, SQLite would pass through all files of the root.
BELOW = f"{_BELOW_ALL} AND folder = ?2 UNION ALL {_BELOW_ALL} AND folder >= ?3 AND folder < ?4"
_FOLDERS_ALL = "SELECT DISTINCT folder FROM files WHERE root_id = ? ORDER BY folder"
FOLDERS = """SELECT ?2 AS folder WHERE EXISTS (SELECT 1 FROM files WHERE root_id = ?1 AND folder = ?2)
             UNION ALL SELECT DISTINCT folder FROM files WHERE root_id = ?1 AND folder >= ?3 AND folder < ?4
             ORDER BY folder"""
_DROP = "DELETE FROM files WHERE id = ?"
_DROP_PATH = "DELETE FROM paths WHERE rowid = ?"


class KnownPaths(NamedTuple):
    """What the index has of some paths.

    ``rows``: by path; ``folders``: the paths with files below; ``shared``: those inodes of the rows that others have.
    """

    rows: dict[bytes, FileRow]
    folders: set[bytes]
    shared: set[int]


def to_signed(number: int) -> int:
    """Return an inode or device number as a signed number that SQLite can store."""
    return number - _WRAP if number >= _WRAP >> 1 else number


def to_unsigned(number: int) -> int:
    return number + _WRAP if number < 0 else number


def file_row(values: tuple[Any, ...]) -> FileRow:
    """Return a row selected as `ROW`."""
    (root_id, folder, name, size, mtime, ctime, ino, status, reason, content_id, digest, signature, language,
     indexed_at, settled) = values  # fmt: skip
    return FileRow(
        root_id, relpath.join(folder, name),
        FileState(size, mtime, ctime, ino if ino >= 0 else ino + _WRAP), STATUSES[status], reason, content_id, digest,
        signature, language, indexed_at, settled == 1,
    )  # fmt: skip


class FileTable:
    """Reads and writes rows of files inside the writer's transactions."""

    def __init__(self, db: apsw.Connection, contents: ContentTable) -> None:
        self._db = db
        self._contents = contents
        # Changed by the transaction, and indexed before or after it, or waiting for it: each with the hash before.
        self.changed_files: dict[tuple[int, bytes], bytes | None] = {}
        self.changed_roots: set[int] = set()  # all files of these roots count as changed
        self._lost_names: dict[tuple[int, bytes], int] = {}  # and the inodes that they had

    def forget_changed(self) -> None:
        """Forget the changes: the transaction has ended."""
        self.changed_files, self.changed_roots, self._lost_names = {}, set(), {}

    def put(self, rows: Iterable[FileRow]) -> int:
        """Insert or replace each row by (root_id, path). Return the number of rows given."""
        count = 0
        for row in rows:
            self._put_one(row)
            count += 1
        return count

    def remove(self, root_id: int, paths: Iterable[bytes], *, forget: bool) -> int:
        found = fetch_named(self._db, _FIND_NAMED, root_id, paths)
        self._note_changed(root_id, found)
        return self._drop([row[:2] for row in found], forget=forget)

    def remove_below(self, root_id: int, path: bytes, *, forget: bool) -> int:
        """Remove everything below a folder, but not the row of ``path`` itself; ``b""`` is the whole root."""
        sql, values = (BELOW, (path, *relpath.range_below(path))) if path else (_BELOW_ALL, ())
        found = fetch(self._db, sql, (root_id, *values))
        if path:
            self._note_changed(root_id, found)
        elif found:
            self.changed_roots.add(root_id)
        return self._drop([row[:2] for row in found], forget=forget)

    def _note_changed(self, root_id: int, found: list[Any]) -> None:
        for _, _, digest, ino, *names in found:
            path = relpath.join(*names)
            self._lost_names[root_id, path] = ino
            if digest is not None:
                self.changed_files.setdefault((root_id, path), digest)

    def folder(self, root_id: int, path: bytes) -> dict[bytes, FileRow]:
        return {values[2]: file_row(values) for values in fetch(self._db, _FOLDER, (root_id, path))}

    def states(self, root_id: int, path: bytes) -> dict[bytes, KnownState]:
        """Return the known states of the entries directly in a folder, by name: just enough to detect a change."""
        return {values[0]: values[1:] for values in fetch(self._db, _STATES, (root_id, path))}

    def pending(self, limit: int) -> list[tuple[int, bytes]]:
        return [(root_id, relpath.join(folder, name)) for root_id, folder, name in fetch(self._db, PENDING, (limit,))]

    def forgotten(self, root_id: int) -> list[tuple[bytes, bytes]]:
        """Return the files of a root that are left out as forgotten, as (path, content hash)."""
        return [
            (relpath.join(folder, name), digest) for folder, name, digest in fetch(self._db, _FORGOTTEN, (root_id,))
        ]

    def all_states(self, root_id: int, limit: int) -> dict[bytes, dict[bytes, KnownState]] | None:
        """Return the known states of a whole root, by folder and name; None if it has more than ``limit`` rows."""
        if fetch(self._db, _COUNT, (root_id, limit + 1))[0][0] > limit:
            return None
        folders: dict[bytes, dict[bytes, KnownState]] = {}
        for values in self._db.execute(_ALL_STATES, (root_id,)):
            folder = folders.get(values[0])
            if folder is None:
                folder = folders[values[0]] = {}
            folder[values[1]] = values[2:]
        return folders

    def folders_below(self, root_id: int, path: bytes) -> list[bytes]:
        sql, values = (FOLDERS, (path, *relpath.range_below(path))) if path else (_FOLDERS_ALL, ())
        return [folder for (folder,) in fetch(self._db, sql, (root_id, *values))]

    def file(self, root_id: int, path: bytes) -> FileRow | None:
        found = fetch(self._db, _FILE, (root_id, *relpath.split(path)))
        return file_row(found[0]) if found else None

    def known_paths(self, root_id: int, paths: Collection[bytes]) -> KnownPaths:
        rows = {row.path: row for row in map(file_row, fetch_named(self._db, _NAMED, root_id, paths))}
        shared = fetch(self._db, _SHARED, (id_list(to_signed(row.state.ino) for row in rows.values()),))
        return KnownPaths(rows, with_files_below(self._db, root_id, paths), {to_unsigned(ino) for (ino,) in shared})

    def by_inode(self, ino: int) -> list[FileRow]:
        key = (to_signed(ino),)
        if not ino or not fetch(self._db, _HAS_INO, key):  # a new file: this check takes an eighth of the time
            return []
        return [file_row(values) for values in fetch(self._db, _BY_INO, key)]

    def lost_names(self, few: int) -> list[tuple[tuple[int, bytes], int]]:
        names = self._lost_names.items()
        linked = fetch(self._db, _LINKED, (id_list({ino for _, ino in names}),)) if len(names) > few else ()
        kept = {ino for (ino,) in linked}
        return [(key, to_unsigned(ino)) for key, ino in names if len(names) <= few or ino in kept]

    def _put_one(self, row: FileRow) -> None:
        folder, name = relpath.split(row.path)
        state, content_id = row.state, row.content_id
        # An indexed file's hash and signature are on its content; the row has them only if there is no content.
        own = (row.content_hash, row.signature) if content_id is None else (None, None)
        values = (state.size, state.mtime_ns, state.ctime_ns, to_signed(state.ino), _STATUS_PLACE[row.status],
                  row.reason, content_id, *own, row.indexed_at, int(row.settled))  # fmt: skip
        known = fetch(self._db, _FIND, (row.root_id, folder, name))
        if not known:
            self._db.execute(_ADD, (row.root_id, folder, name, *values))
            self._db.execute(_ADD_PATH, (self._db.last_insert_rowid(), path_text(name), path_text(folder)))
        else:
            self._db.execute(_CHANGE, (*values, known[0][0]))
        _, before, digest, ino = known[0] if known else (None, None, None, values[3])
        if ino != values[3]:
            self._lost_names[row.root_id, row.path] = ino
        waits = row.status == "pending" and row.content_hash is not None
        if digest is not None or content_id is not None or waits:
            self.changed_files.setdefault((row.root_id, row.path), digest)
        for changed in {before, content_id} if before != content_id else ():
            if changed is not None:
                self._contents.touch(changed)

    def _drop(self, found: list[tuple[int, int | None]], *, forget: bool) -> int:
        for batch in _batches(found):
            self._db.executemany(_DROP, [(file_id,) for file_id, _ in batch])
            self._db.executemany(_DROP_PATH, [(file_id,) for file_id, _ in batch])
            for _, content_id in batch:
                if content_id is not None:
                    self._contents.touch(content_id, forget=forget)
        if found:
            self._contents.mark_unmerged(forget=forget)
        return len(found)


def _batches(found: list[tuple[int, int | None]]) -> Iterator[list[tuple[int, int | None]]]:
    return (found[start : start + _BATCH] for start in range(0, len(found), _BATCH))
