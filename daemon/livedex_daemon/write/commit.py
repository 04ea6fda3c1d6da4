"""Turn decisions and outcomes into rows of the index, in one transaction.

Invariant: removals come before rows, and a file that vanished while it was read leaves no row.
Runs on the worker's thread only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.former_names import FEW_GONE, FormerNames
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.outcomes import (
    Failed,
    Gone,
    Hidden,
    Known,
    NoWorker,
    Outcome,
    Skipped,
    Unreadable,
    Unsettled,
    Waiting,
)
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.walk import Work, bare_row
from livedex_indexing.child.code_version import failure_signature
from livedex_indexing.disk import tree
from livedex_indexing.disk.settled import is_settled
from livedex_indexing.model import ChunkedContent, FileRow
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import Store
from livedex_ipc.errors import Unavailable


class Applied(NamedTuple):
    """What a commit left open. ``again``: keys that must be examined again.

    ``unread``: works that must be read again before their entries are done. Their content was collected as garbage
    after it was known, or their file came back after it was gone. ``hidden``: works whose files seemed to lie in a
    closed folder. What is so is found by the next look, for which their searches wait.
    """

    again: list[Key]
    unread: list[Work]
    hidden: list[Work]


class Committer:
    def __init__(self, store: Store, forgotten: ForgottenFiles, roots: Roots, priority: SearchPriority) -> None:
        self._store = store
        self._roots = roots
        self._forgotten = forgotten
        self._priority = priority

    def apply(self, changes: Changes, outcomes: list[Outcome], former_names: FormerNames) -> Applied:
        """Store everything, or raise and store nothing. ``former_names`` gets the names that the index has no more:
        a later event of one is about a file that it cannot find by its row."""
        applied = Applied([], [], [])
        with self._store.transaction():
            self._remove(changes)
            self._store.put_files(row for row in changes.rows if self.admits(row.root_id, row.path))
            rows: list[FileRow] = []
            for outcome in outcomes:
                work, result = outcome.work, outcome.result
                self._priority.yield_to_searches(len(outcomes))
                if work.cancelled or not self.admits(*work.key):
                    continue
                row = self._row_of(outcome)
                if row is not None:
                    rows.append(row)
                elif isinstance(result, Known) or (isinstance(result, Gone) and _is_there(work)):
                    applied.unread.append(work)
                if isinstance(result, Unsettled):
                    applied.again.append(work.key)
                elif isinstance(result, Hidden):
                    applied.hidden.append(work)
            self._store.put_files(rows)
            self._unmark(rows)
            for key, ino in self._store.lost_names(FEW_GONE):  # before anybody can miss their rows
                former_names.lost(key, ino)
        return applied

    def _unmark(self, rows: list[FileRow]) -> None:
        """Clear the marks of files that are indexed again: the read was forced, or the content has changed.

        All at once, since each change writes the whole record.
        """
        paths = self._roots.paths()
        self._forgotten.clear_files((paths[row.root_id], row.path) for row in rows if row.status == "indexed")

    def admits(self, root_id: int, path: bytes) -> bool:
        """Check again before storing: the rules may have changed since the path was examined."""
        root = self._roots.get(root_id)
        if root is None or not root.belongs(path):
            return False
        try:
            return root.rules.explain(path, False) is None
        except tree.ReadFailed:
            return True  # as when it was examined; the folder is tried again

    def _remove(self, changes: Changes) -> None:
        by_root: dict[int, list[bytes]] = {}
        for root_id, path in changes.removed:
            by_root.setdefault(root_id, []).append(path)
        for root_id, paths in by_root.items():
            self._store.remove_files(root_id, paths)
        for root_id, path in changes.removed_trees:
            self._store.remove_tree(root_id, path)
        for root_id, path in changes.ignored:
            self._store.remove_files(root_id, [path], forget=True)
            self._store.remove_tree(root_id, path, forget=True)

    def _row_of(self, outcome: Outcome) -> FileRow | None:
        """Return the row for an outcome; None when it needs no row."""
        work, result, stat = outcome.work, outcome.result, outcome.stat
        root_id, path = work.key
        now = time.time()
        if self._was_forgotten_meanwhile(outcome):
            result = Skipped("forgotten")
        if work.is_doubtful and not _is_there(work):
            result = Gone()
        if isinstance(result, Gone | Hidden):
            self._store.remove_files(root_id, [path])
            return None
        if isinstance(result, Unsettled):
            return work.row or bare_row(root_id, path, None, "pending", "unsettled", now)
        if isinstance(result, Unreadable):
            return work.row or bare_row(root_id, path, stat, "pending", f"read: {os.strerror(result.errno)}", now)
        if isinstance(result, NoWorker | Waiting):
            reason = "parse" if isinstance(result, Waiting) else "no chunk worker"
            return bare_row(root_id, path, stat, "pending", reason, now)._replace(content_hash=outcome.content_hash)
        if isinstance(result, Skipped):
            row = bare_row(root_id, path, stat, "skipped", result.reason, now)
            return row._replace(content_hash=outcome.content_hash, settled=_is_settled(outcome, now))
        if isinstance(result, Failed):
            reason = f"{result.stage}: {result.message}" if result.message else result.stage
            row = bare_row(root_id, path, stat, "failed", reason, now)
            signature = failure_signature(outcome.plan.signature) if outcome.plan is not None else None
            settled = _is_settled(outcome, now)
            return row._replace(content_hash=outcome.content_hash, signature=signature, settled=settled)
        return self._indexed(outcome, now)

    def _was_forgotten_meanwhile(self, outcome: Outcome) -> bool:
        """Whether a file was forgotten after it had been read: a second look at a new file may be under way then."""
        work, digest = outcome.work, outcome.content_hash
        return not work.force and digest is not None and self._forgotten.is_forgotten(work.root.path, work.path, digest)

    def _indexed(self, outcome: Outcome, now: float) -> FileRow | None:
        """Return the row of an indexed file; None when its content was known but has been garbage-collected since."""
        work, stat, chosen = outcome.work, outcome.stat, outcome.plan
        assert stat is not None and outcome.content_hash is not None and chosen is not None
        content_id = self._store.find_content(outcome.content_hash, chosen.signature)
        if isinstance(outcome.result, ChunkedContent) and (content_id is None or work.force):
            content_id = self._store.add_content(
                outcome.content_hash, chosen.signature, stat.size, outcome.result, rewrite=work.force
            )
        if content_id is None:
            return None
        return FileRow(
            root_id=work.root.id,
            path=work.path,
            state=stat.state,
            status="indexed",
            reason=None,
            content_id=content_id,
            content_hash=outcome.content_hash,
            signature=chosen.signature,
            language=chosen.language,
            indexed_at=now,
            settled=_is_settled(outcome, now),
        )

    def forget(self, root: Root, path: bytes) -> int:
        """Remove the indexed files at or below ``path`` until their content or path changes. Return how many."""
        rows = [row for row in self._rows_below(root.id, path) if row.status == "indexed" and row.content_hash]
        self._forgotten.add(root.path, ((row.path, row.content_hash) for row in rows if row.content_hash))
        try:
            self._take_out(root, rows)
        except Unavailable:
            self._forgotten.clear_files((root.path, row.path) for row in rows)
            raise
        return len(rows)

    def keep_forgotten(self, root: Root) -> None:
        """Bring the index in line with the marks after a crash or a power loss.

        The index is synced later than the marks. So a mark may exist without its row, or be gone while its row is
        still there. While the record is incomplete, a row counts as a lost mark.
        """
        if self._forgotten.is_incomplete:
            self._forgotten.adopt(root.path, self._store.forgotten(root.id))
        found = [(self._store.file(root.id, path), digest) for path, digest in self._forgotten.of_root(root.path)]
        rows = [row for row, digest in found if row is not None and row.content_hash == digest]
        self._take_out(root, [row for row in rows if row.status == "indexed"])
        recorded = self._store.forgotten(root.id)
        freed = [path for path, digest in recorded if not self._forgotten.is_forgotten(root.path, path, digest)]
        if freed:  # else nothing is written: a locked or read-only index is served as it is
            self._store.remove_files(root.id, freed)  # as new files they are read by the next walk

    def settle_forgotten(self) -> None:
        """Take the record of forgotten files as complete: no root has a row of a file that it lacks."""
        self._forgotten.settle()

    def _take_out(self, root: Root, rows: list[FileRow]) -> None:
        if not rows:
            return
        with self._store.transaction():
            self._store.remove_files(root.id, [row.path for row in rows], forget=True)
            self._store.put_files(
                row._replace(status="skipped", reason="forgotten", content_id=None, signature=None) for row in rows
            )

    def _rows_below(self, root_id: int, path: bytes) -> Iterator[FileRow]:
        row = self._store.file(root_id, path) if path else None
        if row is not None:
            yield row
        for folder in self._store.folders_below(root_id, path):
            yield from self._store.folder(root_id, folder).values()


def _is_settled(outcome: Outcome, now: float) -> bool:
    """Return False if the file may have changed since it was read and still have the times that it had then."""
    return outcome.stat is not None and is_settled(outcome.stat, now, outcome.work.read_at)


def _is_there(work: Work) -> bool:
    """Look once more at a file that was gone, or whose content was garbage-collected, before that counts."""
    try:
        found = tree.stat(work.root.path, work.path)
        return found is not None and found.kind != "folder"
    except tree.TreeError:
        return True
