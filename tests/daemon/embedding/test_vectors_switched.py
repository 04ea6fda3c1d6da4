"""A search at the moment when other vectors take the place of those that it has: it asks the new ones, once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from helpers.support import wait_until
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
from livedex_indexing.plugins.registry import described

QUERY_S = 60.0


class Pairs(BaseEmbedder):
    """An embedder of two dimensions. ``on_query`` is called with each query that it is asked for."""

    dimensions = 2

    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.queries: list[str] = []
        self.on_query: Callable[[], None] = lambda: None
        self.closed = threading.Event()

    def embed(self, text: str) -> list[float]:
        self.queries.append(text)
        self.on_query()
        return [1.0, 1.0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        return [[1.0, float(len(text))] for text in texts]

    def close(self) -> None:
        self.closed.set()


class World:
    """The vectors of a folder with one file, and two embedders to choose from."""

    def __init__(self, indexed: Indexed) -> None:
        self.former, self.new = Pairs("former"), Pairs("new")
        plugins = PluginHost({})
        register = plugins.registry.owned_by(BUILT_IN).register_embedder
        register("former", lambda _config: self.former)
        register("new", lambda _config: self.new)
        ((root_id, path),) = indexed.roots.items()
        nothing: Any = None
        self.readers = IndexReaders(indexed.database, threading.Event())
        index = IndexFile(indexed.store, self.readers, nothing, StoreHealth())
        files = VectorFiles(str(indexed.folder / "vectors"), str(indexed.folder / "knowledge.db"))
        self.config = CurrentConfig(parse(""))
        roots = Roots([online_root(path, root_id)])
        self.vectors = EmbeddingThread(index, roots, self.config, plugins, files, may_run=lambda: True)

    def use(self, embedder: str) -> None:
        self.config.config = parse(f'[embedding]\nembedder = "{embedder}"\n')
        self.vectors.changed()

    def replace_former_by(self, embedder: str) -> Callable[[], None]:
        """Return what has the former vectors replaced, and then fails as one that was closed does."""

        def replaced() -> None:
            self.use(embedder)
            self.former.closed.wait()
            raise EmbedderUnavailable("it was closed")

        return replaced


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Indexed(tmp_path) as indexed:
        indexed.write("root/a.txt", "some words\n")
        made = World(indexed)
        made.vectors.start()
        made.use("former")
        wait_until(lambda: made.vectors.source is not None, what="the vectors of the first embedder")
        yield made
        made.vectors.stop()
        made.readers.close()


def test_it_gets_the_new_vectors(world: World) -> None:
    world.former.on_query = world.replace_former_by("new")
    found = world.vectors.vectors("words", QUERY_S)
    assert found is not None and found.model is not None and found.model.name == "new/2"
    assert not found.of_chunks.closed and len(found.of_chunks.nearest(found.vector, 9)) == 1
    assert (world.former.queries, world.new.queries) == (["words"], ["words"])


def test_without_an_embedder_there_are_none(world: World) -> None:
    world.former.on_query = world.replace_former_by("")
    assert world.vectors.vectors("words", QUERY_S) is None


def test_one_that_fails_in_its_place_is_not_asked_again(world: World) -> None:
    def fails() -> None:
        raise EmbedderUnavailable("no answer")

    world.former.on_query = fails
    said = ""
    try:
        world.vectors.vectors("words", QUERY_S)
    except Exception as fault:  # described here: pytest takes minutes to print the frames of a RecursionError
        said = described(fault)
    assert said == "EmbedderUnavailable: no answer" and world.former.queries == ["words"]
