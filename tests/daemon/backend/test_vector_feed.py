"""A backend counts as having the vectors only while it has all that there are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeVar, cast

import pytest

from livedex_daemon.backend.vector_feed import BATCH, PAGE, VectorFeed
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import Backend, BaseBackend, Document, Hit, Query, VectorModel
from livedex_indexing.vectors.nearest import VectorSource

T = TypeVar("T")
MODEL = VectorModel("pairs/2", 2)


class Kept(BaseBackend):
    """A backend whose chunks have these keys; it notes the size of each call."""

    def __init__(self, keys: Collection[str]) -> None:
        self.lacking = set(keys)
        self.calls: list[int] = []
        self.fault: Exception | None = None

    def index(self, document: Document) -> None:
        raise NotImplementedError

    def search(self, query: Query) -> list[Hit]:
        raise NotImplementedError

    def lacking_vectors(self, model: VectorModel, after: str, limit: int) -> list[str]:
        if self.fault is not None:
            raise self.fault
        return sorted(key for key in self.lacking if key > after)[:limit]

    def put_vectors(self, model: VectorModel, vectors: Mapping[str, Sequence[float]]) -> None:
        self.calls.append(len(vectors))
        self.lacking -= set(vectors)

    def drop_other_vectors(self, model: VectorModel) -> None:
        pass

    def nearest(self, model: VectorModel, vector: Sequence[float], query: Query) -> list[Hit]:
        raise NotImplementedError


class World:
    """A feed, the vectors that there are, and the backend that gets them."""

    def __init__(self, keys: int) -> None:
        self.keys = [number.to_bytes(2, "big") for number in range(keys)]
        self.version = 0
        self.unreadable = False
        self.model = MODEL
        self.backend = Kept([key.hex() for key in self.keys])
        self.after_look: Callable[[], None] = lambda: None  # right after the feed looked which vectors there are
        self.feed = VectorFeed(self.source)

    def source(self) -> VectorSource:
        source = VectorSource(self.model, self.vectors_of, self.version)
        self.after_look()
        return source

    def vectors_of(self, keys: Collection[bytes]) -> dict[bytes, list[int]]:
        if self.unreadable:
            raise EmbedderUnavailable("the vectors cannot be read")
        return {key: [1, 2] for key in keys if key in self.keys}

    def run(self, interrupted: Callable[[], bool] = bool) -> None:
        def call(action: Callable[[Backend], T]) -> T:
            return action(cast(Backend, self.backend))

        self.feed.run(call, interrupted)


def test_all_that_it_lacks_is_sent_in_parts() -> None:
    world = World(1_100)  # more than one page of keys
    assert not world.feed.has(MODEL)
    world.run()
    assert world.backend.lacking == set() and max(world.backend.calls) == BATCH
    assert world.feed.has(MODEL) and not world.feed.has(VectorModel("pairs/3", 2))


def test_new_vectors_count_before_they_are_heard_of() -> None:
    world = World(3)
    world.run()
    world.version += 1
    assert not world.feed.has(MODEL)
    world.run()
    assert world.feed.has(MODEL)


def test_new_vectors_that_are_heard_of_right_after_its_look_are_looked_for_again() -> None:
    world = World(3)

    def come() -> None:
        world.after_look = lambda: None
        world.version += 1
        world.feed.note()

    world.after_look = come
    world.run()
    assert world.feed.wait_s() is not None and not world.feed.has(MODEL)
    world.run()
    assert world.feed.wait_s() is None and world.feed.has(MODEL)


def test_new_documents_count_at_once() -> None:
    world = World(3)
    world.run()
    world.feed.note()
    assert not world.feed.has(MODEL) and world.feed.wait_s() is not None


def test_one_that_is_interrupted_has_not_all() -> None:
    world = World(BATCH + 1)
    world.run(lambda: bool(world.backend.calls))
    assert world.backend.calls == [BATCH] and not world.feed.has(MODEL) and world.feed.wait_s() == 0
    world.run()
    assert world.feed.has(MODEL)


def test_another_model_is_not_the_one_that_was_sent() -> None:
    world = World(3)
    world.run()
    world.model = VectorModel("others/2", 2)
    assert not world.feed.has(MODEL) and not world.feed.has(world.model)


def test_after_each_fault_it_waits_longer() -> None:
    world = World(3)
    world.backend.fault = RuntimeError("no room")
    waits = []
    for _ in range(3):
        world.run()
        assert world.feed.fault == "RuntimeError: no room"
        waits.append(world.feed.wait_s())
    assert waits == pytest.approx([1, 2, 4], abs=0.9)
    world.backend.fault = None
    world.run()
    assert world.feed.fault is None and world.feed.has(MODEL)


def test_vectors_of_ours_that_cannot_be_read_are_no_fault_of_the_backend() -> None:
    world = World(3)
    world.unreadable = True
    world.run()
    assert world.feed.fault is None and world.feed.wait_s() and not world.feed.has(MODEL)
    world.unreadable = False
    world.run()
    assert world.feed.has(MODEL)


class Odd(BaseException):
    """What a plugin raises that is no ``Exception``."""


def raising() -> Iterator[str]:
    raise Odd("odd fault")
    yield ""


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda _after: raising(), "Odd: odd fault"),
        (lambda _after: [number.to_bytes(2, "big").hex() for number in range(PAGE)], "not above `after`"),
    ],
)
def test_an_answer_that_raises_or_never_ends_is_a_fault(answer: Callable[[str], list[str]], reason: str) -> None:
    world = World(PAGE)
    world.backend.lacking_vectors = lambda _model, after, _limit: answer(after)  # type: ignore[method-assign, assignment]
    world.run(lambda: len(world.backend.calls) > 20)
    assert world.feed.fault is not None and reason in world.feed.fault
