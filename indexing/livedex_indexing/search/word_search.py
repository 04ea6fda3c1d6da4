"""Answers a search for words: compiles the query, ranks in one snapshot, and makes the hits from the live files.

Invariant: an answer comes by the deadline, with the hits found until then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from livedex_indexing import relpath
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import HitMaker, Rows, read_rows
from livedex_indexing.hits.live_texts import LiveTexts
from livedex_indexing.model import Place
from livedex_indexing.query.asking_words import with_quoted_words
from livedex_indexing.query.filters import ResolvedFilters, build_filters, resolve_filters
from livedex_indexing.query.highlight import Highlighter, WrittenPhrase
from livedex_indexing.query.query_compiler import compile_query
from livedex_indexing.query.query_parser import (
    PlainReading,
    in_parts,
    is_phrase,
    with_words,
    without_signs,
    without_terms,
)
from livedex_indexing.query.query_terms import CompiledQuery, match_any_path
from livedex_indexing.query.sentence import is_sentence
from livedex_indexing.query.spell_repair import as_in_files
from livedex_indexing.query.spelling import IN_USE
from livedex_indexing.query.typed_name import may_be_pasted, typed_text
from livedex_indexing.query.typed_place import TypedPlace
from livedex_indexing.query.typed_span import TypedSpan
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.facets import Facets, MatchCounter
from livedex_indexing.rank.found_names import FoundNames
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.name_places import IN_A_ROW, VERBATIM
from livedex_indexing.rank.near_names import is_shortened
from livedex_indexing.rank.passages import remembered
from livedex_indexing.rank.phrase_filter import FileFilter, PhraseCheck, PhraseMemory, Quoted, build_file_filter
from livedex_indexing.rank.placed import Placed
from livedex_indexing.rank.postings import RowCounts, first_chunks, phrase
from livedex_indexing.rank.ranking_request import Arrangement, TypedText
from livedex_indexing.rank.results import RankedResults
from livedex_indexing.rank.score import FIRST, WEIGHTS
from livedex_indexing.search import foreign_ranking
from livedex_indexing.search.meaning import KEYWORD, Meaning
from livedex_indexing.search.named_place import at_place, named_place
from livedex_indexing.search.pasted_line import as_written, is_plain_text
from livedex_indexing.search.search_answer import SearchAnswer, lost_backend, warnings_of
from livedex_indexing.search.search_run import SearchRun
from livedex_indexing.store.read_pool import DeadlinePassed
from livedex_ipc.errors import Cancelled
from livedex_ipc.wire_results import DidYouMean, TotalFields

_AS_TYPED = [list(WEIGHTS).index(part) for part in ("typed", "called")]
_VERBATIM = WEIGHTS["typed"] * (IN_A_ROW + VERBATIM) / 2  # less has a chunk with the words of a text, and other signs
_IS_FILE = "SELECT 1 FROM files WHERE root_id = ? AND folder = ? AND name = ?"


class _Page(NamedTuple):
    """Whether ``more`` places follow; ``added`` returns the hits of all pages that may have no word of the query."""

    places: list[Placed]
    more: bool
    added: Callable[[], Collection[int]] = tuple


class _Found(NamedTuple):
    """A page, and the rows to build its hits from."""

    page: _Page
    rows: Rows


class WordSearch:
    """One search for words. ``memory`` remembers phrases between searches; ``counts_of`` returns the cache of word
    frequencies of a generation."""

    def __init__(
        self,
        run: SearchRun,
        memory: PhraseMemory,
        counts_of: Callable[[int], WordCounts],
        meaning: Meaning = KEYWORD,
    ) -> None:
        self._run = run
        self._meaning = meaning
        self._similarity = meaning.similarity()
        self._reader = run.reader
        self._memory = memory
        self._counts_of = counts_of
        self._counts = WordCounts(-1)  # those of the snapshot's generation, once it is known
        self._typed = run.request.query
        self._query, self._cut = run.request.parsed()
        self._text = run.request.text_as_typed(self._query)
        self._place: TypedPlace | None = None  # that the query names, once it is known
        self._plain: PlainReading | None = None  # set where the query was read so
        self._names: FoundNames | None = None  # in all files that pass the filters, whatever words are excluded
        self._late = False
        self._is_foreign = False  # a backend ranked
        self._lost: str | None = None  # why a backend could not
        self._firsts: list[Placed] = []  # the best places of all, on whatever page
        self._not_as_typed: Collection[int | None] = ()  # chunks with a text like the typed one
        self.may_miss_typed = False  # lines may have the text as typed, and none of the best places
        self._reached = 0  # places of the page that were processed
        self._facets: Facets | None = None
        self._total: TotalFields | None = None
        self._omitted: int | None = None

    def answer(self) -> SearchAnswer:
        """Search, and make the hits of the page. Raises Cancelled."""
        run, reader = self._run, self._reader
        with reader.snapshot():
            generation = run.generation()
            self._counts = self._counts_of(generation)
            try:
                compiled, ((page, more, _), rows) = self._read_and_find()
            except DeadlinePassed:
                warnings = warnings_of(self._cut, is_late=True)
                return SearchAnswer([], None, generation, self._meaning.mode, warnings, run.live.stale)
            self.may_miss_typed = not self._late and self._may_miss_typed(compiled)
        hits = self._serve(page, rows, compiled)
        # cut by the deadline, or by the budget for text
        left = self._reached > 0 and (self._reached < len(page) or self._late)
        return SearchAnswer(
            hits,
            run.next_offset(self._reached, more or left),
            generation,
            self._meaning.mode if compiled.textual else "keyword",
            [
                *warnings_of(self._cut or compiled.cut, self._late, self._query.has_text and not compiled.textual),
                *run.window_warnings(self._reached, more or left),
                *self._meaning.warnings,
                *([] if self._lost is None else [lost_backend(self._lost)]),
            ],
            run.live.stale,
            self._facets,
            self._omitted,
            self._meant(compiled, hits),
            total=self._total,
        )

    @property
    def first_chunks(self) -> frozenset[int | None] | None:
        """The chunks of the places of which one should have the text; None if the words found nothing."""
        return frozenset(placed.chunk_id for placed in self._with_text) or None

    @property
    def _with_text(self) -> list[Placed]:
        found = self._found_by_words
        return found[:1] if len(self._text.split()) == 1 and typed_text(self._text) is not None else found

    @property
    def _found_by_words(self) -> list[Placed]:
        """The best places, without those that only their vectors led to."""
        return [placed for placed in self._firsts if placed.ranks is None or placed.ranks[0] is not None]

    def _may_miss_typed(self, compiled: CompiledQuery) -> bool:
        """Whether no place is known to have the query as typed, and lines may have it. What has a corrected name has it
        as corrected, not as typed."""
        text, firsts = self._text, self._with_text
        if not firsts or self._run.request.typing:
            return not firsts
        least = _VERBATIM if typed_text(text) is not None else 0.0
        may_have = [each.parts for each in firsts if each.parts and each.chunk_id not in self._not_as_typed]
        has_typed = any(parts[part] > least for parts in may_have for part in _AS_TYPED)
        is_short = any(is_shortened(*pair) for pair in compiled.respelt)  # its letters are in other words, too
        if is_short or not may_be_pasted(text) or (has_typed and not compiled.respelt):
            return False
        tokens = self._reader.tokens(text) if text.isalnum() else []
        return len(tokens) != 1 or not self._reader.one(IN_USE, (f'"{tokens[0]}"',))

    def _read_and_find(self) -> tuple[CompiledQuery, _Found]:
        """Decide how the query is meant, and search. The decision is the same for every page of a generation."""
        self._run.request = as_written(self._reader, self._run.request, self._is_pasted, self._is_name)
        text = self._run.request.query
        if text != self._typed:
            self._query = self._run.request.parsed()[0]
            self._text = self._run.request.text_as_typed(self._query)
        self._place = named_place(self._reader, text)
        if self._place is not None and self._place.text != text:
            text = self._place.text
            self._query = at_place(self._run.request, self._query, self._place)
        self._query = with_quoted_words(self._query)
        self._names = None  # in the files that are meant now
        plain = without_signs(text) if self._query.excluded or self._query.phrases else None
        typed = self._run.request.query
        if plain is not None and is_plain_text(self._reader, typed, self._query, plain, self._is_pasted):
            self._read_as(plain)
        compiled = self._compile()
        if plain is not None and self._plain is None and compiled.respelt:  # with its corrections it may be plain text
            meant = with_words(typed, dict(compiled.respelt))
            if is_plain_text(self._reader, meant, self._query, plain, self._is_pasted):
                self._read_as(plain)
                compiled = self._compile()
        found = self._find(compiled)
        parts = None if any(term.rows or term.files for term in compiled.any_of) else in_parts(text)
        for other in (plain if self._plain is None else None, without_terms(text), parts):
            found_any = self._firsts if self._meaning.mode == "semantic" else self._found_by_words
            if other is not None and other.may_be_text and not (found_any or self._late):
                self._read_as(other, with_terms=other is plain)
                compiled = self._compile()
                found = self._find(compiled)
        return compiled, found

    def _compile(self) -> CompiledQuery:
        return compile_query(self._reader, self._query, self._counts, self._found_names, fresh=self._run.request.fresh)

    def _read_as(self, plain: PlainReading, *, with_terms: bool = True) -> None:
        self._plain = plain
        terms = self._query.terms if with_terms else ()
        self._names = None  # it may have other filters
        self._query = replace(self._query, text=plain.words, unfinished=False, excluded=(), phrases=(), terms=terms)

    def _meant(self, compiled: CompiledQuery, hits: Sequence[Hit]) -> DidYouMean | None:
        """Return the query as it was meant, with its corrections, spelt as in the hits; None if it was as typed."""
        text = self._run.request.query if self._plain is None else self._plain.query
        if text == self._typed and (self._is_foreign or not compiled.respelt):
            return None
        shown = [hit.snippet[start:end] for hit in hits for start, end in hit.highlights]
        corrections = {typed: as_in_files(meant, shown, self._reader.words) for typed, meant in compiled.respelt}
        meant = with_words(text, corrections)
        return None if meant == self._typed else DidYouMean(query=meant, applied=True)

    def _find(self, compiled: CompiledQuery) -> _Found:
        """Find the page's places."""
        reader, request = self._reader, self._run.request
        excluded = match_any_path(term for term in compiled.excluded if term.files) or None
        filters = build_filters(reader, self._query, self._run.roots, excluded)
        resolved = resolve_filters(reader, filters, self._counts.generation, sum(term.rows for term in compiled.any_of))
        file_filter = build_file_filter(reader, compiled, resolved)
        page = _Page([], False)
        if compiled.textual or not self._query.has_text:
            check = self._phrase_check(compiled, file_filter)
            page = self._page(compiled, file_filter, check)
            self._count(compiled, file_filter, check, page)
        else:
            self._facets = {name: {} for name in request.facets} if request.facets else None
            self._total = {"hits": 0, "files": 0} if request.total else None
        counted = [term for term in compiled.any_of if term.rows] if request.group == "file" else []
        with reader.without_deadline():
            return _Found(page, read_rows(reader, page.places, file_filter.resolved, counted))

    def _found_names(self) -> FoundNames:
        """The names in all files that pass the filters, whatever words are excluded."""
        if self._names is None:
            filters = build_filters(self._reader, replace(self._query, excluded=()), self._run.roots, None)
            self._names = FoundNames(self._view(resolve_filters(self._reader, filters, self._counts.generation)))
        return self._names

    def _is_pasted(self, text: str) -> bool:
        """Whether a file has a text of several words as it was typed."""
        tokens = self._reader.tokens(text)
        is_indexed = tokens and self._reader.has_chunk(f"body : {phrase(tokens)}")  # seldom
        return bool(is_indexed) and self._found_names().is_written(text)

    def _is_name(self, word: str) -> bool:
        """Whether a word shortens a defined name."""
        return bool(self._found_names().shortened(word))

    def _view(self, resolved: ResolvedFilters) -> IndexView:
        texts = LiveTexts(self._reader, self._run.live, resolved)
        return IndexView(self._reader, resolved, texts.of_chunks, RowCounts.of(self._reader, self._counts))

    def _phrase_check(self, compiled: CompiledQuery, file_filter: FileFilter) -> PhraseCheck:
        excluded = [text[1:-1] for text in self._query.excluded if is_phrase(text)]
        return PhraseCheck(
            self._reader,
            compiled,
            file_filter,
            self._memory,
            LiveTexts(self._reader, self._run.live, file_filter.resolved).bytes_of,
            Quoted(self._query.phrases, excluded),
        )

    def _count(self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck, page: _Page) -> None:
        """Count the facets and the hits: all of them, or none if the time runs out, since a part would be wrong."""
        request = self._run.request
        if not (request.facets or request.total) or self._meaning.mode == "semantic":
            return
        try:
            has_phrases = None if check.trivial else check.matches
            counter = MatchCounter(self._reader, compiled, file_filter, has_phrases, page.added())
            if request.total:
                self._total = counter.total(by_file=request.group == "file")
            if request.facets:
                self._facets = counter.facets(request.facets, self._run.roots)
        except DeadlinePassed:
            self._late |= bool(request.facets)

    def _foreign_page(self, resolved: ResolvedFilters, check: PhraseCheck) -> _Page | None:
        """Return the page as the backend orders it; None if the index must: there is no backend, or it is lost, or does
        not have the vectors that alone count, or the query has no words or names a line."""
        run, request = self._run, self._run.request
        if run.backend is None or not self._query.has_text or (self._place is not None and self._place.line):
            return None
        wanted = foreign_ranking.BackendQuery(self._query, request, run.roots, self._reader, resolved, check.matches)
        try:
            found = foreign_ranking.order(run.backend, wanted, self._meaning)
        except foreign_ranking.RankingFailed as failed:
            self._lost = str(failed)
            return None
        if found is None:
            return None
        self._firsts, self._is_foreign = found[:FIRST], True
        end = request.offset + request.limit
        return _Page(found[request.offset : end], len(found) > end)

    def _names_in(self, compiled: CompiledQuery, file_filter: FileFilter) -> FoundNames:
        """The names in the files that have the phrases of a query and not its excluded words."""
        if compiled.excluded or self._query.excluded or compiled.phrases:
            return FoundNames(self._view(file_filter.resolved))
        return self._found_names().seen_by(file_filter.resolved)

    def _page(self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck) -> _Page:
        if (foreign := self._foreign_page(file_filter.resolved, check)) is not None:
            return foreign
        query, request = self._query, self._run.request
        narrowed = query.places is not None or query.globs or any(term.name == "path" for term in query.terms)
        results = RankedResults(
            self._reader,
            compiled,
            file_filter,
            Arrangement(
                request.group == "file",
                self._is_file(query.places or ()),
                not narrowed,
                *(self._similarity, self._meaning.fusion, is_sentence(self._typed)),
            ),
            TypedText(
                request.text_as_typed(query),
                self._place,
                self._names_in(compiled, file_filter),
                remembered(with_words(query.text, dict(compiled.respelt)).split(), unfinished=query.unfinished),
            ),
        )
        page, more = list[Placed](), False
        try:
            for number, hit in enumerate(results.placed(check.matches)):
                if number < FIRST:
                    self._firsts.append(hit)
                more = number >= request.offset + request.limit
                if more and number >= FIRST:
                    break
                if number >= request.offset and not more:
                    page.append(hit)
        except DeadlinePassed:
            self._late = True
        self._late |= results.late
        self._not_as_typed = results.not_as_typed
        first = partial(first_chunks, self._reader, results.named, file_filter.resolved)
        return _Page(page, more, lambda: results.added.union(first()))

    def _serve(self, page: list[Placed], rows: Rows, compiled: CompiledQuery) -> list[Hit]:
        phrases = [WrittenPhrase(text, self._reader.words) for text in self._query.phrases]
        typed = TypedSpan(self._run.request.text_as_typed(self._query), self._query)
        highlighter = Highlighter(compiled.terms, phrases, self._reader.stems, typed)
        style = self._run.style if self._place is None else self._run.style._replace(line=self._place.shown_line)
        maker = HitMaker(rows, self._run.roots, self._run.live, highlighter, style)
        return [hit for hit in self._made(page, maker) if hit is not None]

    def _made(self, page: list[Placed], maker: HitMaker) -> Iterator[Hit | None]:
        for number, placed in enumerate(page):
            if self._run.cancelled():
                raise Cancelled("the search was cancelled")
            if number and self._reader.is_past_deadline():
                self._late = True
                return
            hit = maker.make(placed)
            if hit is not None:
                hit = self._run.budget.take(hit)
                if hit is None:
                    self._omitted = len(page) - number
                    return
            self._reached = number + 1
            yield hit

    def _is_file(self, places: Iterable[Place]) -> bool:
        """Whether one of the places is an indexed file: then its chunks may fill the page."""
        return any(
            self._reader.one(_IS_FILE, (place.root_id, *relpath.split(place.path))) for place in places if place.path
        )
