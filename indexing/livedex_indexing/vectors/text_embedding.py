"""Gives texts their vectors in one store, in batches.

Invariant: each batch is committed before the next one is sent. Nothing but a checked vector is stored. A text that the
embedder refuses holds up no other one; an embedder that takes no text at all is unavailable.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Final

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.embeddings.vector_check import checked
from livedex_indexing.plugins import Embedder
from livedex_indexing.vectors.vector_store import VectorStore

log = logging.getLogger(__name__)

_PROBE: Final = "livedex"  # what every embedder that works takes
AGAIN_S: Final = 3_600.0  # before a text that was refused is tried again
_SHORTEST: Final = 200  # characters of a text that was refused: a shorter one is not cut further


class TextEmbedding:
    """Embeds into one store. For one thread. ``embedded`` counts the texts."""

    def __init__(self, store: VectorStore, embedder: Embedder, batch: int) -> None:
        """``batch``: texts to embed at once."""
        self._store = store
        self._embedder = embedder
        self._size = batch
        self._refused: set[bytes] = set()  # texts for which the embedder gives no usable vector
        self._renewed = float("-inf")
        self.embedded = 0

    def renew(self) -> bool:
        """Try all texts again if that was not done for `AGAIN_S`. Return whether they are."""
        is_due = time.monotonic() - self._renewed >= AGAIN_S
        if is_due:
            self._refused.clear()
            self._renewed = time.monotonic()
        return is_due

    def embed(self, texts: Mapping[bytes, str]) -> None:
        """Embed texts by their hash; those that were refused before are left out. Raises EmbedderUnavailable."""
        items = [(digest, text) for digest, text in texts.items() if digest not in self._refused]
        for start in range(0, len(items), self._size):
            part = dict(items[start : start + self._size])
            found = self._vectors(part)
            self._store.add_texts(found)
            self._refused |= part.keys() - found.keys()
            self.embedded += len(found)

    def _vectors(self, texts: Mapping[bytes, str]) -> dict[bytes, list[float]]:
        """Return the checked vectors of texts. If a batch is refused, its texts are embedded one by one; one that is
        refused alone is left out."""
        try:
            return dict(zip(texts, self._vectors_of([*texts.values()]), strict=True))
        except EmbedderUnavailable as fault:
            self._raise_unless_it_works(fault)
            refusal = str(fault)
        alone = {digest: self._vector_of(text) for digest, text in texts.items()}
        found = {digest: vector for digest, vector in alone.items() if vector is not None}
        if len(found) < len(texts):
            log.warning("texts_refused", extra={"texts": len(texts) - len(found), "reason": refusal})
        return found

    def _vector_of(self, text: str) -> list[float] | None:
        """Return the vector of a text; of its first half if it is refused, as one is that is too long, and so on; None
        if even that is refused."""
        while True:
            try:
                return self._vectors_of([text])[0]
            except EmbedderUnavailable as fault:
                self._raise_unless_it_works(fault)
            if len(text) <= _SHORTEST:
                return None
            text = text[: len(text) // 2]

    def _raise_unless_it_works(self, fault: EmbedderUnavailable) -> None:
        if fault.again_s is not None:  # nothing is wrong with the texts, and it wants to be left alone
            raise fault
        try:
            self._vectors_of([_PROBE])
        except EmbedderUnavailable:
            raise fault from None

    def _vectors_of(self, texts: list[str]) -> list[list[float]]:
        try:
            answer = self._embedder.embed_batch(texts)
        except EmbedderUnavailable:
            raise
        except Exception as fault:  # a plugin may raise anything
            raise EmbedderUnavailable(f"the embedder raises {type(fault).__name__}") from fault
        return checked(answer, len(texts), self._store.dimensions)
