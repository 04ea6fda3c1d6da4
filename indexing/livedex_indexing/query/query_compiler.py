"""Compiles a query against one index: which terms to search for, how rare each is, and their FTS5 expressions.

Invariant: as for `TermIndex`: every expression is valid FTS5, whatever was typed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

from livedex_indexing.model import Query
from livedex_indexing.query.begun_names import begun_names
from livedex_indexing.query.begun_terms import prefix_terms
from livedex_indexing.query.index_names import Names, NoNames
from livedex_indexing.query.one_word import terms_as_one
from livedex_indexing.query.query_parser import is_phrase
from livedex_indexing.query.query_terms import CompiledQuery, QueryTerm
from livedex_indexing.query.spell_repair import Repair
from livedex_indexing.query.term_index import TermIndex
from livedex_indexing.query.term_selection import MAX_WORDS, select_terms
from livedex_indexing.query.word_counts import Uncounted, WordCounts
from livedex_indexing.query.word_terms import terms_of, terms_of_unfinished
from livedex_indexing.store.read_pool import Reader


def compile_query(
    reader: Reader,
    query: Query,
    counts: WordCounts,
    names: Callable[[], Names] = NoNames,
    *,
    fresh: bool = True,
) -> CompiledQuery:
    """Compile a query against the index. Without ``fresh``, misspelt words may mean what they meant recently."""
    typed = query.text.split()
    unfinished = [typed.pop()] if query.unfinished and typed else []
    words = list(times := Counter(typed))
    index = TermIndex(reader, counts, names)
    repair = Repair(reader, counts, index.whole, fresh=fresh)
    alone = len(words) + len(unfinished) == 1
    joined = terms_as_one(reader, words, index.inflected, repair.others)
    per_word = [
        _repeatedly(joined.get(word) or terms_of(index, word, repair, alone=alone), times[word]) for word in words
    ]
    per_word.append(begun_names(dict(zip(words, per_word, strict=True)), names, index.whole, repair))
    per_word += [terms_of_unfinished(index, word, repair, alone=alone) for word in unfinished]
    phrases = index.phrases(query.phrases)
    excluded, excluded_phrases = _excluded(query)
    selected = select_terms(per_word, repair.others, has_phrases=bool(phrases))
    scored = (*selected.terms, *(phrase.term for phrase in phrases))
    whole = [(word, term) for word in excluded if (term := index.whole(word)) is not None]
    unwanted = [term for word, each in whole for term in prefix_terms(index, word, each, repair)]
    return CompiledQuery(
        terms=selected.terms,
        spoken=selected.spoken,
        phrases=tuple(phrases[:MAX_WORDS]),
        excluded=tuple(unwanted[:MAX_WORDS]),
        excluded_phrases=tuple(index.phrases(excluded_phrases)[:MAX_WORDS]),
        total=sum(term.idf for term in scored if term.rows or term.files) or 1.0,
        cut=selected.cut or max(len(phrases), len(unwanted), len(excluded_phrases)) > MAX_WORDS,
        respelt=tuple(repair.respelt.items()),
        chunks=counts.all_chunks(reader),
        lengths=counts.lengths(reader),
    )


def _repeatedly(terms: list[QueryTerm], times: int) -> list[QueryTerm]:
    """Return the terms of a word that was typed several times: it counts more, by the root of the number."""
    return terms if times == 1 else [term._replace(idf=term.idf * math.sqrt(times)) for term in terms]


def compile_strict(reader: Reader, query: Query) -> CompiledQuery:
    """Compile a standing query, which matches only chunks with all of its words.

    Each word is one term and none is dropped for being one of many, so the meaning does not depend on the index.
    Stop words count only in a query without other words.
    """
    index = TermIndex(reader, Uncounted(0), NoNames)
    terms = tuple(dict.fromkeys(index.wholes(query.text.split())))
    phrases = tuple(index.phrases(query.phrases))
    excluded, excluded_phrases = _excluded(query)
    content = tuple(term for term in terms if not term.is_stop_word)
    return CompiledQuery(
        terms=content if content or phrases else terms,
        spoken=(),
        phrases=phrases,
        excluded=tuple(dict.fromkeys(index.wholes(excluded))),
        excluded_phrases=tuple(index.phrases(excluded_phrases)),
        total=1.0,
        cut=False,
    )


def _excluded(query: Query) -> tuple[list[str], list[str]]:
    """Return the excluded words, and the excluded phrases without their quotes."""
    words = [text for text in query.excluded if not is_phrase(text)]
    return words, [text[1:-1] for text in query.excluded if is_phrase(text)]
