"""One file of vectors with all that belongs to it: its embedder, its filler, its queries.

Invariant: searches use it only while it has been compared with the index that they read.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from livedex_daemon.embedding.query_vectors import QueryVectors
from livedex_daemon.index_file.index_readers import IndexReaders, ReadHandle
from livedex_daemon.knowledge.entry_vectors import EntryFiller
from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable, EmbeddingSettings
from livedex_indexing.embeddings.vector_check import check_dimensions
from livedex_indexing.plugins import Embedder, VectorModel
from livedex_indexing.vectors import vector_database
from livedex_indexing.vectors.filler import Filler
from livedex_indexing.vectors.token_frequencies import GROWTH, WeighsTokens, chunks_in, frequencies_of
from livedex_indexing.vectors.vector_store import VectorStore

SUFFIX: Final = ".vectors.db"


class VectorFiles(NamedTuple):
    """Where vectors are: ``folder``; ``memory``: agent memory, whose entries get vectors, too."""

    folder: str
    memory: str


class VectorSet:
    """Vectors by one embedder. One thread fills it; searches use ``store.index`` and ``queries``."""

    def __init__(
        self,
        files: VectorFiles,
        embedder: Embedder,
        settings: EmbeddingSettings,
        readers: IndexReaders,
        roots: Callable[[], Mapping[int, bytes]],
        plugin: str = "",
    ) -> None:
        """``plugin`` changes with the plugin that has the embedder. Raises EmbedderUnavailable, SqliteVecMissing,
        OSError or apsw.Error."""
        self.settings, self.plugin = settings, plugin
        self.counted = 0  # chunks of the index when its tokens were counted
        unweighed = embedder
        if isinstance(embedder, WeighsTokens):
            embedder = self._weighed(files.folder, embedder, readers, roots()) or unweighed
        self.embedder = embedder
        dimensions = check_dimensions(embedder.dimensions)
        identity = str(getattr(embedder, "identity", "") or f"{type(embedder).__module__}.{type(embedder).__name__}")
        self.store = VectorStore(path_of(files.folder, identity, dimensions), f"{identity}/{dimensions}", dimensions)
        self.model = VectorModel(self.store.identity, dimensions)
        self.store.note("settings", json.dumps(settings.as_dict()))
        self.queries = QueryVectors(embedder, dimensions)
        self.entries = EntryFiller(files.memory, self.store, embedder, settings.batch)
        self._readers, self._roots = readers, roots
        self._handle: ReadHandle | None = None
        self._looked = -1
        self.filler: Filler | None = None
        self._embedded_before = 0  # by former fillers

    def follow(self, generation: int) -> None:
        """Note what the index has that this has not, up to a generation at least."""
        handle = self._readers.current
        if handle is not self._handle or self.filler is None:
            self._embedded_before, self.filler = self.embedded, None
            made = Filler(handle.readers, self.store, self.embedder, self._roots, self.settings.batch)
            made.compare()
            self._handle, self.filler = handle, made
        elif generation != self._looked:
            self.filler.look()
        self._looked = generation

    def compare(self) -> None:
        """Drop what the index has no longer, and note all that is missing."""
        if self.filler is not None:
            self.filler.compare()
            self.entries.compare()
            self.store.sweep()

    @property
    def pending(self) -> int:
        """How many chunks have no vector yet, as far as is known."""
        return 0 if self.filler is None else self.filler.pending

    @property
    def embedded(self) -> int:
        """How many texts were embedded."""
        return self._embedded_before + (0 if self.filler is None else self.filler.embedded)

    @property
    def usable(self) -> bool:
        """Whether a search may compare with these vectors."""
        return self.filler is not None and self._handle is self._readers.current

    @property
    def outgrown(self) -> bool:
        """Whether the tokens of the index are to be counted again."""
        return self.counted > 0 and chunks_in(self._readers.current.readers) >= GROWTH * self.counted

    def close(self) -> None:
        self.queries.close()
        self.store.close()
        close = getattr(self.embedder, "close", None)
        if close is not None:
            close()

    def _weighed(
        self, folder: str, embedder: WeighsTokens, readers: IndexReaders, roots: Mapping[int, bytes]
    ) -> Embedder | None:
        """Return the embedder with the frequencies that the newest file of the model was made with, or new ones; None
        if the index is empty: only agent memory has texts then."""
        pool = readers.current.readers
        chunks = chunks_in(pool)
        path = os.path.join(folder, f"{_named(str(getattr(embedder, 'identity', '')))}.frequencies")
        kept = _read(path)
        if kept is not None and chunks < GROWTH * kept[0]:
            self.counted = kept[0]
            return embedder.with_frequencies(kept[1])
        counted = frequencies_of(pool, roots, embedder)
        if counted is None and not chunks:
            self.counted = 1
            return None
        if counted is None:
            raise EmbedderUnavailable("the index is empty: there is nothing to embed yet")
        self.counted = max(1, chunks)
        _write(path, self.counted, counted)
        return embedder.with_frequencies(counted)


def path_of(folder: str, identity: str, dimensions: int) -> str:
    return os.path.join(folder, _named(f"{identity}/{dimensions}") + SUFFIX)


def others(folder: str, path: str) -> list[str]:
    """Return the files of vectors in a folder besides ``path``."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [found for name in sorted(names) if name.endswith(SUFFIX) and (found := os.path.join(folder, name)) != path]


def former_settings(path: str) -> EmbeddingSettings | None:
    """Return what a complete file was made with; None if it is not complete or cannot be read."""
    try:
        db = vector_database.open_reader(path)
    except Exception:  # whatever is wrong with it: it is not used
        return None
    try:
        facts = vector_database.facts(db)
        return EmbeddingSettings(**json.loads(str(facts["settings"]))) if facts.get("complete") else None
    except Exception:
        return None
    finally:
        db.close()


def _named(identity: str) -> str:
    return hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()


def _read(path: str) -> tuple[int, array[float]] | None:
    try:
        with open(path, "rb") as file:
            data = file.read()
        numbers = array("f", data[8:])
    except (OSError, ValueError):
        return None
    return (int.from_bytes(data[:8], "little"), numbers) if numbers else None


def _write(path: str, chunks: int, frequencies: array[float]) -> None:
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(chunks.to_bytes(8, "little") + frequencies.tobytes())
    os.replace(path + ".new", path)
