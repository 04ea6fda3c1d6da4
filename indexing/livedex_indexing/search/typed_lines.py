"""Answers a search for words by the lines that have its text as typed, where no word leads to them.

Invariant: where words find nothing, an answer has what a search for exactly this text in any case finds.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from livedex_indexing.lines.expression import BadPattern
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.search.line_answer import LineRun
from livedex_indexing.search.search_answer import AS_LINES_WARNING, SearchAnswer
from livedex_indexing.search.search_run import SearchRun
from livedex_indexing.store.read_pool import DeadlinePassed

_MOST_FILES: Final = 2_048  # files that may be read where words found something
_FIRST_LINES: Final = 10  # lines that are compared with the chunks that words found


def answer_typed_lines(
    run: SearchRun, vocabulary: Vocabulary, chunks: Collection[int | None] | None
) -> SearchAnswer | None:
    """Return the lines with the text as typed; None if there are none.

    ``chunks`` are the best that words found, None where they found nothing. With them, the answer is also None if the
    text is in one of them, if many files would have to be read, or if time runs out. Raises Cancelled, and without
    them DeadlinePassed.
    """
    query, _ = run.request.parsed()
    text = run.request.text_as_typed(query)
    if not text or (query.terms and (query.excluded or query.phrases)):  # with terms, these are no text
        return None
    try:
        pattern = Pattern(text, exact=True, case="smart" if chunks and len(text.split()) == 1 else "ignore")
    except BadPattern:  # too long, or of several lines
        return None
    try:
        found = LineRun(run, pattern, replace(run.request.filters_only(), terms=query.terms), vocabulary)
        if chunks is not None and found.lines.selected > _MOST_FILES:
            return None
        has_lines = False
        for chunk_id in found.lines.first_chunks(_FIRST_LINES):
            if chunk_id in (chunks or ()):
                return None
            has_lines = True
    except DeadlinePassed:
        if chunks is None:
            raise
        return None
    if not has_lines:
        return None
    answer = found.answer("exact")
    return answer._replace(warnings=[*answer.warnings, AS_LINES_WARNING])
