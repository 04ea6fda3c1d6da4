"""Answers about files rather than words: the list of what the index holds, and one file's chunks.

Invariant: rows are in the wire's shape, and a chunk's text is cut from the live file as for a hit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from livedex_indexing import relpath
from livedex_indexing.hits.answer_json import absolute, rfc3339
from livedex_indexing.hits.live_files import FileCopy, LiveFiles, Stale
from livedex_indexing.model import KINDS, STATUSES, FileRow
from livedex_indexing.path_text import display_path, path_fields
from livedex_indexing.query.filters import glob_filter
from livedex_indexing.query.scope import places, relative, root_at, within
from livedex_indexing.store.file_rows import FROM, ROW, file_row
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import CHUNK, CONTENT, ChunkRow, ContentRow
from livedex_indexing.text.decoder import decode_slice
from livedex_ipc.errors import NotFound
from livedex_ipc.params import path_bytes

_LIST = """SELECT d.id, d.root_id, d.folder, d.name FROM files d WHERE {}"""
_ROWS = f"SELECT f.id, {ROW}, coalesce(t.chunks, 0) {FROM} WHERE f.id IN (SELECT value FROM json_each(?))"
_FILE = f"SELECT {ROW} {FROM} WHERE f.root_id = ? AND f.folder = ? AND f.name = ?"
_CONTENT = f"SELECT {CONTENT} FROM contents t WHERE t.id = ?"
_FRONTMATTER_FAULT = "SELECT frontmatter_fault FROM contents WHERE id = ?"
_CHUNKS = f"SELECT {CHUNK} FROM chunks c WHERE c.id BETWEEN ? AND ? ORDER BY c.id"
_PRESENT = "d.root_id NOT IN (SELECT id FROM roots WHERE missing_since IS NOT NULL)"
_NANOSECONDS: Final = 1_000_000_000


def list_files(reader: Reader, params: Mapping[str, Any], roots: Mapping[int, bytes]) -> dict[str, Any]:
    """Answers checked params of ``files/list``: ``{files, total}``, by absolute path.

    Raises OutsideRoots for a ``path`` or ``root`` that no root holds.
    """
    with reader.snapshot():
        found = sorted(_matching(reader, params, roots))
        page = found[params.get("offset", 0) :][: params.get("limit", 1000)]
        rows = {
            row[0]: (file_row(row[1:-1]), row[-1])
            for row in reader.rows(_ROWS, (json.dumps([file_id for _, file_id in page]),))
        }
    return {"files": [_record(path, *rows[file_id]) for path, file_id in page], "total": len(found)}


def retrieve(
    reader: Reader, params: Mapping[str, Any], roots: Mapping[int, bytes]
) -> tuple[dict[str, Any] | None, Stale]:
    """Answers checked params of ``files/retrieve``; beside it what was found changed (`LiveFiles`). None for a file
    that holds other bytes now.

    Raises OutsideRoots, and NotFound with the reason for a file that is not indexed.
    """
    path = path_bytes(params) or b""
    place = places(path, roots)[0]
    with reader.snapshot():
        values = reader.rows(_FILE, (place.root_id, *relpath.split(place.path)))
        row = _indexed(file_row(values[0]) if values else None, path)
        content = ContentRow(*reader.rows(_CONTENT, (row.content_id,))[0])
        last = content.first_chunk + content.chunks - 1
        chunks = [ChunkRow(*values) for values in reader.rows(_CHUNKS, (content.first_chunk, last))]
    live = LiveFiles(roots)
    found = live.read(content.id, content.hash, [FileCopy(0, row.root_id, row.path, row.state, row.settled)])
    if found is None:
        return None, live.stale
    first, end = params.get("start_line") or 1, params.get("end_line")
    wanted = [
        _chunk(content, chunk, found[1])
        for chunk in chunks
        if chunk.end_line >= first and (end is None or chunk.start_line <= end)
    ]
    answer = {**path_fields(absolute(roots, place)), "content_hash": content.hash.hex(), "chunks": wanted}
    return answer, live.stale


def find_row(reader: Reader, path: bytes, roots: Mapping[int, bytes]) -> FileRow | None:
    """The row of one absolute path, None where the index has none or no root holds it."""
    place = relative(path, roots)
    if place is None:
        return None
    values = reader.rows(_FILE, (place.root_id, *relpath.split(place.path)))
    return file_row(values[0]) if values else None


def frontmatter_fault(reader: Reader, row: FileRow) -> str | None:
    """Why a block that looks like frontmatter was taken as ordinary text; None where none was."""
    fault: str | None = reader.one(_FRONTMATTER_FAULT, (row.content_id,))
    return fault


def _matching(reader: Reader, params: Mapping[str, Any], roots: Mapping[int, bytes]) -> list[tuple[bytes, int]]:
    """(absolute path, id) of the files that the filters admit."""
    tests = [_PRESENT, "d.root_id IN (SELECT value FROM json_each(?))"]
    values: list[Any] = [json.dumps(sorted(roots))]
    root, path = path_bytes(params, "root"), path_bytes(params)
    if root is not None:
        tests.append("d.root_id = ?")
        values.append(root_at(root, roots))
    if path is not None:
        sql, more = within(places(path, roots))
        tests.append(f"({sql})")
        values += more
    status = params.get("status")
    if status is not None:
        tests.append(f"d.status = {STATUSES.index(status)}")
    glob = params.get("glob")
    path_matches = None if glob is None else glob_filter([glob], "glob").admits
    found = []
    for file_id, root_id, folder, name in reader.rows(_LIST.format(" AND ".join(tests)), values):
        rel = folder + b"/" + name if folder else name
        if path_matches is None or path_matches(rel):
            found.append((roots[root_id].rstrip(b"/") + b"/" + rel, file_id))
    return found


def _record(path: bytes, row: FileRow, chunks: int) -> dict[str, Any]:
    record: dict[str, Any] = {
        **path_fields(path),
        "status": row.status,
        "size": row.state.size,
        "chunks": chunks,
        "language": row.language,
        "content_hash": None if row.content_hash is None else row.content_hash.hex(),
        "indexed_at": rfc3339(int(row.indexed_at * _NANOSECONDS)),
    }
    if row.reason is not None:
        record["reason"] = row.reason
    return record


def _indexed(row: FileRow | None, path: bytes) -> FileRow:
    if row is None:
        raise NotFound(f"{display_path(path)} is not in the index; `livedex why` says why", {"status": None})
    if row.content_id is None:
        said = f"{row.status} ({row.reason})" if row.reason else row.status
        raise NotFound(f"{display_path(path)} is {said}", {"status": row.status, "reason": row.reason})
    return row


def _chunk(content: ContentRow, chunk: ChunkRow, data: bytes) -> dict[str, Any]:
    before = decode_slice(data, content.encoding, 0, chunk.start_byte) if chunk.context_chars else ""
    return {
        "ordinal": chunk.id - content.first_chunk,
        "text": decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte),
        "context": before[-chunk.context_chars :] if chunk.context_chars else "",
        "kind": KINDS[chunk.kind],
        "language": chunk.language,
        "heading": chunk.heading,
        "symbol": chunk.symbol,
        "start_line": chunk.start_line,
        "end_line": chunk.end_line,
        "start_byte": chunk.start_byte,
        "end_byte": chunk.end_byte,
        "metadata": {**content.metadata(), **json.loads(chunk.metadata or "{}")},
    }
