"""The daemon's worker over an index of its own, without a daemon.

Invariant: its thread is not started; it has ended, and the index is closed, after the block.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from helpers.fakes import FakeForgottenFiles, FakePool, FakePresence, FakeWatching
from helpers.pool_parts import POLICY
from livedex_daemon.documents.conversions import Conversions
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit import Committer
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.inspector import Inspector
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import Store


class WorkerRig(NamedTuple):
    """A worker, and what it works on."""

    worker: Worker
    store: Store
    backlog: Backlog


@contextmanager
def worker_rig(
    folder: Path,
    roots: Roots,
    reader: FileReader | None = None,
    *,
    policy: Policy = POLICY,
    forgotten: ForgottenFiles | None = None,
    conversions: Conversions | None = None,
) -> Iterator[WorkerRig]:
    """Make a worker over an empty index in ``folder``. ``reader`` reads the files; None: no file is ever read."""
    wake = threading.Event()
    path = str(folder / "index.db")
    store, readers = Store.open(path), IndexReaders(path, wake)
    backlog, priority = Backlog(time.monotonic, wake.set), SearchPriority()
    pool = None if reader is None else Pool(policy, reader, wake.set, priority)
    used, presence = pool or FakePool().real, FakePresence().real
    unused: Any = None
    inspector = Inspector(store, backlog, presence, FakeWatching().real, used)
    committer = Committer(store, forgotten or FakeForgottenFiles().real, roots, priority)
    steps = WriteSteps(backlog, presence, inspector, used, committer, unused, conversions or Conversions())
    worker = Worker(IndexFile(store, readers, unused, StoreHealth()), steps, roots, priority, CommitLatency(), wake)
    try:
        yield WorkerRig(worker, store, backlog)
    finally:
        worker.stop()
        if pool is not None:
            pool.stop()
        readers.close()
        store.close()
