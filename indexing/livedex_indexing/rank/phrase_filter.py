"""What a file must hold, or must not hold, as a whole: phrases and excluded words.

Invariant: the index only proposes files for a phrase (it knows stems, and no punctuation); whether the phrase stands
there as written is read from the live file, once for each content.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.filters import Admission, Condition
from livedex_indexing.query.highlight import WrittenPhrase
from livedex_indexing.query.query_compiler import Asked, Phrase
from livedex_indexing.rank.postings import border_chunks, contents_holding
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.decoder import decode_slice
from livedex_indexing.text.tokens import Tokenizer

ONE_BY_ONE: Final = 64  # contents of which the index is asked each for itself, before it is asked for all
_REMEMBERED: Final = 20_000  # answers, about 3 MB

_TABLES = """
CREATE TEMP TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS barred (id INTEGER PRIMARY KEY);
DELETE FROM temp.held; DELETE FROM temp.barred;
"""
_CANDIDATES = "SELECT rowid FROM postings WHERE postings MATCH ? AND rowid BETWEEN ? AND ?"
_ALL = "SELECT json_group_array(rowid) FROM (SELECT rowid FROM postings WHERE postings MATCH ? ORDER BY rowid)"
_CHUNKS = """SELECT c.id, c.start_byte, c.end_byte FROM contents t JOIN chunks c
             ON c.id BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1 WHERE t.id = ? ORDER BY c.id"""


class Bytes(NamedTuple):
    """A content's bytes as they are on disk, and the codec that decodes them."""

    data: bytes
    encoding: str


class Held(NamedTuple):
    """What is admitted once whole files are looked at, and the chunks at whose beginning a phrase may end: by the
    phrase's text, then by content."""

    admission: Admission
    borders: Mapping[str, Mapping[int, Collection[int]]]


def restrict(reader: Reader, asked: Asked, admission: Admission) -> Held:
    """Narrows what is admitted to contents with all phrases and without any excluded word."""
    borders = {phrase.text: border_chunks(reader, phrase.unit) for phrase in (*asked.phrases, *asked.barred)}
    held = [contents_holding(reader, phrase.unit) | borders[phrase.text].keys() for phrase in asked.phrases]
    if not held and not asked.excluded:
        return Held(admission, borders)
    reader.db.execute(_TABLES)
    tests = []
    if held:
        reader.fill("INSERT INTO temp.held VALUES (?)", [(content_id,) for content_id in set.intersection(*held)])
        tests.append("{}.content_id IN (SELECT id FROM temp.held)")
    if asked.excluded:
        barred = set().union(*(contents_holding(reader, unit) for unit in asked.excluded))
        reader.fill("INSERT INTO temp.barred VALUES (?)", [(content_id,) for content_id in barred])
        tests.append("{}.content_id NOT IN (SELECT id FROM temp.barred)")
    of_file, of_chunk = (" AND ".join(test.format(table) for test in tests) for table in "dc")
    narrowed = admission._replace(
        files=admission.files.and_(Condition(of_file)),
        rows=admission.rows.and_(Condition(f"(SELECT {of_chunk} FROM chunks c WHERE c.id = +postings.rowid)")),
        paths=admission.paths.and_(Condition(f"(SELECT {of_file} FROM files d WHERE d.id = +paths.rowid)")),
    )
    return Held(narrowed, borders)


class PhraseMemory:
    """Remembers which contents hold which phrases. A content never changes, so neither does the answer."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, str], bool] = OrderedDict()

    def get(self, content_id: int, text: str) -> bool | None:
        return self._known.get((content_id, text))

    def put(self, content_id: int, text: str, holds: bool) -> None:
        self._known[content_id, text] = holds
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


class PhraseCheck:
    """Decides for one search which contents hold its phrases. ``read`` gives a content's live bytes, None where no
    copy holds it any more: such a content is left out, since nothing can be said of it.

    ``signs`` and ``barred_signs`` are phrases without a word (``->``): the index knows nothing of them, so that each
    content which the rest of the query proposes is read.
    """

    def __init__(
        self,
        reader: Reader,
        asked: Asked,
        held: Held,
        memory: PhraseMemory,
        read: Callable[[int], Bytes | None],
        *,
        signs: Sequence[str] = (),
        barred_signs: Sequence[str] = (),
    ) -> None:
        self._reader = reader
        self._borders = held.borders
        self._memory = memory
        self._read = read
        self._wanted = [*_written(asked.phrases, reader.words), *_signs(signs, reader.words)]
        self._barred = [*_written(asked.barred, reader.words), *_signs(barred_signs, reader.words)]
        self._asked_one_by_one = 0
        self._rows: dict[str, array[int]] = {}  # of a phrase: all chunks that may hold it, in order

    @property
    def trivial(self) -> bool:
        """Whether it admits all contents."""
        return not self._wanted and not self._barred

    def admits(self, content_id: int) -> bool:
        """Raises DeadlinePassed or Cancelled."""
        return all(self._holds(content_id, wanted) is True for wanted in self._wanted) and all(
            self._holds(content_id, barred) is False for barred in self._barred
        )

    def _holds(self, content_id: int, phrase: _Wanted) -> bool | None:
        known = self._memory.get(content_id, phrase.text)
        if known is not None:
            return known
        self._reader.check()
        pieces = self._pieces(content_id, phrase)
        holds: bool | None = False
        if pieces:
            content = self._read(content_id)
            holds = None if content is None else _stands_in(pieces, content, phrase.written)
        if holds is not None:
            self._memory.put(content_id, phrase.text, holds)
        return holds

    def _pieces(self, content_id: int, phrase: _Wanted) -> list[tuple[int, int | None]]:
        """The stretches of the content's bytes in which the phrase may stand: each chunk that the index proposes, with
        the one before it, since the phrase may begin there."""
        if phrase.match is None:
            return [(0, None)]
        chunks = self._reader.rows(_CHUNKS, (content_id,))
        if not chunks:
            return []
        first, last = chunks[0][0], chunks[-1][0]
        proposed = {*self._proposed(phrase, first, last), *self._borders[phrase.text].get(content_id, ())}
        return [(chunks[max(0, chunk_id - 1 - first)][1], chunks[chunk_id - first][2]) for chunk_id in sorted(proposed)]

    def _proposed(self, phrase: _Wanted, first: int, last: int) -> Iterable[int]:
        """Those of a content's chunks that the index proposes. A page of hits asks for few contents: one by one. Who
        pages through all of a common word is told all its chunks at once."""
        rows = self._rows.get(phrase.text)
        if rows is None and self._asked_one_by_one < ONE_BY_ONE:
            self._asked_one_by_one += 1
            return [row for (row,) in self._reader.rows(_CANDIDATES, (phrase.match, first, last))]
        if rows is None:
            rows = self._rows[phrase.text] = array("q", json.loads(self._reader.one(_ALL, (phrase.match,))))
        return rows[bisect_left(rows, first) : bisect_right(rows, last)]


class _Wanted(NamedTuple):
    """A phrase as it is checked; ``match`` finds its candidates, None where the index has none to propose."""

    text: str
    match: str | None
    written: WrittenPhrase


def _stands_in(pieces: Iterable[tuple[int, int | None]], content: Bytes, written: WrittenPhrase) -> bool:
    return any(
        written.places(decode_slice(content.data, content.encoding, start, len(content.data) if end is None else end))
        for start, end in pieces
    )


def _written(phrases: Sequence[Phrase], words: Tokenizer) -> list[_Wanted]:
    return [_Wanted(phrase.text, phrase.unit.match, WrittenPhrase(phrase.text, words)) for phrase in phrases]


def _signs(texts: Sequence[str], words: Tokenizer) -> list[_Wanted]:
    return [_Wanted(text, None, WrittenPhrase(text, words)) for text in texts]
