"""Answers a search for lines: runs the pattern over the files that the filters admit.

Invariant: an answer comes by the deadline, with the lines found until then.
"""

from __future__ import annotations

from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.line_search import LineSearch
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.model import Query
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.search.search_answer import CHANGED_WARNING, LATE_WARNING, SearchAnswer
from livedex_indexing.search.search_run import SearchRun


class LineRun:
    """A search for the lines that match a pattern, in the files that ``filters`` admit. The files to read are chosen
    in one snapshot. Raises Cancelled, and DeadlinePassed before the first file was read."""

    def __init__(self, run: SearchRun, pattern: Pattern, filters: Query, vocabulary: Vocabulary) -> None:
        self._run = run
        reader = run.reader
        with reader.snapshot():
            self._generation = run.generation()
            resolved = resolve_filters(reader, build_filters(reader, filters, run.roots, None), self._generation)
            self.lines = LineSearch(reader, pattern, resolved, run.live, run.style, run.cancelled)
            self.lines.select(vocabulary)

    def answer(self, mode: str) -> SearchAnswer:
        """Return the lines of the page, and say that they were found in this mode."""
        run, request = self._run, self._run.request
        page = self.lines.page(request.offset, request.limit, run.budget, request.facets)
        warnings = [LATE_WARNING] if page.late else []
        if page.left_out:
            warnings.append(CHANGED_WARNING)
        return SearchAnswer(
            page.hits,
            run.next_offset(len(page.hits), page.more and bool(page.hits)),
            self._generation,
            mode,
            warnings,
            run.live.stale,
            page.facets,
            page.omitted or None,
        )
