"""Finds the names whose parts begin as some typed words do: ``thr poo exe`` for ``ThreadPoolExecutor``.

Invariant: of two words one is nowhere, since two words begin the parts of very many names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from livedex_indexing.query.index_names import Names
from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.query.spell_repair import Repair
from livedex_indexing.query.term_selection import in_index

_WORDS: Final = range(2, 7)
_LONGEST: Final = 6  # letters of a beginning that may be the only one: a longer word is rather a whole one


def begun_names(
    words: Mapping[str, Sequence[QueryTerm]],
    names: Callable[[], Names],
    term_of: Callable[[str], QueryTerm | None],
    repair: Repair,
) -> list[QueryTerm]:
    """Return the terms of such names. ``words``: the typed ones with their terms, which ``repair`` has corrected."""
    if len(words) not in _WORDS or not all(word.isascii() and word.isalnum() for word in words):
        return []
    is_known = repair.respelt.keys().isdisjoint(words) and all(map(in_index, words.values()))
    if is_known and (len(words) == 2 or any(len(word) > _LONGEST or word.lower() in STOP_WORDS for word in words)):
        return []
    terms = in_index(map(term_of, names().shortened(" ".join(words))))
    repair.others.update(terms)
    return terms
