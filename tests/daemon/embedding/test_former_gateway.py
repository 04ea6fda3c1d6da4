"""A gateway that is no longer configured gets no query, although its vectors are the only complete ones."""

from __future__ import annotations

import pytest

from helpers.embedding_world import World
from helpers.support import wait_until
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable

QUERY_S = 60.0


def fails_with_new(world: World) -> None:
    """Configure an embedder that does not work, and wait until that is known."""
    world.new.fault = "no answer"
    world.use("new")
    wait_until(lambda: world.vectors.fault, what="the fault of the new embedder")


def ask(world: World) -> str | None:
    """Return by which model a search compares; None: by words alone."""
    try:
        found = world.vectors.vectors("words", QUERY_S)
    except EmbedderUnavailable:
        return None
    return None if found is None or found.model is None else found.model.name


@pytest.mark.parametrize("host", [None, "gateway.example"])
def test_after_a_change(world: World, host: str | None) -> None:
    world.former.host = host
    fails_with_new(world)
    assert ask(world) == (None if host else "former/2")
    assert world.former.queries == ([] if host else ["words"])


@pytest.mark.parametrize("host", [None, "gateway.example"])
def test_after_a_start(world: World, host: str | None) -> None:
    world.stop()
    again = World(world.indexed)
    again.former.host = host
    again.vectors.start()
    fails_with_new(again)
    assert ask(again) == (None if host else "former/2")
    assert again.former.queries == ([] if host else ["words"])
    again.stop()


def test_one_that_cannot_be_made_any_more_is_not_named(world: World) -> None:
    world.stop()
    again = World(world.indexed)
    again.is_former_lost = True
    again.use("new")
    again.vectors.start()
    wait_until(lambda: again.chunks_found() == 1, what="the vectors of the new embedder")
    assert again.plugins.faults() == []
    again.stop()


def test_the_bytes_that_it_got_stay_in_the_count(world: World) -> None:
    world.former.host, world.former.bytes_sent = "gateway.example", 5
    world.new.host, world.new.bytes_sent = "gateway.example", 2
    assert world.vectors.gateways == [("gateway.example", 5)]
    world.use("new")
    wait_until(world.former.closed.is_set, what="the end of the former embedder")
    wait_until(lambda: world.vectors.gateways == [("gateway.example", 7)], what="the bytes of both")
    world.use("")
    wait_until(world.new.closed.is_set, what="the end of the new embedder")
    assert world.vectors.gateways == [("gateway.example", 7)]
