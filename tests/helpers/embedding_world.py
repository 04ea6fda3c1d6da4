"""The daemon's thread of vectors over an index of real files, without a daemon, and embedders that a test directs.

Invariant: the thread is the daemon's own; it ends with `World.stop`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from livedex_daemon.config.current_config import CurrentConfig
from livedex_daemon.config.settings import parse
from livedex_daemon.embedding.embedding_thread import EmbeddingThread
from livedex_daemon.embedding.vector_set import VectorFiles
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.index_file.rebuild import IndexFile
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.watch.root_table import Roots
from livedex_daemon.watch.store_health import StoreHealth
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import BUILT_IN, BaseEmbedder


class Pairs(BaseEmbedder):
    """An embedder of two dimensions. ``on_query`` is called with each query that it is asked for."""

    dimensions = 2

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.host: str | None = None  # that texts are sent to
        self.bytes_sent = 0
        self.queries: list[str] = []
        self.batches = 0
        self.fault = ""  # of texts that are to be embedded
        self.again_s: float | None = None  # what it says with the fault
        self.on_query: Callable[[], None] = lambda: None
        self.closed = threading.Event()

    def embed(self, text: str) -> list[float]:
        self.queries.append(text)
        self.on_query()
        return [1.0, 1.0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.batches += 1
        if self.fault:
            raise EmbedderUnavailable(self.fault, self.again_s)
        return [[1.0, float(len(text))] for text in texts]

    def close(self) -> None:
        self.closed.set()


class World:
    """The vectors of a folder with one file, and two embedders to choose from."""

    def __init__(self, indexed: Indexed) -> None:
        self.indexed = indexed
        self.former, self.new = Pairs("former"), Pairs("new")
        self.plugins = PluginHost({})
        self.is_former_lost = False
        register = self.plugins.registry.owned_by(BUILT_IN).register_embedder
        register("former", lambda _config: self._made_former())
        register("new", lambda _config: self.new)
        ((root_id, path),) = indexed.roots.items()
        nothing: Any = None
        self.readers = IndexReaders(indexed.database, threading.Event())
        index = IndexFile(indexed.store, self.readers, nothing, StoreHealth())
        files = VectorFiles(str(indexed.folder / "vectors"), str(indexed.folder / "knowledge.db"))
        self.config = CurrentConfig(parse(""))
        roots = Roots([online_root(path, root_id)])
        self.turns = 0  # of the thread
        self.vectors = EmbeddingThread(index, roots, self.config, self.plugins, files, may_run=self._turned)

    def _made_former(self) -> Pairs:
        if self.is_former_lost:
            raise EmbedderUnavailable("its package is gone")
        return self.former

    def _turned(self) -> bool:
        self.turns += 1
        return True

    def use(self, embedder: str) -> None:
        self.config.config = parse(f'[embedding]\nembedder = "{embedder}"\n')
        self.vectors.changed()

    def chunks_found(self) -> int:
        """How many chunks a search finds by their vectors."""
        found = self.vectors.vectors("words", 60.0)
        return 0 if found is None else len(found.of_chunks.nearest(found.vector, 9))

    def replace_former_by(self, embedder: str) -> Callable[[], None]:
        """Return what has the former vectors replaced, and then fails as one that was closed does."""

        def replaced() -> None:
            self.use(embedder)
            self.former.closed.wait()
            raise EmbedderUnavailable("it was closed")

        return replaced

    def stop(self) -> None:
        self.vectors.stop()
        self.readers.close()
