"""Texts that an embedder refuses cost themselves alone: neither the others nor, where a part of them is taken, all of
their meaning."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.vectors import text_embedding
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.vector_store import VectorStore

FILES = {"root/a.md": "a car\n", "root/b.md": "a ship\n", "root/c.md": "bread\n", "root/d.md": "rain\n"}


class Picky(MeaningEmbedder):
    """Fails over each batch with a text that contains ``refused`` or is longer than ``most``."""

    def __init__(self, refused: str = "", most: int = 1 << 20) -> None:
        super().__init__()
        self.refused, self.most = refused, most
        self.left = 1 << 20  # calls before it dies
        self.again_s: float | None = None

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.left -= 1
        if self.left < 0 or any((self.refused and self.refused in text) or len(text) > self.most for text in texts):
            raise EmbedderUnavailable("the gateway answers 400", self.again_s)
        return super().embed_batch(texts)


def filler_of(indexed: Indexed, embedder: MeaningEmbedder) -> Filler:
    store = VectorStore(str(indexed.folder / "vectors.db"), "meanings-1", DIMENSIONS)
    return Filler(indexed.pool, store, embedder, lambda: indexed.roots, 3)


def fill(filler: Filler) -> None:
    filler.compare()
    while filler.step():
        pass


def test_the_others_get_their_vectors(indexed: Indexed) -> None:
    embedder = Picky("ship")
    filler = filler_of(indexed, embedder)
    fill(filler)
    assert (filler.pending, filler.store.counts()) == (0, (3, 3))
    asked = len(embedder.asked)
    indexed.write("root/e.md", "a vessel\n")
    fill(filler)
    assert filler.store.counts() == (4, 4) and len(embedder.asked) == asked + 1, "it is not asked over and over"
    filler.store.close()


def test_what_was_refused_is_tried_again_after_a_start(indexed: Indexed) -> None:
    filler = filler_of(indexed, Picky("ship"))
    fill(filler)
    filler.store.close()
    embedder = MeaningEmbedder()
    again = filler_of(indexed, embedder)
    fill(again)
    assert again.store.counts() == (4, 4) and embedder.asked == ["a ship\n"]
    again.store.close()


def test_and_each_hour(indexed: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Picky("ship")
    filler = filler_of(indexed, embedder)
    fill(filler)
    embedder.refused = ""
    fill(filler)
    assert filler.store.counts() == (3, 3)
    monkeypatch.setattr(text_embedding, "AGAIN_S", 0.0)
    fill(filler)
    assert filler.store.counts() == (4, 4)
    filler.store.close()


def test_of_one_that_is_too_long_the_beginning_counts(indexed: Indexed) -> None:
    indexed.write("root/long.txt", "a ship sails " + "and " * 500 + "\n")
    filler = filler_of(indexed, Picky(most=600))
    fill(filler)
    assert filler.store.counts() == (5, 5)
    filler.store.close()


def test_a_gateway_that_is_busy_refuses_nothing(indexed: Indexed) -> None:
    """Its limit may be one of words: it takes short texts, but no long one, and not because that is too long."""
    indexed.write("root/long.txt", "a ship sails " + "and " * 500 + "\n")
    embedder = Picky(most=600)
    embedder.again_s = 60.0
    filler = filler_of(indexed, embedder)
    with pytest.raises(EmbedderUnavailable):
        fill(filler)
    assert embedder.asked == [], "a busy gateway is asked at once again"
    embedder.most = 1 << 20
    fill(filler)
    assert filler.store.counts() == (5, 5) and max(map(len, embedder.asked)) > 600
    filler.store.close()


@pytest.mark.parametrize("calls", range(6))
def test_one_that_dies_in_the_middle_refuses_nothing(indexed: Indexed, calls: int) -> None:
    embedder = Picky("ship")
    embedder.left = calls
    filler = filler_of(indexed, embedder)
    with pytest.raises(EmbedderUnavailable, match="answers 400"):
        fill(filler)
    embedder.left, embedder.refused = 1 << 20, ""
    fill(filler)
    assert filler.store.counts() == (4, 4)
    filler.store.close()
