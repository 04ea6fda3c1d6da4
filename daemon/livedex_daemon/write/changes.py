"""The decisions that are not committed yet.

Invariant: no row of a path is stored before the removals that were decided by then.
"""

from __future__ import annotations

from collections.abc import Callable

from livedex_daemon.watch.backlog import Key
from livedex_indexing.model import FileRow, FileState
from livedex_indexing.relpath import parent


class Changes:
    """The decisions that are not committed yet: removals first, then rows.

    A newer look at a path that a removal ``covers`` must wait for the commit: it would compare the disk with rows that
    are about to go, and keep a file that the removal then takes.
    """

    def __init__(self) -> None:
        self.removed: list[Key] = []
        self.removed_trees: list[Key] = []  # everything below the path, not the path itself
        self.ignored: list[Key] = []  # with everything below: a rule ignores them now
        self.rows: list[FileRow] = []
        self._sizes = (0, 0, 0)  # the numbers of removals when these sets were made
        self._files: set[Key] = set()
        self._trees: set[Key] = set()
        self._paths: set[Key] = set()  # of the first ``_counted`` rows, and some of rows that were dropped
        self._folders: set[Key] = set()  # those above them
        self._by_inode: dict[int, list[FileRow]] = {}  # the first ``_counted`` rows
        self._counted = 0

    def __bool__(self) -> bool:
        return bool(self.removed or self.removed_trees or self.ignored or self.rows)

    def removals(self) -> tuple[int, int, int]:
        """Return the number of removals of each kind."""
        return len(self.removed), len(self.removed_trees), len(self.ignored)

    def covers(self, key: Key) -> bool:
        """Return True when a removal takes the row of ``key``."""
        if self._sizes != self.removals():
            self._sizes = self.removals()
            self._files, self._trees = set(self.removed), {*self.removed_trees, *self.ignored}
        if key in self._files:
            return True
        root_id, path = key
        while self._trees:
            if (root_id, path) in self._trees:
                return True
            if not path:
                break
            path = path.rpartition(b"/")[0]
        return False

    def may_have_rows_below(self, key: Key) -> bool:
        """Return False when no row is of a path below ``key``."""
        self._count_rows()
        return key in self._folders

    def _count_rows(self) -> None:
        for row in self.rows[self._counted :]:
            self._paths.add((row.root_id, row.path))
            if row.state.ino:
                self._by_inode.setdefault(row.state.ino, []).append(row)
            folder = parent(row.path)
            while folder and (row.root_id, folder) not in self._folders:
                self._folders.add((row.root_id, folder))
                folder = parent(folder)
        self._counted = len(self.rows)

    def of_inode(self, ino: int) -> list[tuple[Key, FileState]]:
        """Return the paths and states of the rows that have this inode."""
        self._count_rows()
        return [((row.root_id, row.path), row.state) for row in self._by_inode.get(ino, ())]

    def drop_row(self, key: Key) -> bool:
        """Drop the rows of a path. Return False if there is none."""
        self._count_rows()
        rows = len(self.rows)
        if key in self._paths:
            self.drop_rows(lambda row: (row.root_id, row.path) == key)
        return len(self.rows) < rows

    def drop_rows(self, is_dropped: Callable[[FileRow], bool]) -> None:
        self.rows = [row for row in self.rows if not is_dropped(row)]
        self._counted = 0
        self._by_inode.clear()
