"""Finds the terms of what begins with a typed word: ``renewa`` finds ``renewal``, whose stem is ``renew``.

Invariant: at most `_OTHERS` terms besides the word's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from livedex_indexing.query.query_terms import QueryTerm, begins_too_much
from livedex_indexing.query.spell_repair import Repair
from livedex_indexing.query.spelling import IN_USE
from livedex_indexing.query.term_index import TermIndex
from livedex_indexing.query.term_selection import in_index
from livedex_indexing.query.word_counts import PathCounts

_FIRST_SUFFIX: Final = 4  # characters: a shorter beginning lies inside the stem of nearly every word
_OTHERS: Final = 8  # terms of other stems, or of names, that begin as a word does
_BEGIN_WITH = "SELECT term FROM temp.written WHERE term >= ? AND term < ? LIMIT 200"


def prefix_terms(index: TermIndex, word: str, whole: QueryTerm, repair: Repair) -> list[QueryTerm]:
    """Return the terms of ``word*``: of the stems that begin so, and of the words that do, but whose stems do not; of
    another word, it alone."""
    begun = index.whole(word.removesuffix("*")) if whole.prefix else None
    found = in_index([whole, *([] if begun is None else _other_stems(index, begun))]) or [whole]
    repair.others.update(found[1:])
    return found


def unfinished_terms(index: TermIndex, word: str, whole: QueryTerm) -> Sequence[QueryTerm | None]:
    """Return the terms of what begins with an unfinished word, whether or not the index has them."""
    if begins_too_much(whole.tokens):
        return _names(index, word, whole)
    return [index.whole(word + "*"), *_other_stems(index, whole)]


def terms_beginning_with(index: TermIndex, word: str, whole: QueryTerm) -> list[QueryTerm]:
    """Return the terms of what begins with a word that is not in the index."""
    names = _names(index, word, whole) if begins_too_much(whole.tokens) else []
    if names:
        return names
    beginning = index.whole(word + "*")
    as_written = " AND ".join(f'"{token}"' for token in whole.tokens)
    # A stem would match other beginnings.
    is_written = index.reader.one(IN_USE, (f"{as_written} *",)) is not None
    return in_index([beginning]) if is_written else []


def _names(index: TermIndex, word: str, begun: QueryTerm) -> list[QueryTerm]:
    """Return terms for the names that begin so, and for the paths, which are few enough to look for the beginning."""
    *before, last = begun.tokens
    names = [name for name in index.names().continued(word) if name != last][:_OTHERS]
    paths_only = index._replace(counts=PathCounts(index.counts.generation, index.counts))
    found = [paths_only.whole(word + "*"), *(index.whole("_".join((*before, name))) for name in names)]
    return in_index(found)


def _other_stems(index: TermIndex, begun: QueryTerm) -> list[QueryTerm]:
    """Return terms for the words that begin with a token, but whose stem does not."""
    token = begun.tokens[0]
    if len(begun.tokens) > 1 or len(token) < _FIRST_SUFFIX:
        return []
    stems: dict[str, QueryTerm] = {}
    for (written,) in index.reader.rows(_BEGIN_WITH, (token, token + "\U0010ffff")):
        begins = written.isascii() and index.reader.stems(written.encode())[0][2].startswith(begun.stems[0])
        term = None if begins or len(stems) >= _OTHERS else index.whole(written)  # most begin so: not to be counted
        if term is not None and term.rows and not term.stems[0].startswith(begun.stems[0]):
            stems.setdefault(term.stems[0], term)
    return list(stems.values())
