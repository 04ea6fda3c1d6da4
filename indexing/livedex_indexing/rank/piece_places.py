"""Finds the chunks that have the most of a pasted text which no chunk has as a whole.

Invariant: the index only proposes chunks; the live file decides. How much is read does not depend on the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.query.pasted_pieces import lines_of, share_of, windows
from livedex_indexing.query.typed_name import line_inside, may_be_pasted
from livedex_indexing.rank.features import MatchFeatures
from livedex_indexing.rank.postings import RowCounts, Texts, other_chunks, phrase
from livedex_indexing.rank.whole_query import chunks_with_neighbours, chunks_with_run
from livedex_indexing.store.read_pool import Reader

ROWS_READ: Final = 100_000  # rows of a pasted text's words that FTS5 reads for a phrase: 15 ms
_LOOKED_UP: Final = 8  # rows of words of the text, the rarest; 4: messages in reports -.01 to -.03
_LINES_READ: Final = 6  # chunks that may have a line of it
_READ: Final = 24  # … or the most of it: those with most of its neighbours; 12: pieces of diffs of Linux -.03


def chunks_with_row(reader: Reader, resolved: ResolvedFilters, counted: RowCounts, text: str, limit: int) -> list[int]:
    """Return the first ``limit`` chunks that have one of the rarest rows of words of a text."""
    rows = list(windows([reader.tokens(line) for line in lines_of(text)]))
    costs = [len(row) * min(map(counted.of_word, row)) for row in rows]
    matches: list[str] = []
    left = ROWS_READ
    known = [pair for pair in zip(costs, rows, strict=True) if pair[0]]  # a word that is nowhere is a value
    for cost, row in sorted(known, key=lambda pair: pair[0])[:_LOOKED_UP]:
        left -= cost
        if left >= 0:
            matches.append(phrase(row))
    return other_chunks(reader, f"body : ({' OR '.join(matches)})", 0, resolved, limit) if matches else []


def having_pieces(texts: Texts, text: str, rows: Mapping[int, MatchFeatures]) -> dict[int, float]:
    """Return how much of a text the chunks have that have most of its neighbours, between 0 and 1: of one line all,
    where a whole line of theirs is inside it."""
    share, has_line = share_of(text), line_inside(text)
    if share is not None:
        likely = chunks_with_neighbours(rows)[:_READ]
    else:
        likely = chunks_with_run(rows)[:_LINES_READ] if may_be_pasted(text) else []
    read = texts(likely) if likely else {}
    found = {} if share is None else {chunk_id: share(read[chunk_id]) for chunk_id in sorted(read)}
    if "\n" not in text.strip():
        found |= {chunk_id: 1.0 for chunk_id in sorted(read) if has_line(read[chunk_id])}
    return {chunk_id: value for chunk_id, value in found.items() if value}
