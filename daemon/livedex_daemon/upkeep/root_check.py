"""Check every root, its watches and the index file every few seconds.

Invariant: it decides nothing about files; every path that may have changed becomes a mark in the backlog.
"""

from __future__ import annotations

from concurrent.futures import Future
from functools import partial
from typing import NamedTuple

from livedex_daemon.config.root_folders import leads_elsewhere
from livedex_daemon.upkeep.pending_rows import PendingRows
from livedex_daemon.watch.backlog import Mark
from livedex_daemon.watch.event_source import EventSource
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.disk.remote_mounts import REMOTE
from livedex_indexing.disk.tree_errors import ReadFailed
from livedex_indexing.store.forgotten_files import ForgottenFiles

SELDOM = 2  # of so many checks one, every 8 s, also checks the index file, which rarely changes (10 s are promised)


class RowUpkeep(NamedTuple):
    """What is recorded about files: the forgotten ones, and the pending rows of the index."""

    forgotten: ForgottenFiles
    pending: PendingRows


class RootCheck:
    """Call ``start`` from any thread; the check itself runs on the worker's thread."""

    def __init__(
        self, worker: Worker, steps: WriteSteps, roots: Roots, watching: EventSource, upkeep: RowUpkeep
    ) -> None:
        self._worker = worker
        self._backlog = steps.backlog
        self._presence = steps.presence
        self._pool = steps.pool
        self._read_errors = steps.inspector.read_errors
        self._roots = roots
        self._watching = watching
        self._upkeep = upkeep
        self._checks = 0

    def start(self) -> Future[None]:
        return self._worker.submit(self._check)

    def _check(self) -> None:
        self._checks += 1
        REMOTE.renew()  # without a watcher, no event reports a mount
        seldom = self._checks % SELDOM == 0
        if seldom:
            self._worker.check_and_rebuild()
        revived = self._watching.revive()
        self._pool.revive()
        for root in self._roots:
            self._presence.check(root, rewatch=revived)
            root.leads_elsewhere = root.config.is_link and leads_elsewhere(root.config.configured, root.path)
            self._presence.drop_expired(root)
            self._watching.retry(root)
            root.rules.allow_again(partial(self._mark, root))
            if seldom and root.state == "online":
                self._mark_outside_changes(root)
        self._read_errors.mark_allowed(self._roots)
        if seldom:
            self._upkeep.pending.mark()
            self._upkeep.forgotten.recreate()

    def _mark_outside_changes(self, root: Root) -> None:
        """Mark the folders whose rules changed in a file outside the root: the repository's or the user's own."""
        try:
            root.rules.outside_changed(mark=partial(self._mark, root))
        except ReadFailed as fault:
            self._presence.unreadable.failed((root.id, b""), fault.errno, tree=True)

    def _mark(self, root: Root, folder: bytes) -> None:
        self._backlog.mark((root.id, folder), Mark(tree=True))
