"""The vector of a query: in time or not at all, and never from an embedder whose place another one took."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import count

import pytest

from helpers.support import wait_until
from livedex_daemon.embedding.query_vectors import REST_S, QueryVectors
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins import BaseEmbedder

NO_TIME = 0.0
LONG = 60.0


class Held(BaseEmbedder):
    """An embedder that answers once it may."""

    dimensions = 1

    def __init__(self) -> None:
        self.may_answer = threading.Event()
        self.asked: list[str] = []

    def embed(self, text: str) -> list[float]:
        self.asked.append(text)
        self.may_answer.wait()
        return [float(len(text))]


class Queries:
    """Queries of a held embedder, by a clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.embedder = Held()
        self.vectors = QueryVectors(self.embedder, 1, clock=lambda: self.now)

    def given_up(self, text: str) -> str:
        """Ask without time to wait, and let the embedder's rest pass. Return what was said."""
        with pytest.raises(EmbedderUnavailable) as fault:
            self.vectors.vector(text, NO_TIME)
        self.now += REST_S
        return str(fault.value)


@pytest.fixture
def queries() -> Iterator[Queries]:
    made = Queries()
    yield made
    made.embedder.may_answer.set()
    made.vectors.close()


def test_a_vector_that_came_too_late_serves_the_next_search(queries: Queries) -> None:
    assert "no vector in 0.0 s" in queries.given_up("word")
    queries.embedder.may_answer.set()
    assert queries.vectors.vector("word", LONG) == [4.0]
    assert queries.embedder.asked == ["word"]


class Busy(Held):
    def embed(self, text: str) -> list[float]:
        self.asked.append(text)
        raise EmbedderUnavailable("busy", 600.0)


def test_a_gateway_that_is_busy_gets_no_query() -> None:
    queries = Queries()
    busy = Busy()
    vectors = QueryVectors(busy, 1, clock=lambda: queries.now)
    for moved in (0.0, 599.0, 2.0):
        queries.now += moved
        with pytest.raises(EmbedderUnavailable, match="busy"):
            vectors.vector(f"word {queries.now}", LONG)
    assert busy.asked == ["word 0.0", "word 601.0"]
    vectors.close()


def test_after_a_failure_it_rests(queries: Queries) -> None:
    queries.given_up("word")
    queries.now -= REST_S / 2
    with pytest.raises(EmbedderUnavailable, match="no vector in"):
        queries.vectors.vector("another", LONG)
    assert "another" not in queries.embedder.asked
    queries.embedder.may_answer.set()
    wait_until(lambda: queries.vectors.fault is None, what="the first query's vector")
    assert queries.vectors.vector("another", LONG) == [7.0]


def test_a_vector_that_comes_just_after_its_time_gives_the_embedder_no_rest() -> None:
    embedder = Held()
    calls = count(1)

    def clock() -> float:
        if next(calls) == 2:  # after the time limit
            embedder.may_answer.set()
            assert vectors.vector("word", LONG) == [4.0]
        return 0.0

    vectors = QueryVectors(embedder, 1, clock=clock)
    try:
        assert vectors.vector("word", NO_TIME) == [4.0]
        assert vectors.fault is None
        assert vectors.vector("another", LONG) == [7.0]
    finally:
        embedder.may_answer.set()
        vectors.close()


def test_a_query_that_waits_for_its_turn_hears_that_another_embedder_took_its_place(queries: Queries) -> None:
    queries.given_up("one")
    queries.given_up("two")
    wait_until(lambda: len(queries.embedder.asked) == 2, what="both threads at work")
    queries.given_up("three")
    queries.vectors.close()
    with pytest.raises(EmbedderUnavailable, match="took its place"):
        queries.vectors.vector("three", LONG)
    assert "three" not in queries.embedder.asked
