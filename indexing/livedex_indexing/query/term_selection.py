"""Chooses the terms of a query that count, among those of all its words.

Invariant: pure; how rare a term is decides, not where it was typed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Final, NamedTuple

from livedex_indexing.query.query_terms import QueryTerm

MAX_WORDS: Final = 64  # words that count: the rarest that are in the index
_MAX_TERMS: Final = 256  # with the parts of words
_KEPT_STOP_WORDS: Final = 3


class Selection(NamedTuple):
    """The terms of a query that count; the fields are those of `CompiledQuery`."""

    terms: tuple[QueryTerm, ...]
    spoken: tuple[QueryTerm, ...]
    cut: bool


def select_terms(per_word: Sequence[list[QueryTerm]], others: Set[QueryTerm], *, has_phrases: bool) -> Selection:
    """Choose the terms that count. ``per_word``: the terms of each word; ``others``: those of `Repair.others`.

    For example, ``how to parse getHTTPResponse``, a name that is not in the index:

        per_word  [how] [to] [parse] [gethttpresponse, get, http, response]
        content   [parse] [gethttpresponse, get, http, response]    words that are not just stop words
        counted   [parse] [gethttpresponse, get, http, response]    the `MAX_WORDS` rarest of them, indexed ones first
        rarest    {parse, gethttpresponse, http, response}          their terms; ``get`` is a stop word
        spoken    how to parse gethttpresponse get http response    in the order typed, with all stop words
        terms     parse gethttpresponse http response               those of ``spoken`` in ``rarest``
    """
    content = _content_words(per_word, has_phrases=has_phrases)
    counted = sorted(content, key=lambda word: (not in_index(word), _rarity(word)))[:MAX_WORDS]
    rarest = _without_stop_words(counted)
    spoken = list(dict.fromkeys(term for word in per_word for term in word if term in rarest or term.is_stop_word))
    repeated = _repeated(spoken, others)
    terms = tuple(term for term in spoken if term in rarest and term not in repeated)[:_MAX_TERMS]
    cut = len(counted) < len(set(map(tuple, content))) or len(terms) + len(repeated) < len(rarest)
    return Selection(terms, tuple(term for term in spoken if term not in others), cut)


def _content_words(per_word: Sequence[list[QueryTerm]], *, has_phrases: bool) -> list[list[QueryTerm]]:
    """Return the words that are not just stop words; if the index has none of them, and there are no phrases, the
    rarest stop words that it has."""
    content = [word for word in per_word if not all(term.is_stop_word for term in word)]
    if has_phrases or in_index(term for word in content for term in word if not term.is_stop_word):
        return content
    indexed = sorted(filter(in_index, per_word), key=_rarity)[:_KEPT_STOP_WORDS]
    return indexed or content or [word for word in per_word if word][:_KEPT_STOP_WORDS]


def in_index(terms: Iterable[QueryTerm | None]) -> list[QueryTerm]:
    """Return those terms that a chunk or a path has."""
    return [term for term in terms if term is not None and (term.rows or term.files)]


def _without_stop_words(words: Sequence[list[QueryTerm]]) -> set[QueryTerm]:
    """Return the terms of the words without stop words; all of them if the index has only stop words."""
    terms = {term for word in words for term in word}
    content = {term for term in terms if not term.is_stop_word}
    return content if content and (in_index(content) or not in_index(terms)) else terms


def _repeated(terms: Sequence[QueryTerm], others: Set[QueryTerm]) -> set[QueryTerm]:
    """Return those of ``others`` that the user typed, too: a term counts once."""
    typed = {term.match for term in terms if term not in others}
    return {term for term in terms if term in others and term.match in typed}


def _rarity(terms: Sequence[QueryTerm]) -> tuple[int, str]:
    """Sort key of a query's words: the word with the rarest term comes first."""
    return min((term.rows, term.match) for term in terms)
