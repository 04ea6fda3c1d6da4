"""An embedder whose model is in a process of its own; the static one answers single texts itself.

Invariant: the model is read once it is needed, and not before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from livedex_indexing.embeddings.embed_process import EmbedProcess
from livedex_indexing.embeddings.embedding_settings import EmbeddingSettings
from livedex_indexing.embeddings.models import STATIC
from livedex_indexing.embeddings.static_embedder import StaticEmbedder
from livedex_indexing.plugins import BaseEmbedder


class ProcessEmbedder(BaseEmbedder):
    """A model by name, in a child process that ends while it is idle."""

    def __init__(self, embedder: str, settings: EmbeddingSettings, frequencies: Sequence[float] | None = None) -> None:
        self._settings = settings
        self.process = EmbedProcess(embedder, settings.model, frequencies, settings.timeout)

    @cached_property
    def dimensions(self) -> int:
        return self.process.ready().dimensions

    @cached_property
    def identity(self) -> str:
        return self.process.ready().identity

    def embed(self, text: str) -> list[float]:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        return self.process.embed(texts)

    def rest(self, idle_s: float) -> bool:
        """End the child if it embedded nothing for so long. Return whether it still runs."""
        self.process.end_if_idle(idle_s)
        return self.process.pid is not None

    def close(self) -> None:
        self.process.close()


class StaticInProcess(ProcessEmbedder):
    """The static embedder: batches in the child, single texts here, where they need no numpy."""

    def __init__(self, settings: EmbeddingSettings, frequencies: Sequence[float] | None = None) -> None:
        """Raises EmbedderUnavailable."""
        super().__init__(STATIC, settings, frequencies)
        self._here = StaticEmbedder(settings.model, frequencies)

    @property
    def dimensions(self) -> int:
        return self._here.dimensions

    @property
    def identity(self) -> str:
        return self._here.identity

    def count(self, texts: Sequence[str]) -> list[int]:
        return self._here.count(texts)

    def with_frequencies(self, frequencies: Sequence[float]) -> StaticInProcess:
        return StaticInProcess(self._settings, frequencies)

    def embed(self, text: str) -> list[float]:
        return self._here.embed(text)
