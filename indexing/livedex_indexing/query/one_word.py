"""Finds the one word as which texts write two: ``Momentaufnahme`` for ``moment aufnahme``, ``platform`` for ``plat
form``.

Invariant: only for two words that no text has one after the other, and only words that are in the index.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.query.term_selection import in_index
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import WRITTEN_WORDS

_SHORTEST: Final = 3  # letters of each of the two
_LINKS: Final = ("", "s", "n", "en", "es", "er")  # between the parts of a compound, in German and Dutch
_PAIRS: Final = 8  # that are looked up

_Pair = tuple[str, str]


def terms_as_one(
    reader: Reader, words: Sequence[str], term_of: Callable[[str], QueryTerm | None], others: set[QueryTerm]
) -> dict[str, list[QueryTerm]]:
    """Return the terms of those of the typed words that texts write as one with a neighbour: the word is no mistake
    then, even if it is nowhere alone. Behind that of the first one are those of both as one, which count as much as
    both; they are added to ``others``."""
    tokens = [reader.tokens(word) for word in words] if len(words) > 1 else []
    pairs = {
        (left[0], right[0]): typed
        for left, right, typed in zip(tokens, tokens[1:], pairwise(words), strict=False)
        if len(left) == len(right) == 1
    }
    found: dict[str, list[QueryTerm]] = {}
    for pair, joined in _written_as_one(reader, pairs).items():
        as_one = in_index(map(term_of, joined))
        both = {word: term for word in pairs[pair] if (term := term_of(word)) is not None} if as_one else {}
        for word, term in both.items():
            found.setdefault(word, [term])
        if both:
            added = [term._replace(idf=sum(each.idf for each in both.values())) for term in as_one]
            found[pairs[pair][0]] += added
            others.update(added)
    return found


def _written_as_one(reader: Reader, pairs: Iterable[_Pair]) -> dict[_Pair, list[str]]:
    """Return for pairs of words the words that join the two, the commonest first. All are as the index has words: in
    lower case and without diacritics."""
    ways = {pair: _ways(*pair) for pair in list(filter(_may_be_parts, pairs))[:_PAIRS]}
    words = sorted({way for each in ways.values() for way in each})
    found = dict(reader.rows(WRITTEN_WORDS, (json.dumps(words, ensure_ascii=False),))) if words else {}
    known = {pair: sorted(found.keys() & each, key=lambda way: (-found[way], way)) for pair, each in ways.items()}
    return {pair: each for pair, each in known.items() if each and not _are_in_a_row(reader, pair)}


def _may_be_parts(pair: _Pair) -> bool:
    return all(len(word) >= _SHORTEST and word.isalpha() and word not in STOP_WORDS for word in pair)


def _ways(left: str, right: str) -> set[str]:
    return {left + link + right for link in _LINKS} | ({left[:-1] + right} if left[-1] == "e" else set())


def _are_in_a_row(reader: Reader, pair: _Pair) -> bool:
    return reader.has_chunk(f'"{" ".join(pair)}"')
