"""Looks up what the compiler of queries asks about names: see `livedex_indexing.query.index_names`.

Invariant: only names in files that pass the filters are found.
"""

from __future__ import annotations

from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.rank.alike_names import find_alike
from livedex_indexing.rank.continued_names import find_continued
from livedex_indexing.rank.near_names import find_near, find_shortened
from livedex_indexing.rank.postings import RowCounts, Texts
from livedex_indexing.store.read_pool import Reader

Known = dict[tuple[str, str], list[str]]  # what `continued` and `shortened` have returned, by method and name


class FoundNames:
    """Finds names for one query. ``texts`` reads chunks; ``counted`` knows the query's words. ``known`` is for these
    filters: what is found is added, and nothing is looked up twice."""

    def __init__(
        self,
        reader: Reader,
        resolved: ResolvedFilters,
        texts: Texts,
        counted: RowCounts,
        known: Known,
    ) -> None:
        self._reader, self._resolved, self._texts = reader, resolved, texts
        self._counted, self._known = counted, known

    def continued(self, typed: str) -> list[str]:
        """Return the words that begin as the last word of a name, in ASCII, where they follow its other words: first
        those that are joined to them as it was typed, the most frequent first. Only some chunks are read."""
        if (key := ("continued", typed.lower())) not in self._known:
            self._known[key] = find_continued(self._reader, self._resolved, self._texts, typed)
        return self._known[key]

    def alike(self, name: str) -> dict[str, float]:
        """Return the names with all parts of a name that is nowhere: see `find_alike`."""
        return find_alike(self._reader, self._resolved, self._texts, self._counted, name)

    def shortened(self, name: str) -> list[str]:
        """Return the names that one shortens: see `find_shortened`."""
        if (key := ("shortened", name)) not in self._known:
            self._known[key] = find_shortened(self._reader, self._resolved, self._texts, self._counted, name)
        return self._known[key]

    def near(self, name: str) -> list[str]:
        """Return the names that one which is nowhere likely means: those it shortens, or see `find_near`."""
        return self.shortened(name) or find_near(self._reader, self._resolved, self._counted, name)
