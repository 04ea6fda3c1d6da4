"""Checks whether each root is present, and acts when one disappears, comes back or is replaced.

Invariant: a missing root is reported and its entries are kept; nothing is dropped because a folder looks empty. Runs
on the worker's thread only.
"""

from __future__ import annotations

import errno
import logging
import os
import stat
import time
from functools import partial
from typing import Unpack

from livedex_daemon.watch.absence import Absences
from livedex_daemon.watch.backlog import Backlog, Mark
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, RootState
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.disk import root_folder
from livedex_indexing.disk.mounts import mount_kind
from livedex_indexing.disk.real_path import real_path
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import is_gone, retry_stale
from livedex_indexing.model import RootUpdate
from livedex_indexing.path_text import display_path
from livedex_indexing.store.index_store import IndexUnwritable, Store

log = logging.getLogger(__name__)


class Presence:
    """The state of each root: updated by the worker, and checked before it walks one."""

    def __init__(
        self,
        store: Store,
        store_health: StoreHealth,
        backlog: Backlog,
        watching: EventSource,
        absences: Absences | None = None,
    ) -> None:
        self._absences = absences or Absences()
        self._store = store
        self._store_health = store_health
        self._backlog = backlog
        self._watching = watching
        self.unreadable = UnreadablePaths()
        self.observer = "auto"

    def check(self, root: Root, *, rewatch: bool = False) -> None:
        """Check the root's folder itself, and act if its state changed.

        ``rewatch``: the watcher was replaced, so a present root is watched and compared again.
        """
        if root.unsaved:
            self._save(root)
        try:
            retry_stale(lambda: self._check_folder(root, rewatch))
        except PermissionError:
            self._leave(root, "denied")
        except OSError as error:
            if is_gone(error, root.path):
                self._leave(root, "missing")
            else:
                self._could_not_check(root, error)

    def _check_folder(self, root: Root, rewatch: bool) -> None:
        """Raises OSError: only an error that says so means that the root is gone."""
        found = root_folder.look(root.path)
        if not stat.S_ISDIR(found.st_mode) or (root.config.is_link and real_path(root.path).path != root.path):
            self._leave(root, "missing", taken_by="a file or a link")
            return
        same = (found.st_dev, found.st_ino) == (root.dev, root.ino)
        if not same and self._was_emptied(root):
            self._leave(root, "missing")
        elif root.state == "missing" and self._was_emptied(root):
            pass  # an empty folder that had files may be an unmounted disk
        elif (not same or not root.present) and mount_kind(root.path) == "pseudo":
            self._leave(root, "missing", taken_by="a file system of the kernel")
        elif rewatch or not same or not root.present:
            self._enter(root, found.st_dev, found.st_ino)

    def _could_not_check(self, root: Root, error: OSError) -> None:
        """Keep the root's state, and let no search trust it before a look and a walk succeed."""
        if (root.id, b"") not in self.unreadable:
            log.warning("root_check_failed", extra={"error": error.strerror})
        self.unreadable.failed((root.id, b""), error.errno or errno.EIO, tree=True)

    def is_same(self, root: Root) -> bool:
        """Return True if the root's path is still the watched folder: files missing in another were not deleted."""
        try:
            found = retry_stale(lambda: REMOTE.run(root.path, b"", partial(os.lstat, root.path)))
        except OSError as error:
            if not is_gone(error, root.path) and not isinstance(error, PermissionError):
                self._could_not_check(root, error)
            return False
        return (found.st_dev, found.st_ino) == (root.dev, root.ino)

    def _was_emptied(self, root: Root) -> bool:
        return root.first_indexed and self._has_files(root) and root_folder.is_empty(root.path)

    def _has_files(self, root: Root) -> bool:
        return bool(self._store.folders_below(root.id, b""))

    def _enter(self, root: Root, dev: int, ino: int) -> None:
        """Watch the root and compare all of it: it is present for the first time, again, or as another folder."""
        must_poll = self._must_poll(root)
        log.info("root_present", extra={"root": display_path(root.path)})
        # First, so that no search trusts the root before there is a walk to wait for.
        self._backlog.mark((root.id, b""), Mark(tree=True, background=not root.first_indexed, now=True))
        self._watching.unwatch(root, b"")
        root.dev, root.ino = dev, ino
        root.missing_since = None
        self._absences.end(root.id)
        root.forget_polled()
        if must_poll:
            root.poll(b"", remote=self._watching.watcher is not None or self.observer == "polling")
        root.state = "recovering" if root.first_indexed else "indexing"
        self._save(root, dev=dev, ino=ino, missing_since=None)

    def _must_poll(self, root: Root) -> bool:
        if self.observer == "polling" or self._watching.watcher is None:
            return True
        return mount_kind(root.path) == "network"

    def _leave(self, root: Root, state: RootState, *, taken_by: str = "") -> None:
        root.taken_by = taken_by
        if root.state == state and root.missing_since is not None:
            self.unreadable.discard((root.id, b""))
            return
        log.warning("root_absent", extra={"root": display_path(root.path), "state": state})
        self._watching.unwatch(root, b"")
        root.state = state
        if root.missing_since is None:
            root.missing_since = self._absences.begin(root.id)
        self._backlog.drop_root(root.id)
        self.unreadable.forget(lambda key: key[0] == root.id)
        self._save(root, missing_since=root.missing_since)

    def _save(self, root: Root, **state: Unpack[RootUpdate]) -> None:
        """Persist the root's state for the next start; if the store is not writable, retry at the next check."""
        root.unsaved.update(state)
        try:
            self._store.set_root(root.id, **root.unsaved)
        except IndexUnwritable as error:
            self._store_health.failed(error)
        else:
            root.unsaved = {}

    def emptied(self, root: Root) -> None:
        """Handle a walk that found the root's folder empty although the index has files of it."""
        self._leave(root, "missing")

    def drop_expired(self, root: Root) -> None:
        """Remove the entries of a root that has been missing for a day."""
        if root.missing_since is None:
            return
        since = self._absences.corrected(root.id, root.missing_since)
        if since != root.missing_since:
            root.missing_since = since
            self._save(root, missing_since=since)
        if self._absences.has_expired(root.id, since) and self._has_files(root):
            self._store.remove_tree(root.id, b"")

    def walked(self, root: Root) -> None:
        """Record that a walk of the whole root was committed."""
        if not root.present:
            return
        root.state = "online"
        if root.overflows_at_walk != root.overflows:  # checked last: a later loss finds the root online
            root.state = "recovering"
        root.first_indexed = True
        root.last_reconciled = time.time()
        root.walked_at = time.monotonic()
        planned = chunk_plan.fingerprint(root.planned) if root.planned is not None else 0
        self._save(root, first_indexed=True, last_reconciled=root.last_reconciled, planned=planned)
