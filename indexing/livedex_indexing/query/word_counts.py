"""How many rows hold a word, and which words a misspelt one may mean: read once a generation, kept between queries.

Invariant: a number from a former generation serves only where a few rows more or less change no order, and a meaning
from one only a search that does not ask to be fresh.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from livedex_indexing.store.database import varints
from livedex_indexing.store.read_pool import Reader

_MANY: Final = 1_000  # chunks: of a word in so many it takes long to count them, and a few more change nothing
_SAME_SIZE: Final = 0.02  # by which share the number of all chunks may differ for that
_REMEMBERED_WORDS: Final = 10_000  # counts of words, about 2 MB
_REMEMBERED_MEANINGS: Final = 1_000  # misspelt words, under 1 MB
# So long a look serves searches that do not wait: it takes up to 50 ms while much is indexed.
_FOUND_S: Final = 60.0  # where it found words, which are good as long as they stand somewhere
_MISSED_S: Final = 3.0

_COUNT_TERM = "SELECT doc FROM temp.vocabulary WHERE term = ?"
_COUNT_ROWS = "SELECT count(*) FROM postings WHERE postings MATCH ?"
_COUNT_PATHS = "SELECT count(*) FROM paths WHERE paths MATCH ?"
_TOTALS = "SELECT block FROM postings_data WHERE id = 1"  # FTS5's own: the number of rows, then of words


@dataclass
class _Meaning:
    """The words that one may mean, as the index was in the generation ``found`` at ``at`` (monotonic), and the last
    generation that it was taken for."""

    words: list[str]
    found: int
    at: float
    taken: int


class Meanings:
    """What words that stand nowhere may mean, kept from one query to the next of a generation.

    While much is indexed there are several generations a second; of a former one a search takes what is not old only
    where it does not ask to be fresh.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Meaning] = {}

    def of(self, token: str, generation: int, look: Callable[[str], list[str]], *, fresh: bool) -> list[str]:
        known = self._known.get(token)
        if known is not None:
            if known.found == generation:
                return known.words
            old = time.monotonic() - known.at > (_FOUND_S if known.words else _MISSED_S)
            if not fresh and (known.taken == generation or not old):
                known.taken = generation  # by all pages of the generation
                return known.words
        if len(self._known) >= _REMEMBERED_MEANINGS:
            self._known.clear()
        words = look(token)
        self._known[token] = _Meaning(words, generation, time.monotonic(), generation)
        return words


class WordCounts:
    """How many rows hold a word: read once a generation, since a common word's list is long to read.

    While much is indexed there are several generations a second: of common words the number in the ``former`` one is
    taken, as long as the index has hardly grown. Of any other an old number would hide what is new.
    """

    def __init__(self, generation: int, former: WordCounts | None = None) -> None:
        self.generation = generation
        self.chunks: int | None = None
        self._known: dict[str, tuple[int, int]] = {}
        self._many: dict[str, int] = {} if former is None else former._many
        self._counted_at: int = 0 if former is None else former._counted_at  # all chunks, when these were counted
        self.meanings: Meanings = Meanings() if former is None else former.meanings

    def all_chunks(self, reader: Reader) -> int:
        if self.chunks is None:
            totals = reader.one(_TOTALS)
            self.chunks = varints(totals)[0] if totals else 0
            if abs(self.chunks - self._counted_at) > _SAME_SIZE * self._counted_at:
                self._many, self._counted_at = {}, self.chunks
        return self.chunks

    def of(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool, paths: str) -> tuple[int, int]:
        """(chunks, paths) that hold it."""
        known = self._known.get(match)
        if known is None:
            rows = self._rows(reader, match, stems, prefix)
            if len(self._known) >= _REMEMBERED_WORDS:
                self._known.clear()
            known = self._known[match] = (rows, reader.one(_COUNT_PATHS, (paths,)))
        return known

    def _rows(self, reader: Reader, match: str, stems: tuple[str, ...], prefix: bool) -> int:
        self.all_chunks(reader)  # first: it forgets the numbers of an index of another size
        rows = self._many.get(match)
        if rows is None:
            if len(stems) == 1 and not prefix:
                rows = int(reader.one(_COUNT_TERM, (stems[0],)) or 0)
            else:
                rows = int(reader.one(_COUNT_ROWS, (match,)))
            if rows >= _MANY and len(self._many) < _REMEMBERED_WORDS:
                self._many[match] = rows
        return rows


def idf_of(rows: int, total: int) -> float:
    """BM25's, never negative: a word in over half of the rows says next to nothing."""
    return max(1e-6, math.log((max(total, rows) - rows + 0.5) / (rows + 0.5)))
