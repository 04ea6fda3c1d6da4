"""The Protocols of plugins: what livedex calls on each kind of object that a plugin provides.

Invariant: an object is never asked for more than its Protocol, and may raise anything: the caller keeps the built-in
part and warns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol, runtime_checkable

from livedex_indexing.plugins.plugin_data import Chunk, Document, FileRecord, Hit, Query, Span, VectorModel


@runtime_checkable
class Backend(Protocol):
    """An index elsewhere: it stores chunks and ranks them. ``BaseBackend`` gives all but the first two a default.

    livedex calls it from one thread at a time.
    """

    def index(self, document: Document) -> None:
        """Store one whole file; replaces what was stored for its path."""

    def search(self, query: Query) -> list[Hit]:
        """Return the hits, best first, filters applied: ``query.offset`` left out, at most ``query.limit``."""

    def delete(self, path: str) -> bool:
        """Remove a file, or all files in a folder. Return True if there was one."""

    def clear(self) -> None:
        """Remove everything."""

    def list_files(self, **filters: object) -> list[FileRecord]:
        """Return the files, by path. ``path``: only this file, or those in this folder."""

    def retrieve(self, path: str) -> list[Chunk]:
        """Return all chunks of a file in order; none if it is not stored."""

    def status(self) -> dict[str, object]:
        """Return at least ``files`` and ``chunks``, the numbers stored."""

    def close(self) -> None:
        """Release what the backend holds. Nothing is called after it."""


@runtime_checkable
class VectorBackend(Backend, Protocol):
    """A Backend that keeps the vectors of its chunks, too. livedex makes them; their length means nothing.

    A vector belongs to all stored chunks with its ``vector_key``. A chunk that is replaced or deleted loses its own.
    """

    def lacking_vectors(self, model: VectorModel, after: str, limit: int) -> list[str]:
        """Return the keys above ``after`` of stored chunks without a vector of the model, in order."""

    def put_vectors(self, model: VectorModel, vectors: Mapping[str, Sequence[float]]) -> None:
        """Store vectors by key; a key that no stored chunk has is left out."""

    def drop_other_vectors(self, model: VectorModel) -> None:
        """Remove the vectors of all other models."""

    def nearest(self, model: VectorModel, vector: Sequence[float], query: Query) -> list[Hit]:
        """Return the chunks nearest to a vector, filters applied, best first; the score is the cosine.

        ``query.text`` is no filter. ``query.offset`` is left out, at most ``query.limit`` are returned.
        """


@runtime_checkable
class KnowledgeBackend(Protocol):
    """A store of agent memory. An entry is a mapping with at least ``id``, ``content`` and ``domain``."""

    def add_chunk(self, content: str, domain: str = "general", **kw: object) -> int | None:
        """Store one text; return its id, None if it was not stored. A domain keeps the same content once."""

    def search(self, query: str, k: int = 5, *, domain: str | None = None) -> list[dict[str, object]]:
        """Return at most ``k`` entries, best first, of one domain or of all (None)."""

    def get_hot_memory(self, max_chars: int = 6000) -> str:
        """Return the entries used last and most as one text, never over the limit."""

    def list_chunks(self, *a: object, **kw: object) -> list[dict[str, object]]:
        """Return the entries, newest last."""

    def stats(self) -> dict[str, object]:
        """Return at least ``entries``, their number."""

    def delete_by_id(self, chunk_id: int) -> bool:
        """Delete one entry. Return True if there was one."""

    def add_finding(self, *a: object, **kw: object) -> object:
        """Store what an agent found out: ``content`` first, then ``source`` and ``confidence``. Return its id."""


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. An attribute ``identity: str`` may name the model for the signature."""

    @property
    def dimensions(self) -> int:
        """The length of each vector."""

    def embed(self, text: str) -> list[float]:
        """Return the vector of one text: finite, not zero."""

    def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """Return one vector for each text, in order."""


@runtime_checkable
class Parser(Protocol):
    """Turns a file into Markdown. An attribute ``version: str`` may stand in for the signature."""

    @property
    def suffixes(self) -> Collection[str]:
        """The suffixes that it reads, in lower case, each with its dot."""

    def convert(self, path: str) -> str:
        """Return the file at ``path`` as Markdown."""


@runtime_checkable
class Pipeline(Protocol):
    """Cuts a text into chunks. A change of its module's text, or of its package's version, cuts its files again."""

    def chunk(self, text: str, suffix: str) -> list[Span]:
        """Return spans of the text, in order, without overlap. Text between them becomes chunks of its own."""
