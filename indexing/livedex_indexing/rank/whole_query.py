"""Tells whether a file, or any of those found, has all words of a query, or all but the names in a message.

Invariant: pure, and decided by the words' places alone, not by how rare they are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Final

from livedex_indexing.query.message_names import LEVELS
from livedex_indexing.query.query_terms import QueryTerm
from livedex_indexing.query.typed_name import TypedName
from livedex_indexing.rank.features import FeatureTable, MatchFeatures
from livedex_indexing.text.terms import parts_of

_LEAST: Final = 3  # words of a query that may have other endings: of two, one is often in the path
_OF_NAME: Final = 2  # pairs of neighbours that a name in a message makes
_RUN: Final = 3  # pairs of neighbours in a row, at least: four words …
_LONG: Final = 6  # … of a text with so many
_WORDS: Final = range(2, 4)  # words that may be spread over a file and its path; of more, a chunk has most

Written = Sequence[frozenset[int] | None]


def is_nowhere_as_typed(written: Written) -> bool:
    """Whether no content has all of three and more words as typed. ``written``: the contents with each of them
    (`FeatureTable`)."""
    known = [contents for contents in written if contents is not None] if len(written) >= _LEAST else []
    return bool(known) and not frozenset.intersection(*known)


def may_be_spread(features: FeatureTable, content_of: Mapping[int, int]) -> bool:
    """Whether a query has few words, and no chunk has all of them as typed."""
    words = len(features.written)
    return words in _WORDS and not any(
        all(row.texts[:words]) and _has_all(features.written, content_of.get(chunk_id))
        for chunk_id, row in features.rows.items()
    )


def is_spread(
    written: Written, content_id: int, counts: Sequence[Sequence[int]], in_name: Sequence[float], above: Sequence[bool]
) -> bool:
    """Whether a file has all words, some in its path and the others in its text. ``counts``: those of its chunks;
    ``in_name``, ``above``: see `Copy`."""
    in_path = [
        bool(name or folder)
        for name, folder, _ in zip(chain(in_name, repeat(0)), chain(above, repeat(False)), written, strict=False)
    ]
    return any(in_path) and all(
        here or (any(row[place] for row in counts) if contents is None else content_id in contents)
        for place, (here, contents) in enumerate(zip(in_path, written, strict=True))
    )


def of_matches(
    named: Mapping[int, float], rows: Mapping[int, MatchFeatures], content_of: Mapping[int, int], meant: Collection[int]
) -> Mapping[int, float]:
    """Return those of the chunks ``named`` that have words of the query: others are no matches, so facets would not
    count them. ``content_of``: where it is known, the words may be in another chunk of the file, as those of a phrase,
    or in the path, as those of a module. ``meant``: the contents of the files that the query names.
    """
    files = {*meant, *(content_of.get(chunk_id) for chunk_id in rows)} - {None} if named else set()
    return {i: value for i, value in named.items() if i in rows or content_of.get(i) in files}


def chunks_with_run(rows: Mapping[int, MatchFeatures]) -> list[int]:
    """Return the chunks with four words and more of a long query, one after the other, those with the longest run
    first: a line that was pasted with more around it may be there."""
    runs = {i: _longest_run(row.pairs) for i, row in rows.items() if len(row.pairs) >= _LONG}
    return sorted((i for i, run in runs.items() if run >= _RUN), key=lambda i: (-runs[i], i))


def chunks_with_neighbours(rows: Mapping[int, MatchFeatures]) -> list[int]:
    """Return the chunks with neighbours of a query as neighbours, those with most of them first."""
    neighbours = {i: sum(map(bool, row.pairs)) for i, row in rows.items() if row.pairs}
    return sorted((i for i, count in neighbours.items() if count), key=lambda i: (-neighbours[i], i))


def has_message(
    names: Sequence[TypedName],
    rows: Iterable[MatchFeatures],
    spoken: Sequence[QueryTerm],
    scored: Sequence[QueryTerm],
) -> bool:
    """Whether a chunk has what a message says around the ``names`` in it: all words, and half of them in a row.

    ``spoken``: the terms of the message; ``scored``: those whose counts the rows begin with. Numbers may differ, as
    names may.
    """
    # What reports a message puts one of the levels in front.
    parts = LEVELS.union(part.lower() for name in names for part in (name.name, name.owner, *parts_of(name.name)))
    if any(_is_around(term, parts) and not (term.rows or term.is_stop_word) for term in spoken):
        return False
    words = [place for place, term in enumerate(scored) if _is_around(term, parts)]
    return len(words) > 1 and any(
        2 * sum(map(bool, row.pairs)) >= len(row.pairs) - _OF_NAME and all(row.texts[place] for place in words)
        for row in rows
        if row.pairs
    )


def share_of_names(names: Iterable[str], scored: Sequence[QueryTerm]) -> float:
    """Return the share of the query's Σ idf that the words of some names have. ``names``: their words, as the tokenizer
    returns them."""
    words = set(names)
    total = math.fsum(term.idf for term in scored)
    return math.fsum(term.idf for term in scored if not words.isdisjoint(term.tokens)) / total if total else 1.0


def _longest_run(pairs: Sequence[int]) -> int:
    longest = run = 0
    for count in pairs:
        run = run + 1 if count else 0
        longest = max(longest, run)
    return longest


def _is_around(term: QueryTerm, names: Collection[str]) -> bool:
    return not set(term.tokens).issubset(names) and not any(map(str.isdigit, "".join(term.tokens)))


def _has_all(written: Written, content_id: int | None) -> bool:
    return all(contents is None or content_id in contents for contents in written)
