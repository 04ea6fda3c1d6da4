"""Only the backend in use gets vectors: two that are kept at once may fill the same tables."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from helpers.fakes import online_root
from helpers.indexed_folder import Indexed
from helpers.support import wait_until
from livedex_daemon.backend.backend_calls import BackendLost
from livedex_daemon.backend.backend_switch import BackendSwitch
from livedex_daemon.backend.mirror import PROBE, Mirror, Origin, Stored
from livedex_daemon.index_file.index_readers import IndexReaders
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_daemon.watch.backlog import Key
from livedex_daemon.watch.root_table import Roots
from livedex_indexing.plugins import BUILT_IN, BaseBackend, Document, Hit, Query, VectorModel
from livedex_indexing.vectors.nearest import VectorSource

MODEL = VectorModel("pairs/2", 2)
SEARCH_S = 60.0


class Kept(BaseBackend):
    """A backend in memory. ``takes``: once it is set, documents are taken; ``asked``: how often the daemon asked which
    vectors it lacks; before each, ``on_asked`` is called."""

    def __init__(self) -> None:
        self.takes = threading.Event()
        self.takes.set()
        self.documents: dict[str, Document] = {}
        self.vectors: set[str] = set()
        self.asked = 0
        self.on_asked: Callable[[], None] = lambda: None

    def names(self) -> list[str]:
        """The files that it has."""
        return sorted(Path(path).name for path in self.documents)

    def names_with_vectors(self) -> list[str]:
        """The files of which it has a vector."""
        found = [path for path, one in self.documents.items() if self.vectors >= {c.vector_key for c in one.chunks}]
        return sorted(Path(path).name for path in found)

    def index(self, document: Document) -> None:
        self.takes.wait()
        self.documents[document.path] = document

    def search(self, query: Query) -> list[Hit]:
        return []

    def lacking_vectors(self, model: VectorModel, after: str, limit: int) -> list[str]:
        self.on_asked()
        self.asked += 1
        keys = {chunk.vector_key for document in self.documents.values() for chunk in document.chunks} - self.vectors
        return sorted(key for key in keys if key > after)[:limit]

    def put_vectors(self, model: VectorModel, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors |= set(vectors)

    def drop_other_vectors(self, model: VectorModel) -> None: ...

    def nearest(self, model: VectorModel, vector: Sequence[float], query: Query) -> list[Hit]:
        return []


def vectors_of(hashes: Collection[bytes]) -> dict[bytes, list[int]]:
    """Every text has a vector."""
    return {digest: [1, 2] for digest in hashes}


class World:
    """A folder with one file, and two backends to keep it in."""

    def __init__(self, indexed: Indexed) -> None:
        self.indexed = indexed
        self.first, self.second = Kept(), Kept()
        self.host = PluginHost({})
        register = self.host.registry.owned_by(BUILT_IN).register_backend
        register("first", lambda _config: self.first)
        register("second", lambda _config: self.second)
        ((root_id, path),) = indexed.roots.items()
        self.readers = IndexReaders(indexed.database, threading.Event())
        source = VectorSource(MODEL, vectors_of, 1)
        self.origin = Origin(self.readers, Roots([online_root(path, root_id)]), str, lambda: source)
        self.write("a.txt")

    def write(self, name: str) -> tuple[list[Key], list[int]]:
        """Write a file into the index. Return what its commit changed."""
        self.indexed.write(f"root/{name}", f"some words of {name}\n")
        return [self.indexed.root_of(f"root/{name}")], []


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with Indexed(tmp_path) as indexed:
        made = World(indexed)
        yield made
        made.readers.close()


class Use:
    """Whether a mirror is in use; ``was_asked``: it asked for that."""

    def __init__(self) -> None:
        self.is_used = False
        self.was_asked = False

    def __call__(self) -> bool:
        self.was_asked = True
        return self.is_used


def test_one_that_is_not_in_use_gets_documents_alone(world: World) -> None:
    use, kept = Use(), world.first
    mirror = Mirror("first", world.host, world.origin, Stored(lambda: None, lambda _plan: None), use)

    def has_looked() -> bool:  # whether it is in use, or else what the backend lacks
        return use.was_asked or kept.asked > 0

    mirror.start()
    wait_until(has_looked, what="all documents sent")
    assert (kept.names(), kept.asked) == (["a.txt"], 0)
    use.was_asked = False
    mirror.vectors_changed()
    wait_until(has_looked, what="a look at the new vectors")
    assert kept.asked == 0

    use.is_used = True
    mirror.vectors_changed()
    wait_until(lambda: kept.names_with_vectors() == ["a.txt"] and mirror.feed.has(MODEL), what="the vectors sent")

    use.is_used = use.was_asked = False
    asked = kept.asked
    mirror.changed(*world.write("b.txt"))
    wait_until(lambda: kept.names() == ["a.txt", "b.txt"] and use.was_asked, what="the new document sent")
    assert (kept.asked, kept.names_with_vectors()) == (asked, ["a.txt"])
    mirror.stop()


def answers(mirror: Mirror) -> bool:
    try:
        mirror.search(PROBE, time.monotonic() + SEARCH_S)
    except BackendLost:
        return False
    return True


def test_the_next_backend_gets_vectors_once_the_former_gets_nothing_more(world: World) -> None:
    switch = BackendSwitch(world.host, world.origin, str(world.indexed.folder / "mark"))
    former = switch.begin("first")
    wait_until(lambda: world.first.names_with_vectors() == ["a.txt"], what="vectors for the first backend")
    assert switch.name == "first"

    world.second.takes.clear()
    switch.begin("second")
    switch.changed(*world.write("b.txt"))
    wait_until(lambda: world.first.names_with_vectors() == ["a.txt", "b.txt"], what="vectors for the one in use")
    switch.vectors_changed()
    assert world.second.asked == 0 and switch.name == "first"

    former_answers: list[bool] = []
    world.second.on_asked = lambda: former_answers.append(answers(former))
    world.second.takes.set()
    wait_until(lambda: world.second.names_with_vectors() == ["a.txt", "b.txt"], what="vectors for the next backend")
    assert not any(former_answers) and switch.name == "second"
    switch.stop()
