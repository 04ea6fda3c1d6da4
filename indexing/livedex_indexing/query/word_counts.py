"""Counts the rows that contain a word, and caches what misspelt words may mean, from one query to the next.

Invariant: a count from an earlier generation is used only where a few rows more or less change no order, and a meaning
from one only for a search that does not ask to be fresh.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from livedex_indexing.store.database import id_list, varints
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import WRITTEN_WORDS

MANY: Final = 1_000  # chunks: counting a word in more takes long, and a few more change nothing
SAME_SIZE: Final = 0.02  # share by which the number of all chunks may differ for a count to be carried over
_OTHER_ROWS: Final = 8_000
_SAMPLE: Final = 4_000  # chunks that tell how long those of each language are
_FEW: Final = 30  # chunks of average length that each language has more: a few tell little
_SHORTEST: Final = 0.1  # of the usual length
_REMEMBERED_WORDS: Final = 10_000  # counts of words, about 2 MB
_SHORT: Final = 3  # letters of a word whose contents are remembered: many words have it inside, and it is long to count
_REMEMBERED_MEANINGS: Final = 1_000  # misspelt words, under 1 MB
# How long a lookup serves searches that do not wait: it takes up to 50 ms during heavy indexing.
_FOUND_S: Final = 60.0  # where it found words, which stay valid as long as they are in the index
MISSED_S: Final = 3.0

_COUNT_TERM = "SELECT doc FROM temp.vocabulary WHERE term = ?"
_COUNT_ROWS = "SELECT count(*) FROM postings WHERE postings MATCH ?"
_COUNT_PATHS = "SELECT count(*) FROM paths WHERE paths MATCH ?"
_COUNT_DEAD = "SELECT count(*) FROM dead"
# The newest first: what was replaced is older than what took its place.
_ALIVE = """SELECT 1 FROM postings WHERE postings MATCH ? AND +rowid NOT IN (SELECT id FROM dead)
            ORDER BY rowid DESC LIMIT 1"""
_LAST_CHUNK = "SELECT max(id) FROM chunks"
_LENGTHS = """SELECT language, count(*), sum(end_byte - start_byte) FROM chunks
              WHERE id IN (SELECT value FROM json_each(?)) GROUP BY language"""
_TOTALS = "SELECT block FROM postings_data WHERE id = 1"  # FTS5's own: the number of rows, then of words
_PATH_TOTALS = "SELECT block FROM paths_data WHERE id = 1"
_COMMON_IN_NAMES: Final = 0.5  # share of all paths


class Form(NamedTuple):
    """Another form of a word: as texts have it, in lower case without diacritics, and its stem in the index."""

    word: str
    stem: str


@dataclass
class _Meaning:
    """The words that a misspelt one may mean. ``found`` is the generation of the lookup, ``at`` its time (monotonic
    seconds), and ``taken`` the last generation that used it."""

    words: list[str]
    found: int
    at: float
    taken: int


class Meanings:
    """Caches what words that are not in the index may mean, between the queries of a generation.

    During heavy indexing there are several generations a second. A result of an earlier one, if it is recent, serves a
    search that does not ask to be fresh.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Meaning] = {}

    def of(self, token: str, generation: int, find: Callable[[str], list[str]], *, fresh: bool) -> list[str]:
        """Return the words that ``token`` may mean; ``find`` reads them from the index."""
        known = self._known.get(token)
        if known is not None:
            if known.found == generation:
                return known.words
            old = time.monotonic() - known.at > (_FOUND_S if known.words else MISSED_S)
            if not fresh and (known.taken == generation or not old):
                known.taken = generation  # so that all pages of the generation use it
                return known.words
        if len(self._known) >= _REMEMBERED_MEANINGS:
            self._known.clear()
        words = find(token)
        self._known[token] = _Meaning(words, generation, time.monotonic(), generation)
        return words


class WordCounts:
    """Counts the rows that contain a word, once a generation, because the posting list of a common word is long to
    read. Those of contents that no file uses any more count, too; a word that only they have counts as missing.

    During heavy indexing there are several generations a second. Counts of common words are carried over from
    ``former`` as long as the index has hardly grown. For any other word an old count would hide new files.
    """

    def __init__(self, generation: int, former: WordCounts | None = None) -> None:
        self.generation = generation
        self.chunks: int | None = None
        self.paths: int | None = None
        self._dead: int | None = None
        self._rows: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._many: dict[str, int] = {} if former is None else former._many
        self._short: dict[str, int] = {}  # short words, with the number of contents that have them as written
        self._many_short: dict[str, int] = {} if former is None else former._many_short
        self._lengths: dict[int | None, float] | None = None if former is None else former._lengths
        self._counted_at: int = 0 if former is None else former._counted_at  # all chunks at the time of these counts
        self.meanings: Meanings = Meanings() if former is None else former.meanings
        self.forms: dict[str, tuple[Form, ...]] = {}  # of typed words
        self.languages: dict[str, int] | None = None  # besides English, each with the number of its texts, at most

    def all_chunks(self, reader: Reader) -> int:
        """Return the number of chunks in the index."""
        if self.chunks is None:
            totals = reader.one(_TOTALS)
            self.chunks = varints(totals)[0] if totals else 0
            if abs(self.chunks - self._counted_at) > SAME_SIZE * self._counted_at:
                self._many, self._many_short, self._counted_at, self._lengths = {}, {}, self.chunks, None
        return self.chunks

    def idf(self, reader: Reader, rows: int, files: int) -> float:
        """Return the idf of a word that so many chunks and paths have. What most paths have says little, however rare
        it is in texts: `py`, or the folder that all is in."""
        chunks, named = self.all_chunks(reader), 0
        if files:
            if self.paths is None:
                totals = reader.one(_PATH_TOTALS)
                self.paths = varints(totals)[0] if totals else 0
            named = chunks * files // max(1, self.paths) if files > self.paths * _COMMON_IN_NAMES else 0
        return idf_of(max(rows or files, named), chunks)

    def lengths(self, reader: Reader) -> Mapping[int | None, float]:
        """Return how long the chunks of each language usually are, relative to all chunks, by the language's id (None:
        no language). From a sample, because reading all rows takes long, and carried over like the counts.

        BM25 compares a chunk with the usual length. Where that is one for all, the short chunks of one language come
        before the long ones of another (dev halves of five sets of commits: +.001 to +.03; one language: 0)."""
        self.all_chunks(reader)
        if self._lengths is None:
            last = reader.one(_LAST_CHUNK) or 0
            sample = range(1, last + 1, max(1, last // _SAMPLE))
            rows = reader.rows(_LENGTHS, (id_list(sample),))
            usual = sum(size for _, _, size in rows) / max(1, sum(count for _, count, _ in rows)) or 1.0
            self._lengths = {
                language: max(_SHORTEST, (size + _FEW * usual) / (count + _FEW) / usual)
                for language, count, size in rows
            }
        return self._lengths

    def of(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool, paths: str) -> tuple[int, int]:
        """Return the numbers of chunks and of paths that contain the word."""
        files = self._files.get(paths)
        if files is None:
            if len(self._files) >= _REMEMBERED_WORDS:
                self._files.clear()
            files = self._files[paths] = int(reader.one(_COUNT_PATHS, (paths,)))
        return self._living(reader, match, stems, prefix), files

    def _living(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool) -> int:
        known = self._rows.get(match)
        if known is None:
            rows = self._count(reader, match, stems, prefix)
            if len(self._rows) >= _REMEMBERED_WORDS:
                self._rows.clear()
            known = self._rows[match] = rows if rows and self._is_alive(reader, match, rows) else 0
        return known

    def _is_alive(self, reader: Reader, match: str, rows: int) -> bool:
        """Whether a content that a file uses has the word. Reads its rows only where all of them may be dead."""
        if self._dead is None:
            self._dead = int(reader.one(_COUNT_DEAD))
        return rows > self._dead or reader.one(_ALIVE, (match,)) is not None

    def of_word(self, reader: Reader, token: str) -> int:
        """Return the number of chunks that contain one word, which is as the tokenizer returns it."""
        match = f'"{token}"'
        known = self._rows.get(match)
        if known is None:
            stems = tuple(stem for _, _, stem in reader.stems(token.encode()))
            known = self._living(reader, match, stems, prefix=False)
        return known

    def contents_with(self, reader: Reader, words: Iterable[str]) -> dict[str, int]:
        """Return those of some words that texts have as they are written, each with the number of contents that have
        it. The words are in lower case and without diacritics."""
        self.all_chunks(reader)
        wanted = set(words)
        known = {word: self._short[word] for word in wanted & self._short.keys()}
        known |= {word: self._many_short[word] for word in wanted & self._many_short.keys()}
        rest = sorted(wanted - known.keys())
        found: dict[str, int] = dict(reader.rows(WRITTEN_WORDS, (json.dumps(rest, ensure_ascii=False),)))
        short = {word: found.get(word, 0) for word in rest if len(word) <= _SHORT}
        if len(self._short) >= _REMEMBERED_WORDS:
            self._short.clear()
        self._short.update(short)
        self._many_short.update({word: contents for word, contents in short.items() if contents >= MANY})
        return {word: contents for word, contents in {**known, **found}.items() if contents}

    def counted(self, match: str) -> int | None:
        """Return the number of chunks that an expression finds, None if it was not counted in this generation: which
        ones were depends on other queries, so it may save work, and may change no answer."""
        return self._rows.get(match)

    def _count(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool) -> int:
        self.all_chunks(reader)  # first: it drops the counts of an index of another size
        rows = self._many.get(match)
        if rows is None:
            if len(stems) == 1 and not prefix:
                rows = int(reader.one(_COUNT_TERM, (stems[0],)) or 0)
            else:
                rows = int(reader.one(_COUNT_ROWS, (match,)))
            if rows >= MANY and len(self._many) < _REMEMBERED_WORDS:
                self._many[match] = rows
        return rows


class Uncounted(WordCounts):
    """Counts no word."""

    def all_chunks(self, reader: Reader) -> int:
        return 0

    def of(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool, paths: str) -> tuple[int, int]:
        return 0, 0


class PathCounts(WordCounts):
    """Counts the paths with a word, and no chunks."""

    def _count(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool) -> int:
        return 0


def idf_of(rows: int, total: int) -> float:
    """Return BM25's idf, never negative, of an index with some more rows that lack the word: as many as there are, at
    most `_OTHER_ROWS`. Without them the words that a small index is about would say nothing (dev halves of five sets of
    commits: +.005 to +.014)."""
    other = min(total, _OTHER_ROWS)
    return max(1e-6, math.log((max(total, rows) + other - rows + 0.5) / (rows + 0.5)))
