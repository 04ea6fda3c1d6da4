"""Answers a search for words whose hits are wanted by time or by path: every chunk that has all the words, or, if there
are none, the first chunk of every file.

Invariant: what matches, and its order, depend on the files alone, so that rank has no part in it. As in a standing
query, one of the words is not enough: without ranks, nothing would put the better matches first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from livedex_indexing import relpath
from livedex_indexing.hits.hit import Hit
from livedex_indexing.language_names import same_language
from livedex_indexing.model import KINDS
from livedex_indexing.path_text import display_path
from livedex_indexing.rank.facets import Facets, counted_by
from livedex_indexing.search.search_answer import SearchAnswer, warnings_of
from livedex_indexing.search.search_run import SearchRun
from livedex_indexing.search.standing_hits import StandingHits
from livedex_indexing.search.standing_query import Found, StandingQuery, parts_of_all
from livedex_indexing.store.read_pool import DeadlinePassed
from livedex_ipc.errors import Cancelled
from livedex_ipc.wire_results import TotalFields


class _Match(NamedTuple):
    """One chunk of a file; ``matches``: how many the file has, if the hit represents them all."""

    found: Found
    chunk: int
    matches: int | None


def answer_sorted(run: SearchRun) -> SearchAnswer:
    """Return the page of a request that is sorted by ``modified`` or ``path``. Raises Cancelled."""
    return _SortedSearch(run).answer()


class _SortedSearch:
    def __init__(self, run: SearchRun) -> None:
        request, roots = run.request, run.roots
        self._run = run
        self._typed, self._cut = request.parsed()
        places = request.places
        paths = None if places is None else [relpath.absolute(roots[place.root_id], place.path) for place in places]
        only = [roots[root_id] for root_id in request.root_ids]
        self._query = StandingQuery(self._typed, paths, only, group_by_file=False)
        self._late = False

    def answer(self) -> SearchAnswer:
        run, request, reader = self._run, self._run.request, self._run.reader
        with reader.snapshot():
            generation = run.generation()
            textual = self._query.compiled(reader).textual
            found = self._found()
            hits = StandingHits(reader, self._query, run.roots, run.style)
        matches = list(self._matches(found, one_each=not textual))
        end = request.offset + request.limit
        page, omitted = self._page(matches[request.offset : end], hits)
        run.live.stale.merge(hits.stale)
        no_words = self._typed.has_text and not textual
        left = end < len(matches) or omitted > 0
        reached = min(end, len(matches)) - request.offset - omitted
        return SearchAnswer(
            page,
            run.next_offset(reached, left and reached > 0),
            generation,
            "keyword",
            [*warnings_of(self._cut, self._late, no_words), *run.window_warnings(reached, left)],
            run.live.stale,
            self._facets(found) if request.facets and not self._late else None,
            omitted or None,
            total=self._total(matches) if request.total and not self._late else None,
        )

    def _found(self) -> list[Found]:
        """Return the files that match, in order."""
        run, found = self._run, list[Found]()
        try:
            for part in parts_of_all(run.reader):
                unsure: set[tuple[int, bytes]] = set()
                found += self._query.found(run.reader, part, run.roots, run.live, unsure)
                run.live.stale.update(dict.fromkeys(unsure, False))
        except DeadlinePassed:
            self._late = True
        newest = run.request.sort == "modified"
        return sorted(found, key=lambda each: (-each.copy.state.mtime_ns if newest else 0, self._path(each)))

    def _path(self, found: Found) -> bytes:
        return relpath.absolute(self._run.roots[found.copy.root_id], found.copy.path)

    def _matches(self, found: Iterable[Found], *, one_each: bool) -> Iterator[_Match]:
        by_file = self._run.request.group == "file"
        for each in found:
            if by_file or one_each:
                yield _Match(each, 0, len(each.chunks) if by_file else None)
            else:
                yield from (_Match(each, number, None) for number in range(len(each.chunks)))

    def _page(self, matches: list[_Match], hits: StandingHits) -> tuple[list[Hit], int]:
        """Return the hits of a page, and how many of them were left out for the budget of text."""
        page: list[Hit] = []
        for number, match in enumerate(matches):
            if self._run.cancelled():
                raise Cancelled("the search was cancelled")
            if number and self._run.reader.is_past_deadline():
                self._late = True
                return page, len(matches) - number
            one = match.found._replace(chunks=match.found.chunks[match.chunk : match.chunk + 1])
            for made in hits.of(one) or ():
                hit = self._run.budget.take(msgspec.structs.replace(made, matches=match.matches))
                if hit is None:
                    return page, len(matches) - number
                page.append(hit)
        return page, 0

    def _total(self, matches: list[_Match]) -> TotalFields:
        return {"hits": len(matches), "files": len({match.found.key for match in matches})}

    def _facets(self, found: Iterable[Found]) -> Facets:
        counted: set[tuple[str, str, int]] = set()
        for each in found:
            file_id = each.copy.file_id
            counted.add(("roots", display_path(self._run.roots[each.copy.root_id]), file_id))
            for chunk in each.chunks:
                counted.add(("kinds", KINDS[chunk.kind], file_id))
                if chunk.language is not None:
                    counted.add(("languages", same_language(chunk.language), file_id))
        return counted_by(self._run.request.facets, counted)
