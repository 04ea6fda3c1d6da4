"""Answers searches of one index: chooses between words and lines, and keeps the caches that searches share.

Invariant: no query is an error, and an answer comes by the deadline with the hits found until then.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from livedex_indexing.embeddings.embedding_settings import EmbedderUnavailable
from livedex_indexing.hits.live_files import Stale
from livedex_indexing.lines.line_pattern import Pattern
from livedex_indexing.lines.vocabulary import Vocabulary
from livedex_indexing.query.query_parser import QUERY_BYTES
from livedex_indexing.query.shell_prompt import without_prompt
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.phrase_filter import PhraseMemory
from livedex_indexing.search.foreign_ranking import Ranker
from livedex_indexing.search.line_answer import FilesAnswer, LineRun, matching_files
from livedex_indexing.search.meaning import EMBED_S, KEYWORD, Meaning, Semantics, WithoutVectors, meaning_of
from livedex_indexing.search.search_answer import CUT_WARNING, LATE_WARNING, SearchAnswer
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.search_run import SearchRun
from livedex_indexing.search.sorted_search import answer_sorted
from livedex_indexing.search.typed_lines import answer_typed_lines
from livedex_indexing.search.unknown_values import unknown_values
from livedex_indexing.search.word_search import WordSearch
from livedex_indexing.store.read_pool import DeadlinePassed, ReadPool
from livedex_ipc.constants import LINE_MODES


class Searcher:
    """Searches one index through its readers. Safe to use from several threads."""

    def __init__(self, pool: ReadPool) -> None:
        self._pool = pool
        self._memory = PhraseMemory()
        self._counts = WordCounts(-1)
        self._vocabulary = Vocabulary()
        self._lock = threading.Lock()

    def release_memory(self) -> None:
        """Drop the caches: all of it can be read again."""
        self._vocabulary.release_memory()

    def search(
        self,
        request: SearchRequest,
        roots: Mapping[int, bytes],
        *,
        deadline: float = float("inf"),
        cancelled: Callable[[], bool] = bool,
        semantics: Semantics | None = None,
        backend: Ranker | None = None,
    ) -> SearchAnswer:
        """Answer a request.

        ``roots`` are the watched roots by id; ``deadline`` is a time of the pool's clock; ``semantics`` are the vectors
        of the index, None without any. ``backend`` ranks instead of the index; while it cannot, the index does. Raises
        InvalidParams for a pattern or glob that cannot be read, Cancelled once ``cancelled()`` is true.
        """
        request.refuse_contradictions()
        pattern = _pattern(request) if request.mode in LINE_MODES else None
        if pattern is None:
            request = replace(request, query=without_prompt(request.query[: QUERY_BYTES + 1]))  # one more: it was cut
        left = (deadline - self._pool.clock()) / 2
        is_ranked = pattern is None and request.sort == "relevance"
        meaning = meaning_of(request, semantics, min(left, EMBED_S)) if is_ranked else KEYWORD
        try:
            with self._pool.connection(deadline=deadline, cancelled=cancelled) as reader:
                run = SearchRun(reader, request, roots, cancelled, backend)
                if pattern is None and request.sort != "relevance":
                    answer = answer_sorted(run)
                elif pattern is None:
                    answer = self._words(run, meaning)._replace(vectors_pending=meaning.pending)
                else:
                    answer = LineRun(run, pattern, request.filters_only(), self._vocabulary).answer(request.mode)
                with reader.without_deadline():
                    unknown = unknown_values(reader, request, roots, found=bool(answer.hits))
                answer = answer._replace(failed=run.failed, warnings=[*answer.warnings, *unknown])
        except DeadlinePassed:
            mode = meaning.mode if pattern is None else request.mode
            cut = [CUT_WARNING] if pattern is None and request.parsed()[1] else []
            return SearchAnswer([], None, self._counts.generation, mode, [*cut, LATE_WARNING], Stale())
        except EmbedderUnavailable as fault:
            semantics = WithoutVectors(meaning.pending, str(fault))
        else:
            if not meaning.is_outdated:
                return answer
        return self.search(request, roots, deadline=deadline, cancelled=cancelled, semantics=semantics, backend=backend)

    def matching_files(
        self,
        request: SearchRequest,
        roots: Mapping[int, bytes],
        *,
        count: bool,
        deadline: float = float("inf"),
        cancelled: Callable[[], bool] = bool,
    ) -> FilesAnswer:
        """Return the files with a line that matches ``request``, in mode ``exact`` or ``regex``; ``count``: and how
        many lines do. Raises as `search` does."""
        pattern = _pattern(request)
        try:
            with self._pool.connection(deadline=deadline, cancelled=cancelled) as reader:
                run = SearchRun(reader, request, roots, cancelled)
                found = matching_files(run, pattern, self._vocabulary, count=count)
                with reader.without_deadline():
                    unknown = unknown_values(reader, request, roots, found=bool(found.files))
                return found._replace(warnings=[*found.warnings, *unknown])
        except DeadlinePassed:
            return FilesAnswer([], None, self._counts.generation, [LATE_WARNING], Stale(), 0)

    def _words(self, run: SearchRun, meaning: Meaning) -> SearchAnswer:
        """Search for words; in mode ``auto``, for lines with the text as typed if no words lead to it."""
        search = WordSearch(run, self._memory, self._counts_of, meaning)
        answer = search.answer()
        if run.request.mode != "auto" or not search.may_miss_typed:
            return answer
        again = SearchRun(run.reader, run.request, run.roots, run.cancelled)
        lines = answer_typed_lines(again, self._vocabulary, search.first_chunks)
        if lines is None:
            answer.stale.merge(again.live.stale)
            return answer
        lines.stale.merge(answer.stale)
        return lines

    def _counts_of(self, generation: int) -> WordCounts:
        """Return the cache of word frequencies; it starts empty with each generation."""
        with self._lock:
            if self._counts.generation != generation:
                self._counts = WordCounts(generation, self._counts)
            return self._counts


def _pattern(request: SearchRequest) -> Pattern:
    exact = request.mode == "exact"
    return Pattern(request.query, exact=exact, case=request.letter_case, whole_words=request.whole_words)
