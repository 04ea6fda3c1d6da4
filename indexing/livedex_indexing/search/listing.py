"""Lists the files of an index, and the chunks of one file.

Invariant: the text of a chunk is cut from the live file, after the same check as for a hit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from livedex_indexing import relpath
from livedex_indexing.hits.answer_json import absolute, rfc3339_of_seconds
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.hit_builder import chunk_fields
from livedex_indexing.hits.live_files import FileCopy, LiveFiles, Stale
from livedex_indexing.model import STATUSES, Chunk, FileRow, Place, Status
from livedex_indexing.path_text import display_path, path_b64
from livedex_indexing.query.filters import glob_filter
from livedex_indexing.query.scope import within
from livedex_indexing.search.unknown_values import places_without_a_file
from livedex_indexing.store.file_rows import FROM, ROW, file_row, to_signed
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import CHUNK, CONTENT, ChunkRow, ContentRow
from livedex_indexing.text.decoder import decode_slice
from livedex_ipc.errors import NotFound
from livedex_ipc.methods import METHODS
from livedex_ipc.wire_results import AnswerWarning

_LIST = """SELECT d.id, d.root_id, d.folder, d.name FROM files d WHERE {}"""
_ROWS = f"SELECT f.id, {ROW}, coalesce(t.chunks, 0) {FROM} WHERE f.id IN (SELECT value FROM json_each(?))"
_FILE = f"SELECT {ROW} {FROM} WHERE f.root_id = ? AND f.folder = ? AND f.name = ?"
_TWINS = """SELECT d.root_id, d.folder, d.name FROM files f JOIN files d ON d.ino = f.ino AND d.id <> f.id
            WHERE f.root_id = ? AND f.folder = ? AND f.name = ? AND f.ino <> 0"""
_OF_INODE = "SELECT d.root_id, d.folder, d.name FROM files d WHERE d.ino = ?"
_CONTENT = f"SELECT {CONTENT} FROM contents t WHERE t.id = ?"
_FRONTMATTER_FAULT = "SELECT frontmatter_fault FROM contents WHERE id = ?"
_CHUNKS = f"SELECT {CHUNK} FROM chunks c WHERE c.id BETWEEN ? AND ? ORDER BY c.id"
_PRESENT = "d.root_id NOT IN (SELECT id FROM roots WHERE missing_since IS NOT NULL)"
_PARAMS: Final = METHODS["files/list"].params


class ListRequest(msgspec.Struct, frozen=True):
    """A filter for the list. ``root_id``, ``places`` (files at or below them), ``glob`` (ripgrep's, relative to each
    root) and ``status`` are None for no such filter."""

    root_id: int | None = None
    places: tuple[Place, ...] | None = None
    glob: str | None = None
    status: Status | None = None
    limit: int = _PARAMS["limit"].default
    offset: int = _PARAMS["offset"].default


class FileRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file of the list. ``path`` is absolute; ``path_b64`` is its bytes in base64 if they are not UTF-8, else
    None. ``size`` is in bytes, ``content_hash`` None unless the file is indexed, ``indexed_at`` an RFC 3339 time.
    ``reason`` says why the file is skipped or failed, else None."""

    path: str
    path_b64: str | None = None
    status: Status
    size: int
    chunks: int
    language: str | None
    content_hash: str | None
    indexed_at: str
    reason: str | None = None


class FileList(NamedTuple):
    """One page of the files, by absolute path; ``total`` counts all pages. ``warnings`` name the places without any."""

    files: list[FileRecord]
    total: int
    warnings: list[AnswerWarning]


class FileChunks(NamedTuple):
    """The chunks of one file, in order, and the hex BLAKE2b-128 of its bytes."""

    content_hash: str
    chunks: list[Chunk]


def list_files(reader: Reader, request: ListRequest, roots: Mapping[int, bytes]) -> FileList:
    """List files. Raises InvalidParams for a glob that cannot be read."""
    with reader.snapshot():
        found = sorted(_matching(reader, request, roots))
        page = found[request.offset :][: request.limit]
        rows = {
            row[0]: (file_row(row[1:-1]), row[-1])
            for row in reader.rows(_ROWS, (json.dumps([file_id for _, file_id in page]),))
        }
        warnings = places_without_a_file(reader, request.places or (), roots)
    return FileList([_record(path, *rows[file_id]) for path, file_id in page], len(found), warnings)


def count_files(reader: Reader, places: Sequence[Place]) -> tuple[int, int]:
    """Return how many files are at or below the places, and their size in bytes."""
    if not places:
        return 0, 0
    sql, values = within(places)
    [(files, size)] = reader.rows(f"SELECT count(*), ifnull(sum(size), 0) FROM files d WHERE {sql}", values)
    return files, size


def retrieve(
    reader: Reader, place: Place, roots: Mapping[int, bytes], *, start_line: int = 1, end_line: int | None = None
) -> tuple[FileChunks | None, Stale]:
    """Return the chunks of a file that touch the lines from ``start_line`` to ``end_line`` (None: to its end), and the
    files found changed (``LiveFiles``). The chunks are None if the file has other bytes now.

    Raises NotFound with the reason for a file that is not indexed.
    """
    with reader.snapshot():
        row = _indexed(find_row(reader, place), absolute(roots, place))
        content = ContentRow(*reader.rows(_CONTENT, (row.content_id,))[0])
        last = content.first_chunk + content.chunks - 1
        chunks = [ChunkRow(*values) for values in reader.rows(_CHUNKS, (content.first_chunk, last))]
    live = LiveFiles(roots, DocumentTexts(reader))
    found = live.read(content.id, content.hash, [FileCopy(0, row.root_id, row.path, row.state, row.settled)])
    if found is None:
        return None, live.stale
    wanted = [
        _chunk(content, chunk, found[1])
        for chunk in chunks
        if chunk.end_line >= start_line and (end_line is None or chunk.start_line <= end_line)
    ]
    return FileChunks(content.hash.hex(), wanted), live.stale


def find_row(reader: Reader, place: Place) -> FileRow | None:
    """Return the row of one file, None if the index has none."""
    values = reader.rows(_FILE, (place.root_id, *relpath.split(place.path)))
    return file_row(values[0]) if values else None


def twins(reader: Reader, place: Place, ino: int | None) -> list[tuple[int, bytes]]:
    """Return the root ids and paths of the other files with the inode of this one: hard links, on the same device.

    ``ino``: the inode on the disk, which may be of a file that the index does not have; None: only ask the index.
    """
    rows = reader.rows(_TWINS, (place.root_id, *relpath.split(place.path)))
    if ino is not None:
        rows += reader.rows(_OF_INODE, (to_signed(ino),))
    return [(root_id, relpath.join(folder, name)) for root_id, folder, name in rows]


def frontmatter_fault(reader: Reader, row: FileRow) -> str | None:
    """Return why a block that looks like frontmatter counts as ordinary text; None if there is no such block."""
    fault: str | None = reader.one(_FRONTMATTER_FAULT, (row.content_id,))
    return fault


def _matching(reader: Reader, request: ListRequest, roots: Mapping[int, bytes]) -> list[tuple[bytes, int]]:
    """Return (absolute path, id) of the files that the filters admit."""
    tests = [_PRESENT, "d.root_id IN (SELECT value FROM json_each(?))"]
    values: list[Any] = [json.dumps(sorted(roots))]
    if request.root_id is not None:
        tests.append("d.root_id = ?")
        values.append(request.root_id)
    if request.places is not None:
        sql, more = within(request.places)
        tests.append(sql)
        values += more
    if request.status is not None:
        tests.append(f"d.status = {STATUSES.index(request.status)}")
    path_matches = None if request.glob is None else glob_filter([request.glob], "glob").admits
    found = []
    for file_id, root_id, folder, name in reader.rows(_LIST.format(" AND ".join(tests)), values):
        rel = folder + b"/" + name if folder else name
        if path_matches is None or path_matches(rel):
            found.append((roots[root_id].rstrip(b"/") + b"/" + rel, file_id))
    return found


def _record(path: bytes, row: FileRow, chunks: int) -> FileRecord:
    return FileRecord(
        path=display_path(path),
        path_b64=path_b64(path),
        status=row.status,
        size=row.state.size,
        chunks=chunks,
        language=row.language,
        content_hash=None if row.content_hash is None else row.content_hash.hex(),
        indexed_at=rfc3339_of_seconds(row.indexed_at),
        reason=row.reason,
    )


def _indexed(row: FileRow | None, path: bytes) -> FileRow:
    if row is None:
        raise NotFound(f"{display_path(path)} is not in the index; `livedex why` shows the reason", {"status": None})
    if row.content_id is None:
        status = f"{row.status} ({row.reason})" if row.reason else row.status
        raise NotFound(f"{display_path(path)} is {status}", {"status": row.status, "reason": row.reason})
    return row


def _chunk(content: ContentRow, chunk: ChunkRow, data: bytes) -> Chunk:
    before = decode_slice(data, content.encoding, 0, chunk.start_byte) if chunk.context_chars else ""
    return Chunk(
        ordinal=chunk.id - content.first_chunk,
        text=decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte),
        context=before[-chunk.context_chars :] if chunk.context_chars else "",
        **chunk_fields(content, chunk),
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        start_byte=chunk.start_byte,
        end_byte=chunk.end_byte,
    )
