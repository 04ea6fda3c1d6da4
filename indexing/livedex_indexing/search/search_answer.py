"""The answer of a search: the hits of one page, the offset of the next page, and warnings for the caller.

Invariant: an optional field is None if it does not apply, and then absent from the wire.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from livedex_indexing.hits.answer_json import warning
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.rank.facets import Facets
from livedex_ipc.constants import SEARCH_WINDOW
from livedex_ipc.wire_results import AnswerWarning, DidYouMean, SearchExtras, TotalFields

CUT_WARNING: Final = warning(
    "query_cut", "the search used only the first 4 KiB and the 64 rarest words of the query", "shorten the query"
)
LATE_WARNING: Final = warning(
    "query_deadline", "the search ran out of time: these are the hits so far", "raise timeout_ms or narrow the search"
)
CHANGED_WARNING: Final = warning(
    "files_changed", "files changed while they were searched: their lines are left out", "ask again"
)
AS_LINES_WARNING: Final = warning(
    "query_as_lines",
    "no words were found as typed: these are the lines with the text of the query",
    "search for other words, or set mode to keyword",
)
WINDOW_WARNING: Final = warning(
    "hits_cut",
    f"more than {SEARCH_WINDOW:,} hits match, and the others cannot be had",
    "narrow the query; lines, in mode exact or regex, have no such limit",
)
NO_WORDS_WARNING: Final = warning("query_no_words", "the query contains no letter or digit", "add a word")


def warnings_of(is_cut: bool, is_late: bool, has_no_words: bool = False) -> list[AnswerWarning]:
    """Return the warnings of a search for words: its query was too long, its time was up, or it had no word."""
    applies = ((is_cut, CUT_WARNING), (is_late, LATE_WARNING), (has_no_words, NO_WORDS_WARNING))
    return [warning for is_so, warning in applies if is_so]


def lost_backend(reason: str) -> AnswerWarning:
    message = f"the built-in index ranked this answer, because the backend could not: {reason}"
    return warning(
        "backend_unavailable", message, "run `livedex status` for the cause; livedex tries it again by itself"
    )


class SearchAnswer(NamedTuple):
    """``hits`` are best first. ``next_offset`` is the ``offset`` of the next page, None if there is none.

    ``generation`` is the state of the index that answered, ``mode`` the mode that was used. ``stale`` names the files
    that had changed and must be inspected again (``LiveFiles``). ``facets`` count files by facet and value; None if
    they were not requested, or not counted in time. ``omitted`` is the number of hits of this page left out for
    ``max_chars``, None if there are none. ``failed`` is the number of files that could not be indexed. ``total`` counts
    the hits of all pages; None if it was not requested, or not counted in time. ``vectors_pending`` is the number of
    chunks without a vector; None without an embedder. ``next_cursor`` is the ``cursor`` of the next page of lines, None
    if there is none.
    """

    hits: list[Hit]
    next_offset: int | None
    generation: int
    mode: str
    warnings: list[AnswerWarning]
    stale: Stale
    facets: Facets | None = None
    omitted: int | None = None
    did_you_mean: DidYouMean | None = None
    failed: int = 0
    total: TotalFields | None = None
    vectors_pending: int | None = None
    next_cursor: str | None = None

    def optional_fields(self) -> SearchExtras:
        """Return the fields that are on the wire only if they apply."""
        fields: SearchExtras = {}
        if self.facets is not None:
            fields["facets"] = self.facets
        if self.total is not None:
            fields["total"] = self.total
        if self.omitted is not None:
            fields["omitted"] = self.omitted
        if self.did_you_mean is not None:
            fields["did_you_mean"] = self.did_you_mean
        if self.vectors_pending is not None:
            fields["vectors_pending"] = self.vectors_pending
        if self.next_cursor is not None:
            fields["next_cursor"] = self.next_cursor
        return fields
