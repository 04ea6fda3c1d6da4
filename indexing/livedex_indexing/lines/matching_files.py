"""Finds the files that have a line which matches a pattern, in order, without reading those of which the words tell it.

Invariant: a file is found exactly when a search for lines finds one in it.

Of a piece of a word in any case, the words of the index tell that a text has it, unless a letter of the text may have
lost its diacritic on the way into the index (``folds``). Then it only remains to see that the file is as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from livedex_indexing.disk.unchanged_files import State, unchanged_names
from livedex_indexing.lines.candidates import MatchingWords, contents_with
from livedex_indexing.lines.line_hits import FileText
from livedex_indexing.lines.line_order import LineCursor, age_of
from livedex_indexing.lines.line_search import LineSearch, Selected
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.path_text import display_path, path_b64
from livedex_indexing.store.file_rows import to_unsigned
from livedex_indexing.store.read_pool import DeadlinePassed

_BATCH: Final = 2_000  # files
_COLUMNS = "d.id, d.root_id, d.folder, d.name, d.content_id, d.size, d.mtime_ns, d.ctime_ns, d.ino, d.settled"


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
    _states: Mapping[int, State] = {}  # of the files that match for sure, as they were indexed

    def files(self, limit: int, *, count: bool) -> FilesPage:
        """Return the next files, at most ``limit``. ``count``: count their lines, too. Raises Cancelled."""
        found: list[MatchingFile] = []
        last: Selected | None = None
        more = False
        try:
            for file, matches in self._matching(count):
                if len(found) == limit:
                    more = True
                    break
                found.append(MatchingFile(display_path(file.path), path_b64(file.path), matches))
                last = file
        except DeadlinePassed:
            self._late = True
        cursor = LineCursor(last.age, last.path, 0) if last is not None and (more or self._late) else None
        return FilesPage(found, cursor, self._late, self._left_out)

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

    def _files(self, among: Collection[int] | None) -> list[Selected]:
        rows = self._rows_of_files(_COLUMNS, among)
        tops = {root_id: root.rstrip(b"/") + b"/" for root_id, root in self._roots.items()}
        order, sure, found = self._order, self._sure, list[Selected]()
        states: dict[int, State] = {}
        for file_id, root_id, folder, name, content_id, size, mtime_ns, ctime_ns, ino, settled in rows:
            path = b"%b%b/%b" % (tops[root_id], folder, name) if folder else tops[root_id] + name
            found.append(Selected(age_of(order, mtime_ns), path, root_id, file_id, content_id))
            if settled and content_id in sure:
                states[file_id] = (size, mtime_ns, ctime_ns, to_unsigned(ino))
        self._states = states
        return sorted(found)

    def _matching(self, count: bool) -> Iterator[tuple[Selected, int | None]]:
        files = self._selected
        for start in range(0, len(files), _BATCH):
            batch = files[start : start + _BATCH]
            sure = frozenset[int]() if count else self._unchanged(batch)
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
        """Return the ids of those files that match for sure and are as they were indexed."""
        states, by_folder = self._states, dict[tuple[int, bytes], dict[bytes, tuple[int, State]]]()
        for file in files:
            state = states.get(file.file_id)
            if state is not None:
                folder, _, name = file.path.rpartition(b"/")
                by_folder.setdefault((file.root_id, folder), {})[name] = file.file_id, state
        found: list[int] = []
        for (root_id, folder), entries in by_folder.items():
            root = self._roots[root_id]
            below = folder[len(root.rstrip(b"/")) + 1 :]
            same = unchanged_names(root, below, {name: state for name, (_, state) in entries.items()})
            found += [entries[name][0] for name in same]
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
