"""An inspector at work on a real folder, with a real index and a pool and watches that do nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

from helpers.fakes import FakePool, FakePresence, FakeWatching
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.backlog import Backlog, Entry
from livedex_daemon.watch.root_table import Root
from livedex_daemon.write.inspector import Inspector
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import FileRow, FileState, RootRow
from livedex_indexing.store.index_store import Store


class Desk:
    """An inspector over a real folder and a real store; ``unwatched``: the folders whose watches it removed."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "root"
        self.folder.mkdir()
        path = os.fsencode(self.folder.resolve())
        self.store = Store.open(str(base / "index.db"))
        self.store.put_root(path, 1, 1)
        self.root = Root(
            RootRow(1, path, 1, 1, None, False, None), RootConfig(str(base), str(base), (), 1), RuleTree(path)
        )
        self.root.state = "online"
        self.backlog = Backlog(time.monotonic, lambda: None)
        self.watching = FakeWatching()
        self.unwatched = self.watching.unwatched
        self.pool = FakePool()
        self.presence = FakePresence()
        self.inspector = Inspector(self.store, self.backlog, self.presence.real, self.watching.real, self.pool.real)

    def inspect(self, path: bytes, *, tree: bool = False) -> Entry:
        """Inspect a path whose last event is long ago."""
        entry = Entry((1, path), 1, 0.0)
        entry.tree = tree
        self.inspector.inspect(entry, self.root)
        return entry

    def commit(self) -> None:
        """Go on as after a commit."""
        self.inspector.take_changes()
        finished, self.inspector.finished = self.inspector.finished, []
        self.inspector.read_errors.committed(finished)


def row(path: bytes) -> FileRow:
    return FileRow(1, path, FileState(1, 2, 3, 4), "skipped", "binary", None, None, None, None, 0.0, True)
