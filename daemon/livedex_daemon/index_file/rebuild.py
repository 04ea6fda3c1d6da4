"""Detect a lost or damaged index file while the daemon runs, put its remains aside and build a new one.

Invariant: the new file takes nothing from the former one, and no user data is touched: the marks of forgotten files
are stored elsewhere, and the roots keep their ids. Runs on the worker's thread only.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import NamedTuple

from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.opener import put_aside, remove_damaged
from livedex_daemon.index_file.salvage import Salvage
from livedex_daemon.process.locations import make_private
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.store.database import is_foreign
from livedex_indexing.store.index_store import IndexUnwritable, Store
from livedex_indexing.store.set_aside import keep_foreign
from livedex_ipc.errors import Unavailable

log = logging.getLogger(__name__)


class IndexFile(NamedTuple):
    """The daemon's only index: its writer, its readers, the remains of a damaged one, and its health."""

    store: Store
    readers: IndexReaders
    salvage: Salvage
    health: StoreHealth


class Rebuilder:
    """``index.health.rebuilding`` is True from the loss of the file until the last root is indexed again.

    A root may also go while it is rebuilt, and be the last that was missing: ask ``finish_if_whole`` then, too.
    """

    def __init__(
        self,
        index: IndexFile,
        backlog: Backlog,
        on_rebuilt: Callable[[], None],
        claim_home: Callable[[], None],
        *,
        under_way: bool,
    ) -> None:
        """``on_rebuilt``: called when the last root is indexed again. ``under_way``: the daemon started a new index.

        ``claim_home``: raises OSError if another daemon has the home, whose index is at the path then.
        """
        self._store = index.store
        self._readers = index.readers
        self._salvage = index.salvage
        self._health = index.health
        self._health.rebuilding = under_way
        self._on_rebuilt = on_rebuilt
        self._claim_home = claim_home
        self._backlog = backlog
        self._must_create = False  # the former file is gone and a new one could not be created yet
        if not under_way:
            remove_damaged(self._store.path)

    def cause_to_rebuild(self) -> str | None:
        """Check the file cheaply. Return the fault, None when there is none."""
        return "unmade" if self._must_create else self._store.replaced_or_lost()

    def replace(self, cause: str, roots: Roots) -> None:
        """Create a new index with the same roots, all still to be indexed. Raise IndexUnwritable."""
        self._health.rebuilding = True
        log.warning("index_lost", extra={"cause": cause})
        self._remove_former(cause)
        self._store.reopen()
        self._readers.renew()
        with self._store.transaction():
            for root in roots:
                self._store.keep_root(root.id, root.path, root.dev, root.ino, root.missing_since)
        self._must_create = False
        for root in roots:
            self._begin(root)

    def _remove_former(self, cause: str) -> None:
        """Free the path, only once: if no new file can be created then, keep the file that was put aside."""
        if self._must_create:
            return
        path = self._store.path
        try:
            make_private(os.path.dirname(path))  # the folder may be lost with the file
            self._claim_home()
            if cause in ("replaced", "overwritten", "truncated") and os.path.lexists(path) and is_foreign(path):
                keep_foreign(path, self._store.has_next_to_it)
            aside = put_aside(path)
        except (OSError, Unavailable) as error:
            raise IndexUnwritable(f"the index {path} cannot be replaced: {error}", {"path": path}) from error
        self._must_create = True
        if cause in ("damaged", "unsynced"):  # otherwise the former file is not ours, or cannot be read at all
            self._salvage.open(aside)

    def _begin(self, root: Root) -> None:
        root.first_indexed = False
        root.planned = None
        root.last_reconciled = None
        if root.present:
            root.state = "indexing"
            self._backlog.mark((root.id, b""), Mark(tree=True, background=True, now=True))

    def finish_if_whole(self, roots: Roots) -> None:
        """Finish the rebuild once every root that is there was walked completely: at once where none is there."""
        if self._health.rebuilding and all(root.first_indexed or not root.present for root in roots):
            self._health.rebuilding = False
            self._salvage.close()
            remove_damaged(self._store.path)
            self._on_rebuilt()
            log.info("index_rebuilt")
