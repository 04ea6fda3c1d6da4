"""Working defaults for what a plugin may leave out.

Invariant: each default keeps its Protocol's promise with the required methods alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from livedex_indexing.plugins.plugin_data import Chunk, Document, FileRecord, Hit, Query


class BaseBackend(ABC):
    """A Backend of ``index`` and ``search``. The defaults keep nothing: a daemon keeps files and chunks itself."""

    @abstractmethod
    def index(self, document: Document) -> None: ...

    @abstractmethod
    def search(self, query: Query) -> list[Hit]: ...

    def delete(self, path: str) -> bool:
        """Return False. The daemon shows no hit of a file that it knows to be gone."""
        return False

    def clear(self) -> None:
        for record in self.list_files():
            self.delete(record.path)

    def list_files(self, **filters: object) -> list[FileRecord]:
        return []

    def retrieve(self, path: str) -> list[Chunk]:
        return []

    def status(self) -> dict[str, object]:
        records = self.list_files()
        return {"files": len(records), "chunks": sum(record.chunks for record in records)}

    def close(self) -> None:
        return None


class BaseEmbedder(ABC):
    """An Embedder of ``dimensions`` and ``embed``."""

    @property
    @abstractmethod
    def dimensions(self) -> int: ...

    @abstractmethod
    def embed(self, text: str) -> list[float]: ...

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        return [self.embed(text) for text in texts]
