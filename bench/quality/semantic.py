"""livedex's own vectors for a corpus: filled in by the code of the daemon, from the same index.

Invariant: nothing is ranked here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from livedex_daemon.config.settings_schema import SETTINGS
from livedex_indexing.embeddings.static_embedder import StaticEmbedder
from livedex_indexing.search.meaning import Fusion, Vectors
from livedex_indexing.store.read_pool import ReadPool
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.token_frequencies import frequencies_of
from livedex_indexing.vectors.vector_store import VectorStore

BATCH = 32
WEIGHT = float(SETTINGS["embedding.weight"].default)


class StaticSemantics:
    """The vectors of one index by the static embedder."""

    def __init__(self, store: VectorStore, embedder: StaticEmbedder, weight: float, fusion: Fusion) -> None:
        self._store, self._embedder = store, embedder
        self.weight, self.fusion = weight, fusion
        self.pending = 0

    def vectors(self, text: str, _seconds: float) -> Vectors:
        return Vectors(self._store.index, self._embedder.embed(text), self.weight, self.fusion)


@contextmanager
def semantics(
    pool: ReadPool, roots: dict[int, bytes], database: Path, fusion: Fusion, weight: float = WEIGHT
) -> Iterator[StaticSemantics]:
    """The vectors of an index, made if they are not there."""
    plain = StaticEmbedder()
    frequencies = frequencies_of(pool, roots, plain)
    embedder = plain if frequencies is None else plain.with_frequencies(frequencies)
    store = VectorStore(os.fspath(database), embedder.identity, embedder.dimensions)
    try:
        filler = Filler(pool, store, embedder, lambda: roots, BATCH)
        filler.compare()
        while filler.step():
            pass
        yield StaticSemantics(store, embedder, weight, fusion)
    finally:
        store.close()
