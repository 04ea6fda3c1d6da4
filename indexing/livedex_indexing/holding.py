"""What a file must hold, or must not hold, as a whole: phrases, required and excluded words.

Invariant: the index only proposes files for a phrase (it knows stems, and no punctuation); whether the phrase stands
there as written is read from the live file, once for each content.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from livedex_indexing.asked import Asked, Phrase
from livedex_indexing.filters import Admission, Condition
from livedex_indexing.marking import Tokenizer, WrittenPhrase
from livedex_indexing.parse import decode_slice
from livedex_indexing.postings import border_chunks, contents_holding
from livedex_indexing.readpool import Reader

_REMEMBERED: Final = 20_000  # answers, about 3 MB

_TABLES = """
CREATE TEMP TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY);
CREATE TEMP TABLE IF NOT EXISTS barred (id INTEGER PRIMARY KEY);
DELETE FROM temp.held; DELETE FROM temp.barred;
"""
_CANDIDATES = """SELECT postings.rowid FROM postings, contents t WHERE t.id = ? AND postings MATCH ?
                 AND postings.rowid BETWEEN t.first_chunk AND t.first_chunk + t.chunks - 1"""
_STRETCH = "SELECT min(start_byte), max(end_byte) FROM chunks WHERE content_id = ? AND id BETWEEN ? AND ?"


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
    """Narrows what is admitted to contents that hold all that is required and nothing that is excluded."""
    borders = {phrase.text: border_chunks(reader, phrase.unit) for phrase in (*asked.phrases, *asked.barred)}
    held = [contents_holding(reader, unit) for unit in asked.required]
    held += [contents_holding(reader, phrase.unit) | borders[phrase.text].keys() for phrase in asked.phrases]
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
    copy holds it any more: such a content is left out, since nothing can be said of it."""

    def __init__(
        self, reader: Reader, asked: Asked, held: Held, memory: PhraseMemory, read: Callable[[int], Bytes | None]
    ) -> None:
        self._reader = reader
        self._borders = held.borders
        self._memory = memory
        self._read = read
        self._wanted = _written(asked.phrases, reader.words)
        self._barred = _written(asked.barred, reader.words)

    def admits(self, content_id: int) -> bool:
        """Raises DeadlinePassed."""
        return all(self._holds(content_id, phrase, written) is True for phrase, written in self._wanted) and all(
            self._holds(content_id, phrase, written) is False for phrase, written in self._barred
        )

    def _holds(self, content_id: int, phrase: Phrase, written: WrittenPhrase) -> bool | None:
        known = self._memory.get(content_id, phrase.text)
        if known is not None:
            return known
        chunks = {row[0] for row in self._reader.rows(_CANDIDATES, (content_id, phrase.unit.match))}
        chunks.update(self._borders[phrase.text].get(content_id, ()))
        holds: bool | None = False
        if chunks:
            content = self._read(content_id)
            holds = None if content is None else self._stands_in(content_id, sorted(chunks), content, written)
        if holds is not None:
            self._memory.put(content_id, phrase.text, holds)
        return holds

    def _stands_in(self, content_id: int, chunks: Iterable[int], content: Bytes, written: WrittenPhrase) -> bool:
        for chunk_id in chunks:
            # With the chunk before: the phrase may begin there.
            start, end = self._reader.rows(_STRETCH, (content_id, chunk_id - 1, chunk_id))[0]
            if written.places(decode_slice(content.data, content.encoding, start, end)):
                return True
        return False


def _written(phrases: Sequence[Phrase], words: Tokenizer) -> list[tuple[Phrase, WrittenPhrase]]:
    return [(phrase, WrittenPhrase(phrase.text, words)) for phrase in phrases]
