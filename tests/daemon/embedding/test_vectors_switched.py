"""A search at the moment when other vectors take the place of those that it has: it asks the new ones, once."""

from __future__ import annotations

from helpers.embedding_world import World
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.plugins.registry import described

QUERY_S = 60.0


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
