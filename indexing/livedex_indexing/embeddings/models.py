"""Makes the embedders that need a model in memory: they run in a process of their own.

Invariant: nothing is downloaded: a model is in a folder or in an installed package, or the embedder is unavailable.
"""

from __future__ import annotations

from collections.abc import Sequence

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.embeddings.static_embedder import StaticEmbedder
from livedex_indexing.plugins import Embedder

STATIC = "static"
FASTEMBED = "fastembed"


def make_model(embedder: str, model: str, frequencies: Sequence[float] | None = None) -> Embedder:
    """Return the embedder of this name. Raises EmbedderUnavailable."""
    if embedder == STATIC:
        return StaticEmbedder(model, frequencies)
    if embedder == FASTEMBED:
        from livedex_indexing.embeddings.fastembed_embedder import FastembedEmbedder

        return FastembedEmbedder(model)
    raise EmbedderUnavailable(f"there is no model {embedder!r}")
