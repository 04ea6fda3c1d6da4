"""What the filler says is missing: all that the index has and that has no vector, however it came."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_indexing.vectors import filler as filler_module
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.vector_store import VectorStore

FILES = {"root/a.md": "the car stops\n"}


@pytest.fixture
def filler(indexed: Indexed) -> Iterator[Filler]:
    store = VectorStore(str(indexed.folder / "vectors.db"), "meanings-1", DIMENSIONS)
    made = Filler(indexed.pool, store, MeaningEmbedder(), lambda: indexed.roots, 2)
    made.compare()
    yield made
    store.close()


def fill(filler: Filler) -> None:
    filler.look()
    while filler.step():
        pass


def embedded(filler: Filler) -> int:
    return filler.store.counts()[0]


def test_a_content_that_comes_back_before_its_turn(indexed: Indexed, filler: Filler) -> None:
    indexed.write("root/a.md", "a ship sails\n")
    fill(filler)
    indexed.write("root/a.md", FILES["root/a.md"])
    filler.look()
    assert filler.pending == 1
    fill(filler)
    assert (filler.pending, embedded(filler)) == (0, 2)


def test_one_that_was_gone_when_it_was_first_seen(indexed: Indexed, filler: Filler) -> None:
    indexed.write("root/b.md", "a ship sails\n")
    indexed.write("root/b.md", "fresh bread\n")
    fill(filler)
    indexed.write("root/c.md", "a ship sails\n")
    fill(filler)
    assert (filler.pending, embedded(filler)) == (0, 3)


def test_those_of_a_root_that_was_missing(indexed: Indexed, filler: Filler) -> None:
    (root_id,) = indexed.roots
    indexed.store.set_root(root_id, missing_since=1.0)
    filler.compare()
    assert filler.pending == 0
    indexed.store.set_root(root_id, missing_since=None)
    fill(filler)
    assert (filler.pending, embedded(filler)) == (0, 1)


def test_more_than_are_read_at_once(indexed: Indexed, filler: Filler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filler_module, "ROWS", 2)
    for number in range(7):
        indexed.write(f"root/{number}.md", f"a ship number {number}\n")
    filler.look()
    assert filler.pending == 8
