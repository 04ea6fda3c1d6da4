"""Answers a search for lines, or for the files that have some: runs the pattern over what the filters admit.

Invariant: an answer comes by the deadline, with the lines found until then.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from livedex_indexing.hits.live_files import Stale
from livedex_indexing.lines.line_order import cursor_text, read_cursor
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.line_search import LineSearch
from livedex_indexing.lines.matching_files import MatchingFile, MatchingFiles
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.model import Query
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.search.search_answer import CHANGED_WARNING, LATE_WARNING, SearchAnswer
from livedex_indexing.search.search_run import SearchRun
from livedex_ipc.wire_results import AnswerWarning

S = TypeVar("S", bound=LineSearch)


class FilesAnswer(NamedTuple):
    """``files`` are in order; ``next_cursor`` is None at the end. The rest is as in `SearchAnswer`."""

    files: list[MatchingFile]
    next_cursor: str | None
    generation: int
    warnings: list[AnswerWarning]
    stale: Stale
    failed: int


class Selection(Generic[S]):
    """A search of one kind, with the files to read, chosen in one snapshot. Raises Cancelled, and DeadlinePassed before
    the first file was read."""

    def __init__(self, kind: type[S], run: SearchRun, pattern: Pattern, filters: Query, vocabulary: Vocabulary) -> None:
        reader, request = run.reader, run.request
        after = None if request.cursor is None else read_cursor(request.cursor)
        with reader.snapshot():
            self.generation = run.generation()
            resolved = resolve_filters(reader, build_filters(reader, filters, run.roots, None), self.generation)
            self.search = kind(reader, pattern, resolved, run.live, run.style, run.cancelled)
            self.search.select(vocabulary, request.sort, after)


def matching_files(run: SearchRun, pattern: Pattern, vocabulary: Vocabulary, *, count: bool) -> FilesAnswer:
    """Return the files that have a line which matches, with the number of such lines if ``count``. Raises as above."""
    request = run.request
    selection = Selection(MatchingFiles, run, pattern, request.filters_only(), vocabulary)
    page = selection.search.files(request.limit, count=count)
    warnings = [*([LATE_WARNING] if page.late else []), *([CHANGED_WARNING] if page.left_out else [])]
    cursor = None if page.last is None else cursor_text(page.last)
    return FilesAnswer(page.files, cursor, selection.generation, warnings, run.live.stale, run.failed)


class LineRun:
    """A search for the lines that match a pattern, in the files that ``filters`` admit."""

    def __init__(self, run: SearchRun, pattern: Pattern, filters: Query, vocabulary: Vocabulary) -> None:
        self._run = run
        selection = Selection(LineSearch, run, pattern, filters, vocabulary)
        self.lines, self._generation = selection.search, selection.generation

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
            next_cursor=cursor_text(page.last) if page.more and page.last is not None else None,
        )
