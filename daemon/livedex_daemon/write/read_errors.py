"""What follows from a path that could not be read: what is recorded, what is said, and when it is tried again.

Invariant: a failed read removes nothing. A row says ``failed`` only once the error counts as the path's own. A path
counts as read only once what was read is committed. Runs on the worker's thread only.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from livedex_daemon.watch.backlog import Backlog, Entry, Key, Mark
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.outcomes import Failed, Outcome, Unreadable
from livedex_daemon.write.walk import TreeWalk, bare_row
from livedex_indexing.disk import tree
from livedex_indexing.relpath import is_at_or_below, parent
from livedex_indexing.store.index_store import Store

DENIED_AT_ONCE = 16  # paths without permission that one look tries


class ReadErrors:
    def __init__(self, store: Store, backlog: Backlog, unreadable: UnreadablePaths) -> None:
        self._store = store
        self._backlog = backlog
        self._unreadable = unreadable
        self._seen: dict[Entry, list[tuple[Key, int]]] = {}  # what the work on an entry could read, not committed yet

    def seen(self, entry: Entry, key: Key, since: int) -> None:
        """Record that the work on ``entry`` could read the path; ``since``: the failures before it looked."""
        if key in self._unreadable:
            self._seen.setdefault(entry, []).append((key, since))

    def committed(self, entries: Iterable[Entry]) -> None:
        """Let what these entries could read count as read. Call it before a search that waits for them goes on."""
        for entry in entries:
            for key, since in self._seen.pop(entry, ()):
                self._unreadable.read(key, since)

    def abandon(self) -> None:
        """Forget what was seen and will not be committed."""
        self._seen.clear()

    def failed(self, root: Root, path: bytes, code: int, entry: Entry, changes: Changes) -> None:
        """Record that a path could not be described, or a folder not listed; ``entry`` asked for it.

        A root that has left is not to be read at all: its state says so, and its errors are no news.
        """
        if not root.present:
            return
        reason = os.strerror(code)
        if entry.progress is not None:
            entry.progress.failed.append(((root.id, path), "read", reason))
        settled = self._unreadable.failed((root.id, path), code, tree=True)
        if not settled or not path:
            return
        row = self._store.file(root.id, path)
        if row is None or row.reason != f"read: {reason}":
            changes.rows.append(bare_row(root.id, path, None, "failed", f"read: {reason}", time.time()))

    def walked(self, walk: TreeWalk, changes: Changes) -> None:
        """Record which folders a walk that ended could not read, and which it could.

        A folder without permission stands for all that is in it: no error in it is one to wait for.
        """
        root, denied = walk.root, frozenset(walk.denied)
        for key in self._unreadable.paths():
            if key[0] == root.id and (walk.has_read(key[1]) or is_at_or_below(parent(key[1]), denied)):
                self.seen(walk.entry, key, walk.since)
        for path, code in walk.failures.items():
            self.failed(root, path, code, walk.entry, changes)

    def is_news(self, outcome: Outcome) -> bool:
        """Return False for a file that still cannot be read, and whose row already says so."""
        work, result = outcome.work, outcome.result
        if not isinstance(result, Unreadable):
            return True
        settled = self._unreadable.failed(work.key, result.errno)
        return work.row is None or (settled and work.row.reason != f"read: {os.strerror(result.errno)}")

    def judged(self, outcome: Outcome) -> Outcome:
        """Return the outcome to store: an error that counts as the file's own makes it ``failed``."""
        result = outcome.result
        if not isinstance(result, Unreadable) or outcome.work.key in self._unreadable.open:
            return outcome
        return outcome._replace(result=Failed("read", os.strerror(result.errno)))

    def stored(self, outcome: Outcome) -> None:
        """Record what the outcome says of the path itself."""
        key, result = outcome.work.key, outcome.result
        stage = result.stage if isinstance(result, Failed) else ""
        if stage == "denied":
            self._unreadable.deny(key)
        elif stage != "read" and not isinstance(result, Unreadable):
            self._unreadable.read(key)

    def mark_due(self) -> None:
        """Mark the paths that are due for another try."""
        for key, is_tree, background in self._unreadable.take_due():
            self._backlog.mark(key, Mark(tree=is_tree, background=background, now=True))

    def mark_allowed(self, roots: Roots) -> None:
        """Look at some of the paths without permission: it may return without an event. If it did, mark them all."""
        for root_id, path in self._unreadable.take_denied(DENIED_AT_ONCE):
            root = roots.get(root_id)
            if root is not None and tree.may_read(root.path, path):
                for key in list(self._unreadable.denied):
                    self._backlog.mark(key, Mark(tree=True))
                return
