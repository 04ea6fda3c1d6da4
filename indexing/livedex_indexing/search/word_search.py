"""Answers a search for words: compiles the query, ranks in one snapshot, and makes the hits from the live files.

Invariant: an answer comes by the deadline, with the hits found until then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from livedex_indexing import relpath
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import HitMaker, Rows, read_rows
from livedex_indexing.hits.live_files import COPY, file_copy
from livedex_indexing.model import Place
from livedex_indexing.query.filters import ResolvedFilters, build_filters, resolve_filters
from livedex_indexing.query.highlight import Highlighter, WrittenPhrase
from livedex_indexing.query.query_compiler import compile_query
from livedex_indexing.query.query_parser import is_phrase, with_words
from livedex_indexing.query.query_terms import CompiledQuery, any_of, any_path_of
from livedex_indexing.query.spell_repair import as_in_files
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.facets import FacetCounter, Facets
from livedex_indexing.rank.phrase_filter import Bytes, FileFilter, PhraseCheck, PhraseMemory, Signs, build_file_filter
from livedex_indexing.rank.results import RankedResults
from livedex_indexing.rank.score import Placed
from livedex_indexing.search.search_answer import (
    CUT_WARNING,
    LATE_WARNING,
    NO_WORDS_WARNING,
    SearchAnswer,
)
from livedex_indexing.search.search_run import SearchRun
from livedex_indexing.store.read_pool import DeadlinePassed
from livedex_indexing.store.row_types import CONTENT, ContentRow
from livedex_ipc.errors import Cancelled
from livedex_ipc.wire_results import AnswerWarning, DidYouMean

_IS_FILE = "SELECT 1 FROM files WHERE root_id = ? AND folder = ? AND name = ?"
_CONTENT = f"SELECT {CONTENT} FROM contents t WHERE t.id = ?"
_COPIES = f"SELECT {COPY} FROM files d WHERE d.content_id = ? AND {{}} ORDER BY length(d.folder) + length(d.name), d.id"


class WordSearch:
    """One search for words. ``memory`` remembers phrases between searches; ``counts_of`` returns the cache of word
    frequencies of a generation."""

    def __init__(self, run: SearchRun, memory: PhraseMemory, counts_of: Callable[[int], WordCounts]) -> None:
        self._run = run
        self._reader = run.reader
        self._memory = memory
        self._counts_of = counts_of
        self._query, self._cut = run.request.parsed()
        self._late = False
        self._reached = 0  # places of the page that were processed
        self._facets: Facets | None = None
        self._omitted: int | None = None

    def answer(self) -> SearchAnswer:
        """Search, and make the hits of the page. Raises Cancelled."""
        run, reader = self._run, self._reader
        with reader.snapshot():
            generation = run.generation()
            try:
                counts = self._counts_of(generation)
                compiled = compile_query(reader, self._query, counts, fresh=run.request.fresh)
                page, more, rows = self._find(compiled, generation)
            except DeadlinePassed:
                warnings = [*([CUT_WARNING] if self._cut else []), LATE_WARNING]
                return SearchAnswer([], None, generation, "keyword", warnings, run.live.stale)
        hits = self._serve(page, rows, compiled)
        # cut by the deadline, or by the budget for text
        left = self._reached > 0 and (self._reached < len(page) or self._late)
        return SearchAnswer(
            hits,
            run.next_offset(self._reached, more or left),
            generation,
            "keyword",
            self._warnings(compiled),
            run.live.stale,
            self._facets,
            self._omitted,
            DidYouMean(query=self._corrected(compiled, hits), applied=True) if compiled.respelt else None,
        )

    def _warnings(self, compiled: CompiledQuery) -> list[AnswerWarning]:
        warnings = (
            (self._cut or compiled.cut, CUT_WARNING),
            (self._late, LATE_WARNING),
            (self._has_no_words(compiled), NO_WORDS_WARNING),
        )
        return [warning for applies, warning in warnings if applies]

    def _corrected(self, compiled: CompiledQuery, hits: Sequence[Hit]) -> str:
        """Return the query with its corrections, spelt as in the hits."""
        shown = [hit.snippet[start:end] for hit in hits for start, end in hit.highlights]
        words = self._reader.words
        corrections = {typed: as_in_files(meant, shown, words) for typed, meant in compiled.respelt}
        return with_words(self._run.request.query, corrections)

    def _find(self, compiled: CompiledQuery, generation: int) -> tuple[list[Placed | None], bool, Rows]:
        """Return the page's places, whether more follow, and the rows to build their hits from."""
        reader, request = self._reader, self._run.request
        excluded = any_path_of(term for term in compiled.excluded if term.files) or None
        filters = build_filters(reader, self._query, self._run.roots, excluded)
        resolved = resolve_filters(reader, filters, generation, sum(term.rows for term in compiled.any_of))
        file_filter = build_file_filter(reader, compiled, resolved)
        page: list[Placed | None] = []
        more = False
        if not self._has_no_words(compiled):
            check = self._phrase_check(compiled, file_filter)
            page, more = self._page(compiled, file_filter, check)
            self._count(compiled, file_filter, check)
        elif request.facets:
            self._facets = {name: {} for name in request.facets}
        counted = any_of(term for term in compiled.any_of if term.rows) if request.group == "file" else ""
        ranked = [placed for placed in page if placed is not None]
        with reader.without_deadline():
            return page, more, read_rows(reader, ranked, file_filter.resolved, counted or None)

    def _has_no_words(self, compiled: CompiledQuery) -> bool:
        """Whether the query has text without a word: then it finds nothing, rather than everything."""
        return bool(self._query.text or self._query.phrases) and not compiled.textual

    def _phrase_check(self, compiled: CompiledQuery, file_filter: FileFilter) -> PhraseCheck:
        excluded = [text[1:-1] for text in self._query.excluded if is_phrase(text)]
        return PhraseCheck(
            self._reader,
            compiled,
            file_filter,
            self._memory,
            lambda content_id: self._bytes_of(content_id, file_filter.resolved),
            Signs(self._without_words(self._query.phrases), self._without_words(excluded)),
        )

    def _without_words(self, phrases: Iterable[str]) -> list[str]:
        return [text for text in phrases if not self._reader.words(text.encode("utf-8", "replace"))]

    def _count(self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck) -> None:
        """Count the facets: all of them, or none if the time runs out, since a part would be wrong."""
        facets = self._run.request.facets
        if not facets:
            return
        try:
            counter = FacetCounter(self._reader, compiled, file_filter, None if check.trivial else check.matches)
            self._facets = counter.count(facets, self._run.roots)
        except DeadlinePassed:
            self._late = True

    def _page(
        self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck
    ) -> tuple[list[Placed | None], bool]:
        """Return the places of the page, empty ones too, and whether more follow. Empty places are at its end."""
        query, request = self._query, self._run.request
        narrowed = query.places is not None or query.globs or any(term.name == "path" for term in query.terms)
        results = RankedResults(
            self._reader,
            compiled,
            file_filter,
            group_by_file=request.group == "file",
            no_file_limit=self._is_file(query.places or ()),
            demote_auxiliary=not narrowed,
        )
        page: list[Placed | None] = []
        try:
            for number, hit in enumerate(results.placed(check.matches)):
                if number >= request.offset + request.limit or (hit is not None and page and page[-1] is None):
                    return page, True
                if number >= request.offset:
                    page.append(hit)
        except DeadlinePassed:
            self._late = True
        self._late |= results.late
        return page, False

    def _serve(self, page: list[Placed | None], rows: Rows, compiled: CompiledQuery) -> list[Hit]:
        phrases = [WrittenPhrase(text, self._reader.words) for text in self._query.phrases]
        highlighter = Highlighter(compiled.terms, phrases, self._reader.stems)
        maker = HitMaker(rows, self._run.roots, self._run.live, highlighter, self._run.style)
        return [hit for hit in self._made(page, maker) if hit is not None]

    def _made(self, page: list[Placed | None], maker: HitMaker) -> Iterator[Hit | None]:
        for number, placed in enumerate(page):
            if self._run.cancelled():
                raise Cancelled("the search was cancelled")
            if number and self._reader.is_past_deadline():
                self._late = True
                return
            hit = None if placed is None else maker.make(placed)
            if hit is not None:
                hit = self._run.budget.take(hit)
                if hit is None:
                    self._omitted = sum(place is not None for place in page[number:])
                    return
            self._reached = number + 1
            yield hit

    def _bytes_of(self, content_id: int, resolved: ResolvedFilters) -> Bytes | None:
        row = ContentRow(*self._reader.rows(_CONTENT, (content_id,))[0])
        sql, values = resolved.files
        copies = [file_copy(values) for values in self._reader.rows(_COPIES.format(sql), (content_id, *values))]
        found = self._run.live.read(content_id, row.hash, copies)
        return None if found is None else Bytes(found[1], row.encoding)

    def _is_file(self, places: Iterable[Place]) -> bool:
        """Whether one of the places is an indexed file: then its chunks may fill the page."""
        return any(
            self._reader.one(_IS_FILE, (place.root_id, *relpath.split(place.path))) for place in places if place.path
        )
