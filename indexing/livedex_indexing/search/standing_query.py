"""Finds the chunks that match a standing query: they contain all its words and phrases, and its filters admit them.

Invariant: whether a state of a file matches depends on that state and its path alone, never on the rest of the index.
So only changed files need a check, and the difference is what the client is told.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from livedex_indexing import relpath
from livedex_indexing.hits.live_files import COPY, FileCopy, LiveFiles, file_copy
from livedex_indexing.model import STATUSES, Place, Query
from livedex_indexing.query.filters import Filters, build_filters
from livedex_indexing.query.highlight import WrittenPhrase
from livedex_indexing.query.query_compiler import compile_strict
from livedex_indexing.query.query_parser import QUERY_BYTES
from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm, match_any, match_any_path
from livedex_indexing.query.scope import places, root_at
from livedex_indexing.query.typed_span import TypedSpan
from livedex_indexing.rank.postings import border_chunks
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import CHUNK, ChunkRow, ContentRow, read_contents
from livedex_indexing.text.decoder import decode_slice
from livedex_ipc.errors import InvalidParams, OutsideRoots

FileKey = tuple[int, bytes]  # root id, path relative to the root

SLICE: Final = 20_000  # chunks of the index per part
_GAP: Final = 512  # ids: a gap up to this between two chunks is not worth a second statement
_MOST_SPANS: Final = 12
_LAST: Final = (1 << 63) - 1

_FILE = """SELECT id, content_id FROM files
           WHERE root_id = ? AND folder = ? AND name = ? AND content_id IS NOT NULL"""
_WAITING = f"""SELECT root_id, folder, name, content_hash FROM files WHERE status = {STATUSES.index("pending")}
               AND content_hash IS NOT NULL AND root_id IN (SELECT value FROM json_each(?))"""
_FILES = f"SELECT d.content_id, {COPY} FROM files d WHERE d.content_id IN (SELECT value FROM json_each(?)) AND {{}}"
_RANGES = "SELECT first_chunk, first_chunk + chunks - 1 FROM contents WHERE id IN (SELECT value FROM json_each(?))"
_BORDER = """SELECT t.first_chunk + t.chunks FROM contents t
             WHERE t.id = (SELECT content_id FROM chunks WHERE id >= ? ORDER BY id LIMIT 1)"""
_MATCH = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ?"
_MATCH_ONCE = "SELECT rowid FROM postings WHERE postings MATCH ? AND ({})"
_ALL = "SELECT id FROM chunks WHERE id BETWEEN ? AND ?"
_OF_FILES = """SELECT t.first_chunk, t.first_chunk + t.chunks FROM contents t
               WHERE t.first_chunk BETWEEN ? AND ?
                     AND EXISTS (SELECT 1 FROM files d WHERE d.content_id = t.id AND {})"""
_CHUNKS = f"SELECT {CHUNK} FROM chunks c WHERE c.id IN (SELECT value FROM json_each(?)) AND {{}} ORDER BY c.id"
_OWNERS = "SELECT DISTINCT content_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"


class Found(NamedTuple):
    """A file that matches a standing query, with its matching chunks in file order; ``matches`` is their number if
    only the first one is here."""

    copy: FileCopy
    content: ContentRow
    chunks: tuple[ChunkRow, ...]
    matches: int

    @property
    def key(self) -> FileKey:
        return self.copy.root_id, self.copy.path


class Part(NamedTuple):
    """A part of the index to search: the chunks in ``spans`` (sorted, disjoint, whole contents), and the files in
    ``files`` that contain them. ``files`` None: all files, or all of ``roots`` if that is not None."""

    spans: Sequence[tuple[int, int]]
    ranges: Sequence[tuple[int, int]] | None
    files: Collection[int] | None
    roots: Collection[int] | None = None

    def contains(self, chunk_id: int) -> bool:
        """Whether a chunk inside ``spans`` belongs to the part: a span may cover a small gap."""
        if self.ranges is None:
            return True
        place = bisect_right(self.ranges, (chunk_id, _LAST)) - 1
        return place >= 0 and chunk_id <= self.ranges[place][1]


def part_of(reader: Reader, keys: Iterable[FileKey]) -> Part:
    """Return the part of the index with these files, as they are indexed now."""
    files: set[int] = set()
    contents: set[int] = set()
    keys_in_parts = [(root_id, *relpath.split(path)) for root_id, path in keys]
    for file_id, content_id in reader.rows_of_each(_FILE, keys_in_parts):
        files.add(file_id)
        contents.add(content_id)
    ranges = sorted((low, high) for low, high in reader.rows_of(_RANGES, contents) if high >= low)
    return Part(_spans(ranges), ranges, files)


def content_hashes(reader: Reader, keys: Iterable[FileKey]) -> set[bytes]:
    """Return the hashes of the contents that these files have in the index."""
    rows = reader.rows_of_each(_FILE, [(root_id, *relpath.split(path)) for root_id, path in keys])
    contents = {content_id for _, content_id in rows}
    return {content.hash for content in read_contents(reader, contents).values()}


def waiting_files(reader: Reader, roots: Iterable[int]) -> Iterator[tuple[FileKey, bytes]]:
    """Yield the files of these roots whose bytes are known and not indexed yet, each with the hash of its bytes."""
    for root_id, folder, name, digest in reader.rows(_WAITING, (json.dumps(list(roots)),)):
        yield (root_id, relpath.join(folder, name)), digest


def parts_of_all(reader: Reader, roots: Collection[int] | None = None) -> Iterator[Part]:
    """Yield the whole index, or all of some roots, part by part."""
    low = 1
    while True:
        border = reader.one(_BORDER, (low + SLICE,))
        yield Part([(low, _LAST if border is None else border - 1)], None, None, roots)
        if border is None:
            return
        low = border


class StandingQuery:
    """A query whose answer is kept up to date. ``group_by_file``: only the first chunk of each file counts.

    ``paths`` (None: everywhere) and ``roots`` (empty: all) are absolute and real. They are looked up again each time,
    because a root that is removed and added again has another id.
    """

    def __init__(
        self, query: Query, paths: Sequence[bytes] | None, roots: Sequence[bytes], *, group_by_file: bool
    ) -> None:
        self._query = query
        self._paths = paths
        self._roots = roots
        self.group_by_file = group_by_file

    def compiled(self, reader: Reader) -> CompiledQuery:
        """Return the compiled query. It is the same with every reader."""
        return compile_strict(reader, self._query)

    def typed(self) -> TypedSpan:
        """Return what finds the words as they were typed."""
        return TypedSpan(self._query.text, self._query)

    def found(
        self, reader: Reader, part: Part, roots: Mapping[int, bytes], live: LiveFiles, unsure: set[FileKey]
    ) -> Iterator[Found]:
        """Yield the files of ``part`` that match the query. Only those of ``roots`` that are present count.

        ``live`` reads the files to check phrases. Files that have changed meanwhile are left out and added to
        ``unsure``: their matches are unknown now. Raises DeadlinePassed and Cancelled.
        """
        compiled = self.compiled(reader)
        if self._query.has_text and not compiled.textual:
            return
        try:
            query = self._placed(roots)
        except OutsideRoots:
            return  # its path is in no root any more, or not yet again
        filters: Callable[[], Filters] = cache(
            lambda: build_filters(reader, query, roots, match_any_path(compiled.excluded) or None)
        )
        if any(term.prefix for term in compiled.terms) and part.files is not None:
            part = _admitted(reader, filters(), part)
        candidates = _with_words(reader, compiled, part) if compiled.textual else None
        if candidates is not None and not candidates:
            return
        if candidates is None:
            candidates = _of_files(reader, filters(), part)
        chunks = _chunks(reader, candidates, filters())
        for content_id in _excluded(reader, compiled, part) if chunks else ():
            chunks.pop(content_id, None)
        if not chunks:
            return
        copies = _copies(reader, chunks.keys(), filters(), part)
        contents = read_contents(reader, copies)
        check = _Phrases(reader, compiled, part, live)
        for content_id, those in copies.items():
            content = contents[content_id]
            matching = check.with_phrases(content, chunks[content_id], those)
            if matching is None:
                unsure.update((copy.root_id, copy.path) for copy in those)
            elif matching:
                shown = tuple(matching[:1] if self.group_by_file else matching)
                yield from (Found(copy, content, shown, len(matching)) for copy in those)

    def _placed(self, roots: Mapping[int, bytes]) -> Query:
        """Return the query with its paths and roots resolved as they are now. Raises OutsideRoots."""
        inside = None if self._paths is None else tuple(_places_of(self._paths, roots))
        return replace(self._query, places=inside, root_ids=tuple(root_at(root, roots) for root in self._roots))


def standing_query(
    request: SearchRequest, paths: Sequence[bytes] | None = None, roots: Sequence[bytes] = ()
) -> StandingQuery:
    """Return the standing query of a request, limited to ``paths`` and ``roots`` (see ``StandingQuery``).

    Raises InvalidParams for a query so long that only a part of it would count.
    """
    query, cut = request.parsed()
    if cut:
        raise InvalidParams(f"query: a standing query has at most {QUERY_BYTES} bytes", {"field": "query"})
    return StandingQuery(query, paths, roots, group_by_file=request.group == "file")


def _places_of(paths: Sequence[bytes], roots: Mapping[int, bytes]) -> list[Place]:
    """Return the places of those paths that a root contains now. Raises OutsideRoots if none does."""
    found: list[Place] = []
    for number, path in enumerate(paths, 1):
        try:
            found += places(path, roots)
        except OutsideRoots:
            if number == len(paths) and not found:
                raise
    return found


class _Phrases:
    """Decides which chunks contain the phrases of a query as written. A phrase across the border of two chunks counts
    for the second."""

    def __init__(self, reader: Reader, compiled: CompiledQuery, part: Part, live: LiveFiles) -> None:
        self._live = live
        self._wanted = [WrittenPhrase(phrase.text, reader.words) for phrase in compiled.phrases]
        self._excluded = [(WrittenPhrase(phrase.text, reader.words), _ending(reader, phrase.term, part))
                        for phrase in compiled.excluded_phrases]  # fmt: skip
        self._reader = reader

    def with_phrases(
        self, content: ContentRow, chunks: Sequence[ChunkRow], copies: Sequence[FileCopy]
    ) -> Sequence[ChunkRow] | None:
        """Return the matching ``chunks``, none if the content is excluded; None if no copy is unchanged."""
        last = content.first_chunk + content.chunks - 1
        doubtful = [(written, near) for written, ids in self._excluded
                    if (near := [i for i in ids if content.first_chunk <= i <= last])]  # fmt: skip
        if not self._wanted and not doubtful:
            return chunks
        found = self._live.read(content.id, content.hash, copies)
        if found is None:
            return None
        data = found[1]
        for written, near in doubtful:
            rows = self._reader.rows(_CHUNKS.format("1"), (json.dumps(near),))
            if any(self._ends_in(written, content, ChunkRow(*row), data) for row in rows):
                return ()
        return [row for row in chunks if all(self._ends_in(written, content, row, data) for written in self._wanted)]

    def _ends_in(self, written: WrittenPhrase, content: ContentRow, chunk: ChunkRow, data: bytes) -> bool:
        before = ""
        if chunk.id > content.first_chunk:
            start, end = self._reader.rows("SELECT start_byte, end_byte FROM chunks WHERE id = ?", (chunk.id - 1,))[0]
            before = decode_slice(data, content.encoding, start, end)
        text = decode_slice(data, content.encoding, chunk.start_byte, chunk.end_byte)
        return any(end > len(before) for _, end in written.places(before + text))


def _with_words(reader: Reader, compiled: CompiledQuery, part: Part) -> list[int]:
    """Return the chunks of a part that contain all the words, and may contain all the phrases."""
    found: set[int] | None = None
    # For a beginning, FTS5 gathers all rows of all words that begin so: the other words are looked for first.
    for terms in ([term for term in compiled.terms if term.prefix is begins] for begins in (False, True)):
        if terms and (found is None or found):
            matching = _matching(reader, " AND ".join(f"({term.match})" for term in terms), part)
            found = matching if found is None else found & matching
    for phrase in compiled.phrases:
        if found is None or found:
            ending = _ending(reader, phrase.term, part)
            found = ending if found is None else found & ending
    return sorted(filter(part.contains, found or ()))


def _of_files(reader: Reader, filters: Filters, part: Part) -> list[int]:
    """Return the chunks of a part that belong to files which the filters may admit."""
    if part.files is not None:
        return [row for span in part.spans for (row,) in reader.rows(_ALL, span) if part.contains(row)]
    sql, values = filters.files
    ranges = [row for span in part.spans for row in reader.rows(_OF_FILES.format(sql), (*span, *values))]
    return sorted(chunk_id for first, end in ranges for chunk_id in range(first, end))


def _admitted(reader: Reader, filters: Filters, part: Part) -> Part:
    """Return the part without the contents that the filters admit in none of its files."""
    chunks = _chunks(reader, _of_files(reader, filters, part), filters)
    ranges = sorted((low, high) for low, high in reader.rows_of(_RANGES, _copies(reader, chunks, filters, part)))
    return part._replace(spans=_spans(ranges), ranges=ranges)


def _matching(reader: Reader, match: str, part: Part) -> set[int]:
    if len(part.spans) > 1 and '" *' in match:  # FTS5 gathers the words with a beginning in each statement
        inside = " OR ".join(f"rowid BETWEEN {low} AND {high}" for low, high in part.spans)
        return {row for (row,) in reader.rows(_MATCH_ONCE.format(inside), (match,))}
    return {row for span in part.spans for (row,) in reader.rows(_MATCH, (match, *span))}


def _ending(reader: Reader, phrase: QueryTerm, part: Part) -> set[int]:
    """Return the chunks in which the words of a phrase may end."""
    found = _matching(reader, phrase.match, part)
    for span in part.spans:
        for ids in border_chunks(reader, phrase, span).values():
            found |= ids
    return found


def _excluded(reader: Reader, compiled: CompiledQuery, part: Part) -> set[int]:
    """Return the contents of a part that contain an excluded word."""
    if not compiled.excluded:
        return set()
    rows = _matching(reader, match_any(compiled.excluded), part)
    return {content_id for (content_id,) in reader.rows_of(_OWNERS, rows)}


def _chunks(reader: Reader, ids: Sequence[int], filters: Filters) -> dict[int, list[ChunkRow]]:
    """Return the rows of the chunks that the filters admit, by content."""
    sql, values = filters.chunks
    by_content: dict[int, list[ChunkRow]] = {}
    for row in reader.rows(_CHUNKS.format(sql), (json.dumps(ids), *values)):
        by_content.setdefault(row[1], []).append(ChunkRow(*row))
    return by_content


def _copies(reader: Reader, contents: Collection[int], filters: Filters, part: Part) -> dict[int, list[FileCopy]]:
    """Return the files of a part that have these contents and that the filters admit."""
    sql, values = filters.files
    path_matches: Callable[[bytes], bool] = filters.path_matches or (lambda _path: True)
    by_content: dict[int, list[FileCopy]] = {}
    for content_id, *columns in reader.rows_of(_FILES.format(sql), contents, values):
        copy = file_copy(columns)
        inside = part.files is None or copy.file_id in part.files
        if inside and (part.roots is None or copy.root_id in part.roots) and path_matches(copy.path):
            by_content.setdefault(content_id, []).append(copy)
    return by_content


def _spans(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a few spans that cover sorted ranges, without the largest gaps between them."""
    gaps = sorted(
        ((right[0] - left[1], place) for place, (left, right) in enumerate(pairwise(ranges), 1)),
        reverse=True,
    )
    cuts = sorted(place for gap, place in gaps[: _MOST_SPANS - 1] if gap > _GAP)
    edges = [0, *cuts, len(ranges)]
    return [(ranges[left][0], ranges[right - 1][1]) for left, right in pairwise(edges) if ranges]
