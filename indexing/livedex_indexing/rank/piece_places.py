"""Finds the chunks that have the most of a pasted text which no chunk has as a whole.

Invariant: the index only proposes chunks; the live file decides. How much is read does not depend on the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from livedex_indexing.query.pasted_pieces import lines_of, may_have_other_parts, share_of, windows
from livedex_indexing.query.similar_line import LEAST, likeness_of_line
from livedex_indexing.query.typed_name import line_inside, may_be_pasted
from livedex_indexing.rank.features import MatchFeatures
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.postings import Texts, phrase
from livedex_indexing.rank.whole_query import chunks_with_neighbours, chunks_with_run

ROWS_READ: Final = 100_000  # rows of a pasted text's words that FTS5 reads for a phrase: 15 ms
_LOOKED_UP: Final = 8  # rows of words of the text, the rarest; 4: messages in reports -.01 to -.03
_LINES_READ: Final = 6  # chunks that may have a line of it
_SENTENCE: Final = 5  # words without a sign that may be a line; 3: the words of names -.03
_OF_SENTENCE: Final = 4  # … words that a line must have of five; 3: `use … instead of`, commits of libuv -.017
_PLAIN: Final = 0.6  # of what blanks divide; .8: commits of libuv -.003
_READ: Final = 24  # … or the most of it: those with most of its neighbours; 12: pieces of diffs of Linux -.03


def chunks_with_row(view: IndexView, text: str, limit: int) -> list[int]:
    """Return the first ``limit`` chunks that have one of the rarest rows of words of a text."""
    rows = list(windows([view.reader.tokens(line) for line in lines_of(text)]))
    costs = [len(row) * view.rarest(row) for row in rows]
    matches: list[str] = []
    left = ROWS_READ
    known = [pair for pair in zip(costs, rows, strict=True) if pair[0]]  # a word that is nowhere is a value
    for cost, row in sorted(known, key=lambda pair: pair[0])[:_LOOKED_UP]:
        left -= cost
        if left >= 0:
            matches.append(phrase(row))
    return view.proposed(f"body : ({' OR '.join(matches)})", limit) if matches else []


def having_parts(texts: Texts, text: str, rows: Mapping[int, MatchFeatures]) -> dict[int, float]:
    """Return how much the chunks have of a pasted text which none has as a whole, between 0 and 1: of its pieces, else
    of its words in one line."""
    return _having_pieces(texts, text, rows) or _having_line(texts, text, rows)


def _having_pieces(texts: Texts, text: str, rows: Mapping[int, MatchFeatures]) -> dict[int, float]:
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


def _having_line(texts: Texts, text: str, rows: Mapping[int, MatchFeatures]) -> dict[int, float]:
    """Return how much of a line, pasted or of some words, the chunks have in one of theirs that have most of its
    neighbours, between 0 and 1."""
    may_be_line = may_be_pasted(text) or may_have_other_parts(text) or len(text.split()) >= _SENTENCE
    fewest = _OF_SENTENCE if _is_of_plain_words(text) else LEAST
    likeness = likeness_of_line(text, fewest) if may_be_line else None
    likely = [] if likeness is None else chunks_with_neighbours(rows)[:_READ]
    if likeness is None or not likely:
        return {}
    read = texts(likely)
    found = {chunk_id: likeness(read[chunk_id]) for chunk_id in sorted(read)}
    return {chunk_id: value for chunk_id, value in found.items() if value}


def _is_of_plain_words(text: str) -> bool:
    """Whether a text is a sentence rather than a line of code: most of it is words of letters alone."""
    words = text.split()
    return sum(word.strip(".,:;'").isalpha() for word in words) >= _PLAIN * len(words)
