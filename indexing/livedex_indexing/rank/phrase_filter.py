"""Filters whole files: by phrases and excluded words.

Invariant: the index only proposes files for a phrase (it has stems, and no punctuation); the live file decides whether
the phrase is there as written, once for each content.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.filters import Condition, ResolvedFilters
from livedex_indexing.query.highlight import WrittenPhrase
from livedex_indexing.query.query_terms import CompiledQuery, Phrase
from livedex_indexing.rank.postings import border_chunks, contents_with
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import IN_CONTENT, REWRITTEN
from livedex_indexing.text.decoder import decode_slice
from livedex_indexing.text.tokens import Tokenizer

ONE_BY_ONE: Final = 64  # contents that are queried singly before all chunks of the phrase are fetched at once
_REMEMBERED: Final = 20_000  # answers, about 3 MB

_TABLES = """
CREATE TEMP TABLE IF NOT EXISTS required_contents (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS excluded_contents (id INTEGER PRIMARY KEY);
DELETE FROM temp.required_contents; DELETE FROM temp.excluded_contents;
"""
_CANDIDATES = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ?"
_ALL = "SELECT json_group_array(rowid) FROM (SELECT rowid FROM postings WHERE postings MATCH ? ORDER BY rowid)"
_CHUNKS = f"""SELECT c.id, c.start_byte, c.end_byte FROM contents t JOIN chunks c
             ON {IN_CONTENT} WHERE t.id = ? ORDER BY c.id"""


class Bytes(NamedTuple):
    """The bytes of a content as they are on disk, and the codec that decodes them."""

    data: bytes
    encoding: str


class FileFilter(NamedTuple):
    """The filters narrowed by tests of whole files. ``borders`` has the chunks at whose beginning a phrase may end: by
    the phrase's text, then by content id."""

    resolved: ResolvedFilters
    borders: Mapping[str, Mapping[int, Collection[int]]]


def build_file_filter(reader: Reader, compiled: CompiledQuery, resolved: ResolvedFilters) -> FileFilter:
    """Narrow the filters to contents with all phrases and without any excluded word."""
    borders = {
        phrase.text: border_chunks(reader, phrase.term) for phrase in (*compiled.phrases, *compiled.excluded_phrases)
    }
    required = [contents_with(reader, phrase.term) | borders[phrase.text].keys() for phrase in compiled.phrases]
    if not required and not compiled.excluded:
        return FileFilter(resolved, borders)
    reader.rows(_TABLES)
    tests = []
    if required:
        reader.fill(
            "INSERT INTO temp.required_contents VALUES (?)",
            [(content_id,) for content_id in set.intersection(*required)],
        )
        tests.append("{}.content_id IN (SELECT id FROM temp.required_contents)")
    if compiled.excluded:
        excluded = set().union(*(contents_with(reader, term) for term in compiled.excluded))
        reader.fill("INSERT INTO temp.excluded_contents VALUES (?)", [(content_id,) for content_id in excluded])
        tests.append("{}.content_id NOT IN (SELECT id FROM temp.excluded_contents)")
    of_file, of_chunk = (" AND ".join(test.format(table) for test in tests) for table in "dc")
    narrowed = resolved._replace(
        files=resolved.files.and_(Condition(of_file)),
        rows=resolved.rows.and_(Condition(f"(SELECT {of_chunk} FROM chunks c WHERE c.id = +postings.rowid)")),
        paths=resolved.paths.and_(Condition(f"(SELECT {of_file} FROM files d WHERE d.id = +paths.rowid)")),
    )
    return FileFilter(narrowed, borders)


class PhraseMemory:
    """Remembers which contents contain which phrases. A content never changes, so neither does the answer, unless it is
    ``rewritten``: then the rows from which the answer was found may have been damaged."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, int, str], bool] = OrderedDict()

    def get(self, rewritten: int, content_id: int, text: str) -> bool | None:
        """Return the remembered answer, None without one. ``rewritten``: how often contents were written again."""
        return self._known.get((rewritten, content_id, text))

    def put(self, rewritten: int, content_id: int, text: str, contains: bool) -> None:
        self._known[rewritten, content_id, text] = contains
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


class Quoted(NamedTuple):
    """The phrases of a query as typed. The index knows nothing about those without a word (``->``), so each content
    that the rest of the query proposes is read."""

    required: Sequence[str]
    excluded: Sequence[str]


class PhraseCheck:
    """Decides for one search which contents pass its phrases. ``read`` returns the live bytes of a content, None where
    no copy has them any more: such a content is left out."""

    def __init__(
        self,
        reader: Reader,
        compiled: CompiledQuery,
        file_filter: FileFilter,
        memory: PhraseMemory,
        read: Callable[[int], Bytes | None],
        quoted: Quoted,
    ) -> None:
        self._reader = reader
        self._borders = file_filter.borders
        self._memory = memory
        self._read = read
        self._wanted = [*_written(compiled.phrases, reader.words), *_without_words(quoted.required, reader)]
        self._excluded = [
            *_written(compiled.excluded_phrases, reader.words),
            *_without_words(quoted.excluded, reader),
        ]
        self._single_queries = 0
        self._rewritten = 0 if self.trivial else int(reader.one(REWRITTEN))
        self._rows: dict[str, array[int]] = {}  # by the phrase's text: all chunks that may contain it, in order

    @property
    def trivial(self) -> bool:
        """Whether every content passes."""
        return not self._wanted and not self._excluded

    def matches(self, content_id: int) -> bool:
        """Whether a content has all phrases and none of the excluded ones. Raises DeadlinePassed or Cancelled."""
        return all(self._contains(content_id, wanted) is True for wanted in self._wanted) and all(
            self._contains(content_id, excluded) is False for excluded in self._excluded
        )

    def _contains(self, content_id: int, phrase: _Wanted) -> bool | None:
        known = self._memory.get(self._rewritten, content_id, phrase.text)
        if known is not None:
            return known
        self._reader.check()
        pieces = self._pieces(content_id, phrase)
        contains: bool | None = False
        if pieces:
            content = self._read(content_id)
            contains = None if content is None else _occurs_in(pieces, content, phrase.written)
        if contains is not None:
            self._memory.put(self._rewritten, content_id, phrase.text, contains)
        return contains

    def _pieces(self, content_id: int, phrase: _Wanted) -> list[tuple[int, int | None]]:
        """Return the byte ranges of the content in which the phrase may be: each chunk that the index proposes,
        together with the one before it, since the phrase may begin there."""
        if phrase.match is None:
            return [(0, None)]
        chunks = self._reader.rows(_CHUNKS, (content_id,))
        if not chunks:
            return []
        first, last = chunks[0][0], chunks[-1][0]
        proposed = {*self._proposed(phrase, first, last), *self._borders[phrase.text].get(content_id, ())}
        return [(chunks[max(0, chunk_id - 1 - first)][1], chunks[chunk_id - first][2]) for chunk_id in sorted(proposed)]

    def _proposed(self, phrase: _Wanted, first: int, last: int) -> Iterable[int]:
        """Return the chunks of a content that the index proposes. A page of hits needs few contents, so they are
        queried one by one; paging through all matches of a common word fetches all its chunks at once."""
        rows = self._rows.get(phrase.text)
        if rows is None and self._single_queries < ONE_BY_ONE:
            self._single_queries += 1
            return [row for (row,) in self._reader.rows(_CANDIDATES, (phrase.match, first, last))]
        if rows is None:
            rows = self._rows[phrase.text] = array("q", json.loads(self._reader.one(_ALL, (phrase.match,))))
        return rows[bisect_left(rows, first) : bisect_right(rows, last)]


class _Wanted(NamedTuple):
    """A phrase to check; ``match`` finds its candidates, None where the index has none to propose."""

    text: str
    match: str | None
    written: WrittenPhrase


def _occurs_in(pieces: Iterable[tuple[int, int | None]], content: Bytes, written: WrittenPhrase) -> bool:
    return any(
        written.places(decode_slice(content.data, content.encoding, start, len(content.data) if end is None else end))
        for start, end in pieces
    )


def _written(phrases: Sequence[Phrase], words: Tokenizer) -> list[_Wanted]:
    return [_Wanted(phrase.text, phrase.term.match, WrittenPhrase(phrase.text, words)) for phrase in phrases]


def _without_words(texts: Sequence[str], reader: Reader) -> list[_Wanted]:
    return [_Wanted(text, None, WrittenPhrase(text, reader.words)) for text in texts if not reader.tokens(text)]
