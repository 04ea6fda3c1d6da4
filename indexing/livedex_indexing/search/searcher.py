"""Answers a search: reads the query, asks the index in one snapshot, and makes the hits from the live files.

Invariant: no input is an error but a path outside of the roots, and an answer comes by the deadline with what was
found until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from livedex_indexing import relpath
from livedex_indexing.hits.answer_json import warning
from livedex_indexing.hits.hit_builder import HitMaker, Rows, Style, read_rows
from livedex_indexing.hits.live_files import COPY, LiveFiles, Stale, file_copy
from livedex_indexing.hits.text_budget import Room
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.line_search import MODES, LineSearch
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.model import STATUSES, Query
from livedex_indexing.query.filters import ResolvedFilters, build_filters, resolve_filters
from livedex_indexing.query.highlight import Highlighter, WrittenPhrase
from livedex_indexing.query.query_compiler import compile_query
from livedex_indexing.query.query_parser import is_phrase, parse, with_words
from livedex_indexing.query.query_terms import CompiledQuery, any_of, any_path_of
from livedex_indexing.query.scope import places, root_at
from livedex_indexing.query.spell_repair import as_in_files
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.facets import FacetCounter
from livedex_indexing.rank.phrase_filter import Bytes, FileFilter, PhraseCheck, PhraseMemory, Signs, build_file_filter
from livedex_indexing.rank.results import RankedResults
from livedex_indexing.rank.score import Placed
from livedex_indexing.store.read_pool import DeadlinePassed, Reader, ReadPool
from livedex_indexing.store.row_types import CONTENT, ContentRow
from livedex_indexing.store.sql import GENERATION
from livedex_ipc.errors import Cancelled
from livedex_ipc.params import parse_time, path_bytes, paths_bytes

WINDOW = 10_000  # offset + limit: hits behind it cannot be asked for

_FAILED = f"""SELECT count(*) FROM files WHERE status = {STATUSES.index("failed")}
              AND root_id IN (SELECT id FROM roots WHERE missing_since IS NULL)"""
_IS_FILE = "SELECT 1 FROM files WHERE root_id = ? AND folder = ? AND name = ?"
_CONTENT = f"SELECT {CONTENT} FROM contents t WHERE t.id = ?"
_COPIES = f"SELECT {COPY} FROM files d WHERE d.content_id = ? AND {{}} ORDER BY length(d.folder) + length(d.name), d.id"


_CUT_WARNING: Final = warning(
    "query_cut", "only the first 4 KiB and the 64 rarest words of the query counted", "ask for less at once"
)
_LATE_WARNING: Final = warning(
    "query_deadline", "the search ran out of time: these are the hits so far", "raise timeout_ms or narrow the search"
)
_CHANGED_WARNING: Final = warning(
    "files_changed", "files changed while they were searched: their lines are left out", "ask again"
)
_NO_WORDS_WARNING: Final = warning("query_no_words", "the query holds no letter or digit to look for", "add a word")


class SearchAnswer(NamedTuple):
    """``hits`` in the wire's shape. ``stale``: files found changed, to be looked at again (`LiveFiles`).
    ``extras`` are the answer's fields that are there only where they apply: ``facets``, ``omitted``,
    ``did_you_mean``. ``failed`` is the number of files that could not be indexed."""

    hits: list[dict[str, Any]]
    next_offset: int | None
    generation: int
    mode: str
    warnings: list[dict[str, Any]]
    stale: Stale
    extras: Mapping[str, Any] = MappingProxyType({})
    failed: int = 0


def query_of(request: Mapping[str, Any]) -> tuple[Query, list[dict[str, Any]]]:
    """The query of checked ``search`` params, and what is to be warned of."""
    parsed = parse(request["query"])
    after, before = request.get("modified_after"), request.get("modified_before")
    query = Query(
        text=" ".join(parsed.words),
        excluded=parsed.excluded,
        phrases=parsed.phrases,
        terms=parsed.terms,
        limit=request.get("limit", 10),
        offset=request.get("offset", 0),
        path=path_bytes(request),
        globs=tuple(request.get("globs") or ()),
        languages=tuple(request.get("languages") or ()),
        kinds=tuple(request.get("kinds") or ()),
        roots=tuple(paths_bytes(request, "roots") or ()),
        modified_after=None if after is None else parse_time(after),
        modified_before=None if before is None else parse_time(before),
        group=request.get("group", "chunk"),
    )
    return query, [_CUT_WARNING] if parsed.cut else []


class Searcher:
    """Searches one index through its readers. Safe to use from several threads."""

    def __init__(self, pool: ReadPool) -> None:
        self._pool = pool
        self._memory = PhraseMemory()
        self._counts = WordCounts(-1)
        self._vocabulary = Vocabulary()
        self._lock = threading.Lock()

    def release_memory(self) -> None:
        """Forgets what can be read again."""
        self._vocabulary.release_memory()

    def search(
        self,
        request: Mapping[str, Any],
        roots: Mapping[int, bytes],
        *,
        deadline: float = float("inf"),
        cancelled: Callable[[], bool] = bool,
    ) -> SearchAnswer:
        """Answers checked params of the method ``search``.

        ``roots`` are the watched roots by id; ``deadline`` is a time of the pool's clock. Raises OutsideRoots for a
        ``path`` or root that no root holds, Cancelled once ``cancelled()`` is true.
        """
        mode = request.get("mode", "auto")
        pattern = Pattern(request["query"], exact=mode == "exact") if mode in MODES else None
        query, warnings = query_of(request if pattern is None else {**request, "query": ""})
        if query.path is not None:
            places(query.path, roots)
        for root in query.roots:
            root_at(root, roots)
        try:
            with self._pool.connection(deadline=deadline, cancelled=cancelled) as reader:
                search = _Search(self, reader, query, request, roots, cancelled)
                found = search.answer(warnings) if pattern is None else search.lines(pattern, self._vocabulary, mode)
                with reader.without_deadline():
                    return found._replace(failed=reader.one(_FAILED))
        except DeadlinePassed:
            used = "keyword" if pattern is None else mode
            return SearchAnswer([], None, self._counts.generation, used, [*warnings, _LATE_WARNING], {})

    def counts(self, generation: int) -> WordCounts:
        """What is known of how rare words are, begun anew with each generation."""
        with self._lock:
            if self._counts.generation != generation:
                self._counts = WordCounts(generation, self._counts)
            return self._counts

    @property
    def memory(self) -> PhraseMemory:
        return self._memory


class _Search:
    """One search on one reader."""

    def __init__(
        self,
        searcher: Searcher,
        reader: Reader,
        query: Query,
        request: Mapping[str, Any],
        roots: Mapping[int, bytes],
        cancelled: Callable[[], bool],
    ) -> None:
        self._searcher = searcher
        self._reader = reader
        self._query = query
        self._typed: str = request["query"]
        self._fresh: bool = request.get("fresh", True)
        self._roots = roots
        self._cancelled = cancelled
        self._live = LiveFiles(roots)
        self._late = False
        self._reached = 0  # places of the page that were looked at
        self._extras: dict[str, Any] = {}
        self._facets: Sequence[str] = request.get("facets") or ()
        self._room = Room(request.get("max_chars"))
        self._style = Style(
            self._room.least(request.get("max_snippet_chars", 400)),
            request.get("context_lines", 0),
            request.get("explain", False),
            query.group == "file",
        )

    def answer(self, warnings: list[dict[str, Any]]) -> SearchAnswer:
        query, reader = self._query, self._reader
        with reader.snapshot():
            with reader.without_deadline():
                generation = int(reader.one(GENERATION))
            try:
                counts = self._searcher.counts(generation)
                compiled = compile_query(reader, query, counts, fresh=self._fresh)
                page, more, rows = self._find(compiled, generation)
            except DeadlinePassed:
                return SearchAnswer([], None, generation, "keyword", [*warnings, _LATE_WARNING], self._live.stale)
        hits = self._serve(page, rows, compiled)
        if compiled.respelt:
            self._extras["did_you_mean"] = {"query": self._meant(compiled, hits), "applied": True}
        if compiled.cut and not warnings:
            warnings = [_CUT_WARNING]
        if self._late:
            warnings = [*warnings, _LATE_WARNING]
        if self._says_nothing(compiled):
            warnings = [*warnings, _NO_WORDS_WARNING]
        reached = query.offset + self._reached
        left = self._reached < len(page) and self._reached > 0  # cut by the deadline, or by the room for snippets
        more_to_ask = (more or left or (self._late and self._reached > 0)) and reached < WINDOW
        return SearchAnswer(
            hits,
            reached if more_to_ask else None,
            generation,
            "keyword",
            warnings,
            self._live.stale,
            self._extras,
        )

    def _meant(self, compiled: CompiledQuery, hits: Sequence[Mapping[str, Any]]) -> str:
        """The query with its corrections."""
        shown = [hit["snippet"][start:end] for hit in hits for start, end in hit["highlights"]]
        words = self._reader.words
        return with_words(self._typed, {typed: as_in_files(meant, shown, words) for typed, meant in compiled.respelt})

    def lines(self, pattern: Pattern, vocabulary: Vocabulary, mode: str) -> SearchAnswer:
        """The lines that match a pattern."""
        query, reader = self._query, self._reader
        with reader.snapshot():
            with reader.without_deadline():
                generation = int(reader.one(GENERATION))
            resolved = resolve_filters(reader, build_filters(reader, query, self._roots, None), generation)
            search = LineSearch(reader, pattern, resolved, self._live, self._roots, self._style, self._cancelled)
            page = search.page(vocabulary, query.offset, query.limit, self._room.holds, self._facets)
        late = [_LATE_WARNING] if page.late else []
        warnings = [*late, _CHANGED_WARNING] if page.left_out else late
        if page.omitted:
            self._extras["omitted"] = page.omitted
        if page.facets is not None:
            self._extras["facets"] = page.facets
        reached = query.offset + len(page.hits)
        more_to_ask = page.more and page.hits and reached < WINDOW
        return SearchAnswer(
            page.hits, reached if more_to_ask else None, generation, mode, warnings, self._live.stale, self._extras
        )

    def _find(self, compiled: CompiledQuery, generation: int) -> tuple[list[Placed | None], bool, Rows]:
        """The page's places, whether more follow, and the rows to make hits of them."""
        reader, query = self._reader, self._query
        excluded = any_path_of(term for term in compiled.excluded if term.files) or None
        filters = build_filters(reader, query, self._roots, excluded)
        resolved = resolve_filters(reader, filters, generation, sum(term.rows for term in compiled.any_of))
        file_filter = build_file_filter(reader, compiled, resolved)
        page: list[Placed | None] = []
        more = False
        if not self._says_nothing(compiled):
            check = self._phrase_check(compiled, file_filter)
            page, more = self._page(compiled, file_filter, check)
            self._count(compiled, file_filter, check)
        elif self._facets:
            self._extras["facets"] = {name: {} for name in self._facets}
        counted = any_of(term for term in compiled.any_of if term.rows) if query.group == "file" else ""
        with reader.without_deadline():
            return (
                page,
                more,
                read_rows(reader, [hit for hit in page if hit is not None], file_filter.resolved, counted or None),
            )

    def _says_nothing(self, compiled: CompiledQuery) -> bool:
        """Whether something is looked for that holds no word: then nothing is found, rather than everything."""
        return bool(self._query.text or self._query.phrases) and not compiled.textual

    def _phrase_check(self, compiled: CompiledQuery, file_filter: FileFilter) -> PhraseCheck:
        excluded = [text[1:-1] for text in self._query.excluded if is_phrase(text)]
        return PhraseCheck(
            self._reader,
            compiled,
            file_filter,
            self._searcher.memory,
            lambda content_id: self._bytes_of(content_id, file_filter.resolved),
            Signs(self._without_words(self._query.phrases), self._without_words(excluded)),
        )

    def _without_words(self, phrases: Iterable[str]) -> list[str]:
        return [text for text in phrases if not self._reader.words(text.encode("utf-8", "replace"))]

    def _count(self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck) -> None:
        """The facets: all of them, or where the time runs out none, since a part would be wrong."""
        if not self._facets:
            return
        try:
            counter = FacetCounter(self._reader, compiled, file_filter, None if check.trivial else check.matches)
            self._extras["facets"] = counter.count(self._facets, self._roots)
        except DeadlinePassed:
            self._late = True

    def _page(
        self, compiled: CompiledQuery, file_filter: FileFilter, check: PhraseCheck
    ) -> tuple[list[Placed | None], bool]:
        """The places of the page, empty ones too, and whether more follow. A page ends with the places left empty."""
        query = self._query
        results = RankedResults(
            self._reader,
            compiled,
            file_filter,
            group_by_file=query.group == "file",
            no_file_limit=self._is_file(query.path),
            demote_auxiliary=not (query.path or query.globs or any(term.name == "path" for term in query.terms)),
        )
        page: list[Placed | None] = []
        try:
            for number, hit in enumerate(results.placed(check.matches)):
                if number >= query.offset + query.limit or (hit is not None and page and page[-1] is None):
                    return page, True
                if number >= query.offset:
                    page.append(hit)
        except DeadlinePassed:
            self._late = True
        self._late |= results.late
        return page, False

    def _serve(self, page: list[Placed | None], rows: Rows, compiled: CompiledQuery) -> list[dict[str, Any]]:
        terms = [*compiled.terms, *compiled.required]
        phrases = [WrittenPhrase(text, self._reader.words) for text in self._query.phrases]
        highlighter = Highlighter(terms, phrases, self._reader.stems)
        maker = HitMaker(rows, self._roots, self._live, highlighter, self._style)
        return [hit for hit in self._made(page, maker) if hit is not None]

    def _made(self, page: list[Placed | None], maker: HitMaker) -> Iterator[dict[str, Any] | None]:
        for number, placed in enumerate(page):
            if self._cancelled():
                raise Cancelled("the search was cancelled")
            if number and self._reader.is_past_deadline():
                self._late = True
                return
            hit = None if placed is None else maker.make(placed)
            if hit is not None and not self._room.holds(hit):
                self._extras["omitted"] = sum(place is not None for place in page[number:])
                return
            self._reached = number + 1
            yield hit

    def _bytes_of(self, content_id: int, resolved: ResolvedFilters) -> Bytes | None:
        row = ContentRow(*self._reader.rows(_CONTENT, (content_id,))[0])
        sql, values = resolved.files
        copies = [file_copy(values) for values in self._reader.rows(_COPIES.format(sql), (content_id, *values))]
        found = self._live.read(content_id, row.hash, copies)
        return None if found is None else Bytes(found[1], row.encoding)

    def _is_file(self, path: bytes | None) -> bool:
        """Whether ``path`` names a file that is indexed: then its chunks may fill the page."""
        if path is None:
            return False
        return any(
            self._reader.one(_IS_FILE, (root_id, *relpath.split(inside)))
            for root_id, inside in places(path, self._roots)
            if inside
        )
