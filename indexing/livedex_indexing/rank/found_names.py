"""Looks up what is known of names, and of texts as they were typed: see `livedex_indexing.query.index_names`.

Invariant: only what is in files that pass the filters is found, and nothing is looked up twice for one query.
"""

from __future__ import annotations

from livedex_indexing.query.filters import ResolvedFilters
from livedex_indexing.query.typed_name import typed_text
from livedex_indexing.rank.alike_names import find_alike
from livedex_indexing.rank.continued_names import find_continued
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.likely_names import having
from livedex_indexing.rank.near_names import find_near, find_shortened
from livedex_indexing.rank.postings import phrase

_PROPOSED = 2_000  # chunks with the words of a text in a row …
_READ = 8  # … of which these are read


class FoundNames:
    """The names that one query may mean."""

    def __init__(self, view: IndexView) -> None:
        self.view = view
        self._continued: dict[str, list[str]] = {}
        self._shortened: dict[str, list[str]] = {}

    def seen_by(self, resolved: ResolvedFilters) -> FoundNames:
        """Return the same names, for the same filters in the form that is the quickest for the words of the query."""
        other = FoundNames(self.view._replace(resolved=resolved))
        other._continued, other._shortened = self._continued, self._shortened
        return other

    def continued(self, typed: str) -> list[str]:
        """Return the words that begin as the last word of a name, in ASCII, where they follow its other words: first
        those that are joined to them as it was typed, the most frequent first. Only some chunks are read."""
        if (key := typed.lower()) not in self._continued:
            self._continued[key] = find_continued(self.view, typed)
        return self._continued[key]

    def alike(self, name: str) -> dict[str, float]:
        """Return the names with all parts of a name that is nowhere: see `find_alike`."""
        return find_alike(self.view, name)

    def shortened(self, name: str) -> list[str]:
        """Return the names that one shortens: see `find_shortened`."""
        if name not in self._shortened:
            self._shortened[name] = find_shortened(self.view, name)
        return self._shortened[name]

    def near(self, name: str) -> list[str]:
        """Return the names that one which is nowhere likely means: those it shortens, or see `find_near`."""
        return self.shortened(name) or find_near(self.view, name)

    def is_written(self, text: str) -> bool:
        """Whether a chunk has a text of several words as it was typed."""
        finder, tokens = typed_text(text), self.view.reader.tokens(text)
        found = self.view.proposed(f"body : {phrase(tokens)}", _PROPOSED) if finder is not None and tokens else []
        return finder is not None and bool(having(self.view.texts, found[:_READ], finder))
