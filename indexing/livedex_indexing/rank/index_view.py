"""What the look-ups of one query share: where they read, and what they may find.

Invariant: what is proposed passes the filters of the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.rank.postings import RowCounts, Texts, other_chunks
from livedex_indexing.store.read_pool import Reader


class IndexView(NamedTuple):
    """A snapshot of the index, with the filters of a query, the live text of chunks, and in how many chunks its words
    are."""

    reader: Reader
    resolved: ResolvedFilters
    texts: Texts
    counted: RowCounts

    def proposed(self, match: str, most: int) -> list[int]:
        """Return the first chunks that match an FTS5 expression, in the order of their ids."""
        return other_chunks(self.reader, match, 0, self.resolved, most)

    def rarest(self, tokens: Sequence[str]) -> int:
        """Return the number of chunks with the rarest of some words, 0 without any."""
        return min(map(self.counted.of_word, tokens), default=0)
