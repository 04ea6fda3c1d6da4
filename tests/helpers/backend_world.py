"""Backends in memory that a test directs, and what their mirrors are made from: an index of real files.

Invariant: a backend does nothing by itself; what it has is what the daemon's code gave it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from livedex_daemon.backend.mirror import Origin
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_indexing.plugins import BUILT_IN, BaseBackend, Document, FileRecord, Hit, Query, VectorModel
from livedex_indexing.vectors.nearest import VectorSource

MODEL = VectorModel("pairs/2", 2)


class Kept(BaseBackend):
    """A backend in memory, whose ``documents`` and ``vectors`` are never changed, but replaced: the test reads them
    while the mirror's thread gives more. ``takes``: once it is set, documents are taken; ``got``: how many it was
    given; ``asked``: how often the daemon asked which vectors it lacks; before each, ``on_asked`` is called. ``closed``
    is set by its end."""

    def __init__(self) -> None:
        self.takes = threading.Event()
        self.takes.set()
        self.documents: dict[str, Document] = {}
        self.vectors: set[str] = set()
        self.got = 0
        self.asked = 0
        self.on_asked: Callable[[], None] = lambda: None
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()

    def names(self) -> list[str]:
        """The files that it has."""
        return sorted(Path(path).name for path in self.documents)

    def names_with_vectors(self) -> list[str]:
        """The files of which it has a vector."""
        found = [path for path, one in self.documents.items() if self.vectors >= {c.vector_key for c in one.chunks}]
        return sorted(Path(path).name for path in found)

    def index(self, document: Document) -> None:
        self.got += 1
        self.takes.wait()
        self.documents = {**self.documents, document.path: document}

    def list_files(self, **filters: object) -> list[FileRecord]:
        return [
            FileRecord(path, "indexed", one.size, len(one.chunks), content_hash=one.content_hash)
            for path, one in self.documents.items()
        ]

    def search(self, query: Query) -> list[Hit]:
        return []

    def lacking_vectors(self, model: VectorModel, after: str, limit: int) -> list[str]:
        self.on_asked()
        self.asked += 1
        keys = {chunk.vector_key for document in self.documents.values() for chunk in document.chunks} - self.vectors
        return sorted(key for key in keys if key > after)[:limit]

    def put_vectors(self, model: VectorModel, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = self.vectors | set(vectors)

    def drop_other_vectors(self, model: VectorModel) -> None: ...

    def nearest(self, model: VectorModel, vector: Sequence[float], query: Query) -> list[Hit]:
        return []


def vectors_of(hashes: Collection[bytes]) -> dict[bytes, list[int]]:
    """Every text has a vector."""
    return {digest: [1, 2] for digest in hashes}


class World:
    """A folder with one file, and two backends to keep it in. ``plan`` decides how files are cut."""

    def __init__(self, indexed: Indexed) -> None:
        self.indexed = indexed
        self.plan = "a plan"
        self.first, self.second = Kept(), Kept()
        self.host = PluginHost({})
        register = self.host.registry.owned_by(BUILT_IN).register_backend
        self.on_make: Callable[[], None] = lambda: None  # in the factory of the first
        register("first", lambda _config: self._made_first())
        register("second", lambda _config: self.second)
        ((root_id, path),) = indexed.roots.items()
        self.readers = IndexReaders(indexed.database, threading.Event())
        source = VectorSource(MODEL, vectors_of, 1)
        self.origin = Origin(self.readers, Roots([online_root(path, root_id)]), lambda: self.plan, lambda: source)
        self.write("a.txt")

    def _made_first(self) -> Kept:
        self.on_make()
        return self.first

    def write(self, name: str) -> tuple[list[Key], list[int]]:
        """Write a file into the index. Return what its commit changed."""
        self.indexed.write(f"root/{name}", f"some words of {name}\n")
        return [self.indexed.root_of(f"root/{name}")], []
