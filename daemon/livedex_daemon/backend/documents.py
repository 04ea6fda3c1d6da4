"""Makes the documents of a backend from the index and the live files.

Invariant: a document's text is that of the file whose bytes were indexed: of a file that has changed since there is no
document, because it is about to be indexed again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from livedex_indexing import model, relpath
from livedex_indexing.model import Place
from livedex_indexing.path_text import path_b64
from livedex_indexing.plugins import Chunk, Document
from livedex_indexing.search import listing
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.vectors.chunk_texts import embedded_text, text_hash
from livedex_ipc.errors import NotFound

_INDEXED: Final = """SELECT d.folder, d.name, t.hash FROM files d JOIN contents t ON t.id = d.content_id
                    WHERE d.root_id = ?"""


def text_of(path: bytes) -> str | None:
    """Return an absolute path as text, None where it is not UTF-8: no plugin gets such a file."""
    return None if path_b64(path) is not None else path.decode("utf-8")


def document_of(reader: Reader, place: Place, roots: Mapping[int, bytes]) -> Document | None:
    """Return the document of an indexed file, None if it changed since or cannot be read. Raises NotFound."""
    row = listing.find_row(reader, place)
    if row is None or row.content_id is None:
        raise NotFound("it is not indexed")
    found, _stale = listing.retrieve(reader, place, roots)
    path = text_of(relpath.absolute(roots[place.root_id], place.path))
    if found is None or path is None:
        return None
    return Document(
        path=path,
        root=roots[place.root_id].decode("utf-8", "replace"),
        content_hash=found.content_hash,
        size=row.state.size,
        modified_at=row.state.mtime_ns / 1e9,
        language=row.language,
        chunks=tuple(_chunk(one) for one in found.chunks),
        metadata=_frontmatter(found.chunks),
    )


def _chunk(chunk: model.Chunk) -> Chunk:
    return Chunk(
        ordinal=chunk.ordinal,
        text=chunk.text,
        context=chunk.context,
        kind=chunk.kind,
        language=chunk.language,
        heading=chunk.heading,
        symbol=chunk.symbol,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        start_byte=chunk.start_byte,
        end_byte=chunk.end_byte,
        metadata=chunk.metadata,
        vector_key=text_hash(embedded_text(chunk.text, chunk.heading, chunk.symbol)).hex(),
    )


def _frontmatter(chunks: list[model.Chunk]) -> Mapping[str, object]:
    return next((chunk.metadata["frontmatter"] for chunk in chunks if "frontmatter" in chunk.metadata), {})


def indexed(reader: Reader, root_id: int) -> dict[bytes, str]:
    """Return each indexed file of a root, by its path relative to it, with the hex hash of its content."""
    return {relpath.join(folder, name): digest.hex() for folder, name, digest in reader.rows(_INDEXED, (root_id,))}
