"""The common part of a search for words and a search for lines: one request on one reader.

Invariant: all text of an answer goes through the same budget and the same check of the live files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.hit_builder import Style
from livedex_indexing.hits.live_files import LiveFiles
from livedex_indexing.hits.text_budget import TextBudget
from livedex_indexing.model import STATUSES
from livedex_indexing.search.foreign_ranking import Ranker
from livedex_indexing.search.search_answer import WINDOW_WARNING
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import GENERATION
from livedex_ipc.constants import SEARCH_WINDOW
from livedex_ipc.wire_results import AnswerWarning

COUNT_FAILED: Final = f"""SELECT count(*) FROM files WHERE status = {STATUSES.index("failed")}
              AND root_id IN (SELECT id FROM roots WHERE missing_since IS NULL)"""
_STATE: Final = f"SELECT ({GENERATION}), ({COUNT_FAILED})"


class SearchRun:
    """One request in progress. ``roots`` are the watched roots by id."""

    def __init__(
        self,
        reader: Reader,
        request: SearchRequest,
        roots: Mapping[int, bytes],
        cancelled: Callable[[], bool],
        backend: Ranker | None = None,
    ) -> None:
        self.reader = reader
        self.request = request
        self.roots = roots
        self.cancelled = cancelled
        self.backend = backend
        self.failed = 0
        self.live = LiveFiles(roots, DocumentTexts(reader))
        self.budget = TextBudget(request.max_chars)
        self.style = Style(
            self.budget.snippet_chars(request.max_snippet_chars),
            request.context_lines,
            request.explain,
            request.group == "file",
        )

    def generation(self) -> int:
        """Return the generation of the index that the reader sees, and count the files that ``failed``. Call it inside
        a snapshot."""
        with self.reader.without_deadline():
            generation, self.failed = self.reader.rows(_STATE)[0]
            return int(generation)

    def next_offset(self, reached: int, more: bool) -> int | None:
        """Return the offset of the next page after ``reached`` places of this one; None if no ``more`` follow, or if
        the next page would lie outside the search window."""
        offset = self.request.offset + reached
        return offset if more and offset < SEARCH_WINDOW else None

    def window_warnings(self, reached: int, more: bool) -> list[AnswerWarning]:
        """Return a warning if ``more`` follow and the next page would lie outside the search window."""
        return [WINDOW_WARNING] if more and self.request.offset + reached >= SEARCH_WINDOW else []
