"""Answers a search for lines: runs the pattern over the files that the filters admit.

Invariant: an answer comes by the deadline, with the lines found until then.
"""

from __future__ import annotations

from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.line_search import LineSearch
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.search.search_answer import CHANGED_WARNING, LATE_WARNING, SearchAnswer
from livedex_indexing.search.search_run import SearchRun


def answer_lines(run: SearchRun, pattern: Pattern, vocabulary: Vocabulary) -> SearchAnswer:
    """Return the lines that match a pattern. Raises Cancelled, and DeadlinePassed before the first file was read."""
    request, reader = run.request, run.reader
    with reader.snapshot():
        generation = run.generation()
        filters = build_filters(reader, request.filters_only(), run.roots, None)
        resolved = resolve_filters(reader, filters, generation)
        search = LineSearch(reader, pattern, resolved, run.live, run.style, run.cancelled)
        search.select(vocabulary)
    page = search.page(request.offset, request.limit, run.budget, request.facets)
    warnings = [LATE_WARNING] if page.late else []
    if page.left_out:
        warnings.append(CHANGED_WARNING)
    return SearchAnswer(
        page.hits,
        run.next_offset(len(page.hits), page.more and bool(page.hits)),
        generation,
        request.mode,
        warnings,
        run.live.stale,
        page.facets,
        page.omitted or None,
    )
