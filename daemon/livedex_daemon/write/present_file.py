"""Compare one existing file with its row in the index.

Invariant: it reads no bytes, and decides nothing while it cannot know whether a rule excludes the path.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_daemon.watch.backlog import Entry
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.reconcile import READ, Keep, Read, decide
from livedex_daemon.write.walk import Work, bare_row
from livedex_indexing.model import FileRow, Stat


class PresentFile(NamedTuple):
    """An existing path that is not a folder, as the disk (``stat``) and the index (``row``) have it."""

    root: Root
    path: bytes
    stat: Stat
    row: FileRow | None


def examine(file: PresentFile, entry: Entry, max_size: int, changes: Changes, now: float) -> Work | None:
    """Compare one file with its row. Return the work to do, None when nothing must be read.

    Raises ReadFailed if it cannot be known whether a rule excludes the path.
    """
    root, path, stat, row = file
    key = (root.id, path)
    if root.rules.explain(path, False) is not None:
        if row is not None:
            changes.ignored.append(key)
        return None
    decision = decide(stat, row, max_size=max_size, force=entry.force)
    if decision is READ:
        return Work(root, path, stat.size, row, entry, stat.state)
    if not isinstance(decision, Keep):
        assert not isinstance(decision, Read)
        changes.rows.append(bare_row(root.id, path, stat, "skipped", decision.reason, now))
    return None
