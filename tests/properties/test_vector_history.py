"""Vectors that were made along a history of files, of failures and of starts are those of the files there are."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.index_history import ROOTS, IndexHistory
from helpers.indexed_folder import Indexed
from helpers.made_model import DIMENSIONS, MeaningEmbedder
from helpers.support import examples
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.search.meaning import Vectors
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.vector_store import VectorStore

_CHUNKS = """SELECT c.id FROM contents t JOIN chunks c ON c.id BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1
             WHERE EXISTS (SELECT 1 FROM files d WHERE d.content_id = t.id)"""
ANY = [1.0] * DIMENSIONS


class Mortal(MeaningEmbedder):
    """Answers so many calls, and none after them."""

    calls = 1 << 30

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        self.calls -= 1
        if self.calls < 0:
            raise EmbedderUnavailable("no answer")
        return super().embed_batch(texts)


class Made:
    """The vectors of an index, as a search gets them. ``exact_bytes``: up to here, they are in a table of vec0."""

    def __init__(self, index: Indexed, file: str, exact_bytes: int) -> None:
        self.embedder = Mortal()
        self._index, self._path = index, str(index.folder / file)
        self.open(exact_bytes)
        index.semantics = self

    def open(self, exact_bytes: int) -> None:
        self.store = VectorStore(self._path, "meanings-1", DIMENSIONS, exact_bytes=exact_bytes)
        self.filler = Filler(self._index.pool, self.store, self.embedder, lambda: self._index.roots, 3)
        self.filler.compare()

    def complete(self) -> None:
        self.filler.look()
        while self.filler.step():
            pass

    def missing(self) -> int:
        """How many chunks of the files there are have no vector."""
        with self._index.pool.connection() as reader:
            chunks = {row[0] for row in reader.rows(_CHUNKS)}
        return len(chunks - self.store.index.cosines(ANY, chunks).keys())

    @property
    def pending(self) -> int:
        return self.filler.pending

    def vectors(self, text: str, seconds: float) -> Vectors:
        return Vectors(self.store.index, self.embedder.embed_batch([text])[0], 1.0, "score")


def go_on(made: Made, chance: random.Random) -> None:
    """Let the vectors follow the index, as a daemon does that may fail and be started again."""
    made.embedder.calls = chance.choice((0, 1, 2, 5, 1 << 30))
    for _ in range(chance.choice((1, 3, 9))):
        with suppress(EmbedderUnavailable):
            if chance.random() < 0.15:
                made.store.close()
                made.open(chance.choice((0, 20 * DIMENSIONS, 1 << 20)))
            elif chance.random() < 0.2:
                made.filler.compare()
                made.store.sweep()
            elif chance.random() < 0.5:
                made.filler.look()
            else:
                made.filler.step()
    made.embedder.calls = Mortal.calls


def answer(index: Indexed, query: str) -> list[tuple[str, float]]:
    hits = index.search(query, mode="semantic", limit=1000)
    return sorted((path, round(hit["score"], 4)) for hit in hits for path in (hit["path"], *hit.get("also_at", ())))


@pytest.mark.parametrize("seed", range(examples(20)))
def test_they_are_those_of_the_files(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    history = IndexHistory(tmp_path, chance)
    with history.index as old:
        made = Made(old, "vectors.db", chance.choice((0, 20 * DIMENSIONS, 1 << 20)))
        for _ in range(10):
            history.go_on()
            go_on(made, chance)
        made.filler.look()
        assert made.filler.pending >= made.missing()
        made.complete()
        assert (made.filler.pending, made.missing()) == (0, 0)
        with Indexed(tmp_path, ROOTS, database="new.db") as new:
            new.index(*history.files)
            others = Made(new, "others.db", 1 << 20)
            others.complete()
            for _ in range(10):
                query = history.query()
                assert answer(old, query) == answer(new, query), query
            others.store.close()
        made.store.close()
