"""Finds the lines that match a pattern, in order of path and line, in every copy of a file, read as it is now.

Invariant: a line is found exactly when its file, in the state indexed, contains it. The index only tells which files
need not be read. A file that has changed since is left out, reported, and queued.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import msgspec

from livedex_indexing import relpath
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import COPY, FileCopy, LiveFiles, file_copy
from livedex_indexing.hits.text_budget import TextBudget
from livedex_indexing.language_names import same_language
from livedex_indexing.lines.candidates import candidates
from livedex_indexing.lines.line_hits import FileText, Place, chunk_at, hit_of
from livedex_indexing.lines.line_order import LineCursor, Order, age_of
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.model import KINDS
from livedex_indexing.path_text import display_path
from livedex_indexing.query.filters import ResolvedFilters, files_with_chunks
from livedex_indexing.rank.facets import Facets, counted_by
from livedex_indexing.store.read_pool import DeadlinePassed, Reader
from livedex_indexing.store.row_types import CHUNK, ChunkRow, ContentRow, read_contents
from livedex_indexing.store.sql import IN_CONTENT
from livedex_ipc.errors import Cancelled

_FIRST_BATCH: Final = 16  # files whose rows are read at once; each batch doubles the one before …
_LARGEST_BATCH: Final = 512
_LONGEST_CHAR: Final = 4  # bytes
_MOST_REACH: Final = 128 << 10  # bytes behind the first match of a line, in which its other matches are highlighted

_COLUMNS = "d.id, d.root_id, d.folder, d.name, d.content_id, d.mtime_ns"
_COPIES = f"""SELECT d.content_id, {COPY} FROM files d
              WHERE d.id IN (SELECT value FROM json_each(?)) AND d.content_id IS NOT NULL"""
_CHUNKS = f"""SELECT {CHUNK} FROM contents t
              JOIN chunks c ON {IN_CONTENT}
              WHERE t.id = ? AND {{}} ORDER BY c.id"""


class Page(NamedTuple):
    """One page of lines. ``hits`` start at ``offset``; ``more``: others follow, or may. ``late``: the deadline came
    first. ``omitted``: hits of the page that exceeded the text budget. ``left_out``: files that had changed. ``facets``
    are None if they were not requested, or not counted in time. ``last``: the place of the last hit, None without."""

    hits: list[Hit]
    more: bool
    late: bool
    omitted: int
    left_out: int
    facets: Facets | None
    last: LineCursor | None


class Selected(NamedTuple):
    """A file to read, in the order of the search. ``path`` is absolute."""

    age: int
    path: bytes
    root_id: int
    file_id: int
    content_id: int


class _Found(NamedTuple):
    """``matches``: number of matching lines in the file, if one hit represents all of them."""

    place: Place
    matches: int | None = None


class LineSearch:
    """One search for a pattern on one reader: first `select`, inside the search's snapshot, then `page`, outside.

    Files are read outside the snapshot: it would keep the write-ahead log from shrinking until the last file is read.
    """

    def __init__(
        self,
        reader: Reader,
        pattern: Pattern,
        resolved: ResolvedFilters,
        live: LiveFiles,
        style: Style,
        cancelled: Callable[[], bool],
    ) -> None:
        self._order: Order = "path"
        self._after: LineCursor | None = None
        self._reader = reader
        self._pattern = pattern
        self._resolved = resolved
        self._live = live
        self._roots = live.roots
        self._style = style
        self._cancelled = cancelled
        self._late = False
        self._left_out = 0
        self._selected: list[Selected] = []  # in order
        self._counted: set[tuple[str, str, int]] | None = None  # (facet, value, file id) of the files with a match

    def select(self, vocabulary: Vocabulary, order: Order = "path", after: LineCursor | None = None) -> None:
        """Select the files to read, in their order, from the place ``after`` on. Raises Cancelled."""
        self._order = order
        try:
            self._selected = self._files(self._among(vocabulary))
        except DeadlinePassed:
            self._late = True
        if after is not None:
            self._after = after
            begin = bisect_right if self._is_by_file else bisect_left
            self._selected = self._selected[begin(self._selected, after[:2], key=lambda file: file[:2]) :]

    @property
    def _is_by_file(self) -> bool:
        """Whether a place of the order is a file, with all its lines."""
        return self._style.matches

    @property
    def selected(self) -> int:
        """The number of files to read."""
        return len(self._selected)

    def first_chunks(self, lines: int) -> Iterator[int]:
        """Yield the chunk of each of the first ``lines`` lines that match. Raises Cancelled and DeadlinePassed."""
        return (found.place.chunk.id for found in islice(self._found(), lines))

    def page(
        self,
        offset: int,
        limit: int,
        budget: TextBudget,
        facets: Sequence[str] = (),
    ) -> Page:
        """Return the hits of one page, as far as their text fits into ``budget``. Raises Cancelled."""
        hits: list[Hit] = []
        last: LineCursor | None = None
        omitted, more = 0, False
        self._counted = set() if facets else None
        try:
            for number, found in enumerate(self._found()):
                if number >= offset + limit:
                    more = True
                    if self._counted is None:
                        break
                if not offset <= number < offset + limit:
                    continue
                hit = None if omitted else budget.take(self._made(found))
                if hit is None:
                    omitted += 1
                else:
                    hits.append(hit)
                    last = self._place_of(found.place)
        except DeadlinePassed:
            self._late = True
        # A full page is complete, even if there was no time to see whether more follows.
        late = self._late and (bool(facets) or len(hits) + omitted < limit)
        counts = None if self._late or self._counted is None else counted_by(facets, self._counted)
        return Page(hits, more or self._late or omitted > 0, late, omitted, self._left_out, counts, last)

    def _place_of(self, place: Place) -> LineCursor:
        path = self._path(place.copy.root_id, place.copy.path)
        return LineCursor(age_of(self._order, place.copy.state.mtime_ns), path, place.line.number)

    def _among(self, vocabulary: Vocabulary) -> Collection[int] | None:
        """Return the contents that have to be read; None: all."""
        if not self._pattern.required:
            return None
        words = vocabulary.words(self._reader)
        found = candidates(self._reader, self._pattern.required, words)
        if found is None:
            return None
        return found | words.unknown_contents(self._reader)

    def _found(self) -> Iterator[_Found]:
        reach = min(_MOST_REACH, self._style.max_snippet_chars * _LONGEST_CHAR)
        for copy, content in self._batches(self._selected):
            data = self._live.read_one(content.id, content.hash, copy)
            if data is None:
                self._left_out += 1
                continue
            found = self._lines(copy, content, FileText(data, content.encoding), reach)
            if not self._style.matches:
                yield from found
            elif (first := next(found, None)) is not None:
                yield first._replace(matches=1 + sum(1 for _ in found))

    def _lines(self, copy: FileCopy, content: ContentRow, file: FileText, reach: int) -> Iterator[_Found]:
        """Yield the lines of one file that match and lie in an admitted chunk."""
        chunks: list[ChunkRow] | None = None
        begun = self._lines_before(copy)
        for line in self._pattern.lines(file.text, reach, self._ended):
            if line.number <= begun:
                continue
            if chunks is None:
                sql, values = self._resolved.chunks
                chunks = [ChunkRow(*row) for row in self._reader.rows(_CHUNKS.format(sql), (content.id, *values))]
            chunk = chunk_at(chunks, file, line)
            if chunk is not None:
                self._count(copy, chunk)
                yield _Found(Place(copy, content, chunk, file, line))
        if self._late:
            raise DeadlinePassed("the search ran past its deadline")

    def _lines_before(self, copy: FileCopy) -> int:
        """Return how many lines of a file come before the place from which the search goes on."""
        after = self._after
        return after.line if after is not None and self._path(copy.root_id, copy.path) == after.path else 0

    def _count(self, copy: FileCopy, chunk: ChunkRow) -> None:
        if self._counted is not None:
            values = {"roots": display_path(self._roots[copy.root_id]), "kinds": KINDS[chunk.kind]}
            if chunk.language is not None:
                values["languages"] = same_language(chunk.language)
            self._counted.update((name, value, copy.file_id) for name, value in values.items())

    def _made(self, found: _Found) -> Hit:
        hit = hit_of(found.place, self._roots, self._style)
        return hit if found.matches is None else msgspec.structs.replace(hit, matches=found.matches)

    def _ended(self) -> bool:
        if self._cancelled():
            raise Cancelled("the search was cancelled")
        self._late = self._late or self._reader.is_past_deadline()
        return self._late

    def _files(self, among: Collection[int] | None) -> list[Selected]:
        """Return the files that pass the filters and have these contents, in order."""
        tops = {root_id: self._path(root_id, b"x")[:-1] for root_id in self._roots}
        return sorted(
            Selected(
                age_of(self._order, mtime_ns),
                tops[root_id] + folder + (b"/" if folder else b"") + name,  # of each file: written for speed
                root_id,
                file_id,
                content_id,
            )
            for file_id, root_id, folder, name, content_id, mtime_ns in self._rows_of_files(_COLUMNS, among)
        )

    def _rows_of_files(self, columns: str, among: Collection[int] | None) -> list[tuple[Any, ...]]:
        """Return these columns of the files ``d`` that pass the filters and have these contents; None: any."""
        sql, values = files_with_chunks(self._resolved)
        selected = f"SELECT {columns} FROM files d WHERE"
        if among is None:
            return self._reader.rows(f"{selected} {sql}", values)
        return self._reader.rows_of(
            f"{selected} d.content_id IN (SELECT value FROM json_each(?)) AND {sql}", among, values
        )

    def _batches(self, files: Sequence[Selected]) -> Iterator[tuple[FileCopy, ContentRow]]:
        """Yield the rows of files, those that are still as they were when they were selected."""
        at, size = 0, _FIRST_BATCH
        while at < len(files):
            yield from self._batch(files[at : at + size])
            at, size = at + size, min(2 * size, _LARGEST_BATCH)

    def _batch(self, files: Sequence[Selected]) -> Iterator[tuple[FileCopy, ContentRow]]:
        ids = json.dumps([file.file_id for file in files])
        with self._reader.snapshot():
            copies = {row[1]: (row[0], file_copy(row[1:])) for row in self._reader.rows(_COPIES, (ids,))}
            contents = read_contents(self._reader, {content_id for content_id, _ in copies.values()})
        for file in files:
            if self._ended():
                raise DeadlinePassed("the search ran past its deadline")
            content_id, copy = copies.get(file.file_id, (0, None))
            if copy is not None and content_id == file.content_id and self._path(copy.root_id, copy.path) == file.path:
                yield copy, contents[content_id]
            else:  # indexed again, renamed or removed since the files were selected
                self._left_out += 1
                top = self._path(file.root_id, b"x")[:-1]
                self._live.stale[file.root_id, file.path[len(top) :]] = False

    def _path(self, root_id: int, path: bytes) -> bytes:
        return relpath.absolute(self._roots[root_id], path)
