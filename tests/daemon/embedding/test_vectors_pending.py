"""What the thread of vectors says is missing, and that it makes it, whenever it finds out."""

from __future__ import annotations

import threading

import pytest

from helpers.embedding_world import World
from helpers.support import wait_until
from livedex_daemon.embedding import embedding_thread
from livedex_daemon.embedding.vector_set import VectorSet
from livedex_indexing.vectors.filler import Filler

QUERY_S = 60.0


def test_what_only_a_comparison_finds_is_made_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_thread, "COMPARE_S", 0.0)
    monkeypatch.setattr(Filler, "look", lambda _filler: None)
    world.indexed.write("root/b.txt", "other words\n")
    world.vectors.changed()
    wait_until(lambda: world.chunks_found() == 2, what="the vector of the new file")


def test_vectors_that_are_lost_while_the_embedder_fails_are_pending(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_thread, "AGAIN_S", (1000.0,))
    found = world.vectors.vectors("words", QUERY_S)
    world.former.fault = "no answer"
    world.indexed.write("root/b.txt", "other words\n")
    world.vectors.changed()
    wait_until(lambda: world.vectors.fault, what="the fault")
    assert found is not None and world.vectors.pending == 1
    found.of_chunks.damaged = True
    world.vectors.changed()
    wait_until(lambda: found.of_chunks.closed, what="the end of the damaged vectors")
    assert world.vectors.pending


def test_what_is_committed_while_it_is_asked_is_pending(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_thread, "AGAIN_S", (1000.0,))
    world.former.fault = "no answer"
    assert isinstance(VectorSet.pending, property) and VectorSet.pending.fget is not None
    known = VectorSet.pending.fget

    def known_before_the_commit(one: VectorSet) -> int:
        pending: int = known(one)
        if threading.current_thread() is threading.main_thread():
            world.indexed.write("root/b.txt", "other words\n")
            world.vectors.changed()
            wait_until(lambda: world.vectors.fault, what="the thread's look at the commit")
        return pending

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(VectorSet, "pending", property(known_before_the_commit))
        assert world.vectors.pending
    assert world.vectors.pending == 1


def test_the_number_of_texts_embedded_only_grows(world: World) -> None:
    assert world.vectors.embedded == 1
    world.use("new")
    wait_until(world.former.closed.is_set, what="the end of the former vectors")
    assert (world.new.batches, world.vectors.embedded) == (1, 2)
    found = world.vectors.vectors("words", QUERY_S)
    assert found is not None
    found.of_chunks.damaged = True
    world.vectors.changed()
    wait_until(lambda: world.new.batches == 2 and world.vectors.embedded == 3, what="the text embedded again")


def test_and_goes_on_in_a_rebuilt_index(world: World) -> None:
    former = world.readers.current
    world.readers.renew()
    assert world.readers.current is not former
    world.vectors.changed()
    wait_until(lambda: world.chunks_found() == 1, what="the vectors of the new index")
    assert world.vectors.embedded == 1


def test_an_index_that_is_replaced_in_the_middle_is_no_fault_of_the_embedder(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding_thread, "AGAIN_S", (1000.0,))
    step, replaced = Filler.step, threading.Event()

    def replacing(filler: Filler) -> bool:
        if not replaced.is_set():
            replaced.set()
            world.readers.renew()
        return step(filler)

    monkeypatch.setattr(Filler, "step", replacing)
    world.indexed.write("root/b.txt", "other words\n")
    world.vectors.changed()
    wait_until(lambda: replaced.is_set() and world.chunks_found() == 2, what="the vectors of both files")


@pytest.mark.parametrize("embedder", ["new", "missing"])
def test_another_embedder_has_no_vectors_from_the_moment_it_is_configured(world: World, embedder: str) -> None:
    world.new.fault = "no answer"
    world.use(embedder)
    assert world.vectors.pending == 1
    wait_until(lambda: world.vectors.fault, what="the fault")
    assert world.vectors.pending == 1
    world.use("former")
    wait_until(lambda: world.vectors.pending == 0, what="the former vectors")
