"""Gives texts their vectors in one store, in batches.

Invariant: each batch is committed before the next one is sent. Nothing but a checked vector is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.embeddings.vector_check import checked
from livedex_indexing.plugins import Embedder
from livedex_indexing.vectors.vector_store import VectorStore


class TextEmbedding:
    """Embeds into one store. For one thread. ``embedded`` counts the texts."""

    def __init__(self, store: VectorStore, embedder: Embedder, batch: int) -> None:
        """``batch``: texts to embed at once."""
        self._store = store
        self._embedder = embedder
        self._size = batch
        self._refused: set[bytes] = set()  # texts for which the embedder gives no usable vector
        self.embedded = 0

    def embed(self, texts: Mapping[bytes, str]) -> None:
        """Embed texts by their hash; those that were refused before are left out. Raises EmbedderUnavailable."""
        items = [(digest, text) for digest, text in texts.items() if digest not in self._refused]
        for start in range(0, len(items), self._size):
            part = items[start : start + self._size]
            self._store.add_texts(self._vectors(part))
            self.embedded += len(part)

    def _vectors(self, items: list[tuple[bytes, str]]) -> dict[bytes, list[float]]:
        """Return the checked vectors of texts. If a batch is refused and some of its texts alone are not, the others
        are left without a vector; if none is accepted, the embedder is to blame."""
        try:
            vectors = self._vectors_of([text for _, text in items])
            return dict(zip([digest for digest, _ in items], vectors, strict=True))
        except BadVectors as fault:
            if len(items) == 1:
                raise EmbedderUnavailable(str(fault)) from fault
            found: dict[bytes, list[float]] = {}
            for digest, text in items:
                with suppress(BadVectors):
                    found[digest] = self._vectors_of([text])[0]
            if not found:
                raise EmbedderUnavailable(str(fault)) from fault
            self._refused |= {digest for digest, _ in items if digest not in found}
            return found

    def _vectors_of(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = self._embedder.embed_batch(texts)
        except EmbedderUnavailable:
            raise
        except Exception as fault:  # a plugin may raise anything
            raise EmbedderUnavailable(f"the embedder raises {type(fault).__name__}") from fault
        try:
            return checked(answer, len(texts), self._store.dimensions)
        except EmbedderUnavailable as fault:
            raise BadVectors(str(fault)) from fault


class BadVectors(Exception):
    """The embedder answered, and its answer has no usable vectors."""
