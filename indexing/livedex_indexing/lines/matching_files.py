"""Finds the files that have a line which matches a pattern, in order, without reading those of which the words tell it.

Invariant: a file is found exactly when a search for lines finds one in it.

Of a piece of a word in any case, the words of the index tell that a text has it, unless a letter of the text may have
lost its diacritic on the way into the index (``folds``). Then it only remains to see that the file is as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from livedex_indexing.disk.unchanged_files import unchanged_names
from livedex_indexing.lines.candidates import MatchingWords, contents_with
from livedex_indexing.lines.line_hits import FileText
from livedex_indexing.lines.line_order import LineCursor
from livedex_indexing.lines.line_search import LineSearch, Selected
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.path_text import display_path, path_b64
from livedex_indexing.store.database import id_list
from livedex_indexing.store.file_rows import to_unsigned
from livedex_indexing.store.read_pool import DeadlinePassed

_BATCH: Final = 2_000  # files
_STATES = """SELECT d.id, d.content_id, d.root_id, d.folder, d.name, d.size, d.mtime_ns, d.ctime_ns, d.ino FROM files d
             WHERE d.settled = 1 AND d.id IN (SELECT value FROM json_each(?))"""


class MatchingFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file with a line that matches. ``path`` is absolute; ``path_b64`` its bytes in base64 if they are not UTF-8,
    else None. ``matches``: how many lines match; None if they were not counted."""

    path: str
    path_b64: str | None = None
    matches: int | None = None


class FilesPage(NamedTuple):
    """One page of files. ``last``: the place of the last one, None if there are no more. ``late``: the deadline came
    first. ``left_out``: files that had changed."""

    files: list[MatchingFile]
    last: LineCursor | None
    late: bool
    left_out: int


class MatchingFiles(LineSearch):
    """One search for the files that match, on one reader: first `select`, in its snapshot, then `files`, outside."""

    _sure: frozenset[int] = frozenset()

    def files(self, limit: int, *, count: bool) -> FilesPage:
        """Return the next files, at most ``limit``. ``count``: count their lines, too. Raises Cancelled."""
        found: list[MatchingFile] = []
        last: LineCursor | None = None
        more = False
        try:
            for file, matches in self._matching(count):
                if len(found) == limit:
                    more = True
                    break
                found.append(MatchingFile(display_path(file.path), path_b64(file.path), matches))
                last = LineCursor(file.age, file.path, 0)
        except DeadlinePassed:
            self._late = True
        return FilesPage(found, last if more or self._late else None, self._late, self._left_out)

    @property
    def _is_by_file(self) -> bool:
        return True

    def _among(self, vocabulary: Vocabulary) -> Collection[int] | None:
        piece = self._pattern.word_piece
        if piece is None or self._resolved.chunks.sql != "1":
            return super()._among(vocabulary)
        found: MatchingWords = contents_with(self._reader, piece, vocabulary.words(self._reader))
        self._sure = found.sure
        return found.possible

    def _matching(self, count: bool) -> Iterator[tuple[Selected, int | None]]:
        files = self._selected
        for start in range(0, len(files), _BATCH):
            batch = files[start : start + _BATCH]
            sure = frozenset[int]() if count else self._unchanged([f for f in batch if f.content_id in self._sure])
            read = self._read([file for file in batch if file.file_id not in sure], count)
            left = next(read, None)
            for file in batch:
                if file.file_id in sure:
                    yield file, None
                elif left is not None and left[0] is file:
                    yield left
                    left = next(read, None)
            self._ended()

    def _unchanged(self, files: Sequence[Selected]) -> frozenset[int]:
        """Return the ids of those files that are as they were indexed."""
        content_of = {file.file_id: file.content_id for file in files}
        states: dict[tuple[int, bytes], dict[bytes, tuple[int, int, int, int]]] = {}
        ids: dict[tuple[int, bytes, bytes], int] = {}
        for file_id, content_id, root_id, folder, name, size, mtime_ns, ctime_ns, ino in self._reader.rows(
            _STATES, (id_list(content_of),)
        ):
            if content_of[file_id] == content_id:
                states.setdefault((root_id, folder), {})[name] = (size, mtime_ns, ctime_ns, to_unsigned(ino))
                ids[root_id, folder, name] = file_id
        found: list[int] = []
        for (root_id, folder), of_names in states.items():
            same = unchanged_names(self._roots[root_id], folder, of_names)
            found += [ids[root_id, folder, name] for name in same]
            if self._ended():
                raise DeadlinePassed("the search ran past its deadline")
        return frozenset(found)

    def _read(self, files: Sequence[Selected], count: bool) -> Iterator[tuple[Selected, int | None]]:
        by_id = {file.file_id: file for file in files}
        for copy, content in self._batches(files):
            data = self._live.read_one(content.id, content.hash, copy)
            if data is None:
                self._left_out += 1
                continue
            lines = self._lines(copy, content, FileText(data, content.encoding), 0)
            if next(lines, None) is not None:
                yield by_id[copy.file_id], 1 + sum(1 for _ in lines) if count else None
