"""A copy of a document whose conversion ends between the reading of the copy and its commit."""

from __future__ import annotations

from pathlib import Path

from helpers.pool_parts import POLICY
from helpers.support import wait_until
from helpers.worker_rig import worker_rig
from livedex_daemon.documents.conversions import Content, Conversions, Document
from livedex_daemon.watch.root_table import Root, Roots
from livedex_daemon.write.file_reading import FileReader
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import DocumentText
from livedex_indexing.store.forgotten_files import ForgottenFiles


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
    conversions = EndsMeanwhile()
    reader = FileReader(lambda *_: False, marks, conversions=conversions)
    policy = POLICY._replace(chunking=ChunkSettings(parsers={".html": "markitdown 1"}))
    root.state = "online"
    rig = worker_rig(tmp_path, Roots([root]), reader, policy=policy, forgotten=marks, conversions=conversions)
    with rig as (worker, store, backlog):
        store.put_root(root.path, 1, 1)
        (folder / "a.html").write_text("<p>words</p>\n")
        backlog.mark((1, b"a.html"))
        worker.start()

        def is_indexed() -> bool:
            row = worker.submit(lambda: store.file(1, b"a.html")).result(10)
            return row is not None and row.status == "indexed"

        wait_until(is_indexed, what="an indexed copy")
        assert conversions.requests == 1 and not conversions.waits((1, b"a.html"))
