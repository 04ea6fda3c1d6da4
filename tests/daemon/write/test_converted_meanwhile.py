"""A copy of a document whose conversion ends between the reading of the copy and its commit."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from helpers.fakes import FakePresence, FakeWatching
from helpers.pool_parts import POLICY
from helpers.support import wait_until
from livedex_daemon.documents.conversions import Content, Conversions, Document
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.watch.backlog import Backlog
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_daemon.write.chunk_pool import Pool
from livedex_daemon.write.commit import Committer
from livedex_daemon.write.commit_latency import CommitLatency
from livedex_daemon.write.file_reading import FileReader
from livedex_daemon.write.inspector import Inspector
from livedex_daemon.write.search_priority import SearchPriority
from livedex_daemon.write.worker import Worker
from livedex_daemon.write.write_steps import WriteSteps
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import DocumentText
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.index_store import Store


class EndsMeanwhile(Conversions):
    """Another file with the same content was converted just before each request."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = 0

    def request(self, content: Content, document: Document) -> bool:
        self.requests += 1
        super().request(content, document._replace(path=b"b.html"))
        self.begin(content)
        self.end(content, DocumentText("markitdown", b"words\n", []))
        return super().request(content, document)


def test_the_copy_is_indexed(tmp_path: Path, root: Root, folder: Path, marks: ForgottenFiles) -> None:
    unused: Any = None
    wake = threading.Event()
    path = str(tmp_path / "index.db")
    store, readers = Store.open(path), IndexReaders(path, wake)
    store.put_root(root.path, 1, 1)
    root.state = "online"
    policy = POLICY._replace(chunking=ChunkSettings(parsers={".html": "markitdown 1"}))
    conversions = EndsMeanwhile()
    backlog, roots, priority = Backlog(time.monotonic, wake.set), Roots([root]), SearchPriority()
    pool = Pool(policy, FileReader(lambda *_: False, marks, conversions=conversions), wake.set, priority)
    presence = FakePresence().real
    inspector = Inspector(store, backlog, presence, FakeWatching().real, pool)
    committer = Committer(store, marks, roots, priority)
    steps = WriteSteps(backlog, presence, inspector, pool, committer, unused, conversions)
    worker = Worker(IndexFile(store, readers, unused, StoreHealth()), steps, roots, priority, CommitLatency(), wake)
    (folder / "a.html").write_text("<p>words</p>\n")
    backlog.mark((1, b"a.html"))
    worker.start()

    def is_indexed() -> bool:
        row = worker.submit(lambda: store.file(1, b"a.html")).result(10)
        return row is not None and row.status == "indexed"

    try:
        wait_until(is_indexed, what="an indexed copy")
        assert conversions.requests == 1 and not conversions.waits((1, b"a.html"))
    finally:
        worker.stop()
        pool.stop()
        readers.close()
        store.close()
