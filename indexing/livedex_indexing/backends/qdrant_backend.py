"""A backend in Qdrant: sparse vectors of words, weighted by their rarity on the server.

Invariant: a document is replaced as a whole, and the same text gives the same vector on every machine.
"""

from __future__ import annotations

import re
import uuid
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, Final

from qdrant_client import QdrantClient, models

from livedex_indexing.plugins import BaseBackend, Chunk, Document, FileRecord, Hit, Query

SECONDS: Final = 10
_WORDS: Final = "words"
_WORD: Final = re.compile(r"\w+")
_PAGE: Final = 1000
_SATURATION: Final = 1.2
_SPACE: Final = uuid.UUID("8d1e5a52-6f0e-4f0e-9a86-2f5a3f5d9c11")


class QdrantBackend(BaseBackend):
    """Settings: ``url`` and ``api_key_env`` of a server, or ``path``, a folder for one process; ``collection``
    (livedex)."""

    def __init__(self, settings: Mapping[str, object]) -> None:
        import os

        self._name = str(settings.get("collection", "livedex"))
        if "url" in settings:
            key = os.environ.get(str(settings.get("api_key_env", "")))
            self._client = QdrantClient(url=str(settings["url"]), api_key=key, timeout=SECONDS)
        elif "path" in settings:
            self._client = QdrantClient(path=os.path.expanduser(str(settings["path"])))
        else:
            raise ValueError("[plugin.qdrant] needs url, or path with a folder")
        if not self._client.collection_exists(self._name):
            weights = models.SparseVectorParams(modifier=models.Modifier.IDF)
            self._client.create_collection(self._name, vectors_config={}, sparse_vectors_config={_WORDS: weights})

    def index(self, document: Document) -> None:
        self.delete(document.path)
        file = {
            "path": document.path, "folders": list(_folders(document.path)), "root": document.root,
            "hash": document.content_hash, "size": document.size, "modified": document.modified_at,
            "language": document.language, "chunks": len(document.chunks),
        }  # fmt: skip
        points = [
            models.PointStruct(
                id=str(uuid.uuid5(_SPACE, f"{document.path}\0{chunk.ordinal}")),
                vector={_WORDS: _vector(_text(document, chunk))},
                payload={**file, "kind": chunk.kind, "ordinal": chunk.ordinal, "chunk": asdict(chunk)},
            )
            for chunk in document.chunks
        ]
        for start in range(0, len(points), _PAGE):
            self._client.upsert(self._name, points[start : start + _PAGE], wait=True)

    def delete(self, path: str) -> bool:
        found = models.Filter(must=[_is("folders", path)])
        there = self._client.count(self._name, count_filter=found).count > 0
        if there:
            self._client.delete(self._name, models.FilterSelector(filter=found), wait=True)
        return there

    def clear(self) -> None:
        self._client.delete(self._name, models.FilterSelector(filter=models.Filter()), wait=True)

    def close(self) -> None:
        self._client.close()

    def list_files(self, **filters: object) -> list[FileRecord]:
        path = filters.get("path")
        only: list[models.Condition] = [_is("ordinal", 0), *([_is("folders", str(path))] if path is not None else [])]
        payloads = self._payloads(models.Filter(must=only), ["path", "size", "chunks", "language", "hash"])
        records = [
            FileRecord(one["path"], "indexed", one["size"], one["chunks"], one["language"], one["hash"])
            for one in payloads
        ]
        return sorted(records, key=lambda record: record.path)

    def retrieve(self, path: str) -> list[Chunk]:
        chunks = [Chunk(**one["chunk"]) for one in self._payloads(models.Filter(must=[_is("path", path)]), ["chunk"])]
        return sorted(chunks, key=lambda chunk: chunk.ordinal)

    def status(self) -> dict[str, object]:
        count = self._client.count(self._name).count
        files = self._client.count(self._name, count_filter=models.Filter(must=[_is("ordinal", 0)])).count
        return {"files": files, "chunks": count}

    def search(self, query: Query) -> list[Hit]:
        words = " ".join((query.text.replace("*", " "), *query.phrases))
        if not _WORD.search(words):
            return []
        found = self._client.query_points(
            self._name, query=_vector(words), using=_WORDS, query_filter=_filter(query),
            limit=query.limit, offset=query.offset, with_payload=["path", "ordinal"],
        ).points  # fmt: skip
        hits = [Hit(one.payload["path"], one.payload["ordinal"], one.score) for one in found if one.payload]
        return sorted(hits, key=lambda hit: -hit.score)

    def _payloads(self, wanted: models.Filter, fields: list[str]) -> Iterator[Mapping[str, Any]]:
        offset = None
        while True:
            points, offset = self._client.scroll(
                self._name, scroll_filter=wanted, limit=_PAGE, offset=offset, with_payload=fields
            )
            yield from (point.payload for point in points if point.payload)
            if offset is None:
                return


def _is(field: str, value: str | int) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _filter(query: Query) -> models.Filter:
    must: list[models.Condition] = [] if query.path is None else [_is("folders", query.path)]
    for field, values in (("language", query.languages), ("kind", query.kinds), ("root", query.roots)):
        if values:
            must.append(models.FieldCondition(key=field, match=models.MatchAny(any=list(values))))
    if query.modified_after is not None or query.modified_before is not None:
        between = models.Range(gte=query.modified_after, lt=query.modified_before)
        must.append(models.FieldCondition(key="modified", range=between))
    return models.Filter(must=must)


def _folders(path: str) -> Iterator[str]:
    """Yield the path and every folder above it: a filter by folder is a comparison then."""
    while path and path != "/":
        yield path
        path = path.rpartition("/")[0]


def _text(document: Document, chunk: Chunk) -> str:
    name = document.path.rpartition("/")[2]
    return " ".join(filter(None, (chunk.text, chunk.heading, chunk.symbol, name)))


def _vector(text: str) -> models.SparseVector:
    counts = Counter(zlib.crc32(word.lower().encode()) for word in _WORD.findall(text))
    indices = sorted(counts)
    values = [counts[one] * (_SATURATION + 1) / (counts[one] + _SATURATION) for one in indices]
    return models.SparseVector(indices=indices, values=values)
