"""Says quickly that no heading and no defined name has some words one after the other.

Invariant: words that are there are never denied.

FTS5 reads all rows of a phrase's words, whatever the column: several milliseconds for common words, and mostly for
nothing, since seldom is a sentence a heading or a name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from livedex_indexing.rank.postings import RowCounts, phrase
from livedex_indexing.store.read_pool import Reader

FEW: Final = 1_000  # rows of the rarest word, which are read as quickly twice


class OutlineProbe:
    """Looks into the headings and names of one query's snapshot. ``counted``: of the query's words."""

    def __init__(self, reader: Reader, counted: RowCounts) -> None:
        self._reader = reader
        self._known = counted.known
        self._found: dict[tuple[str, ...], bool] = {}

    def may_be_named(self, tokens: Sequence[str]) -> bool:
        """Return False where it is cheap to see that no name has the tokens one after the other."""
        counted = [(self._known(phrase([token])), token) for token in tokens]
        known = [(rows, token) for rows, token in counted if rows is not None]
        if self._known(phrase(tokens)) == 0 or any(rows == 0 for rows, _ in known):
            return False
        first = counted[0][0]
        if first is None or len(tokens) == 1:
            return True
        rows, rarest = min(known)
        return (2 * rows > first or self.is_in_a_name([rarest])) and self.may_be_outlined(tokens)

    def may_begin_a_name(self, tokens: Sequence[str]) -> bool:
        """Return False where it is cheap to see that no name has the tokens one after the other, the last one begun:
        FTS5 gathers all rows of all words that begin so."""
        if not tokens or self._known(f"{phrase(tokens)} *") == 0:
            return False
        before = tokens[:-1]
        return not before or (self.may_be_named(before) and self.is_in_a_name(before))

    def may_be_outlined(self, tokens: Sequence[str]) -> bool:
        """Return False where common words are in a row in no heading and no name: looked up for both at once."""
        known = self._found.get(key := tuple(tokens))
        if known is None:
            counts = [self._known(phrase([token])) for token in tokens]
            is_dear = len(tokens) > 1 and all(rows is None or rows > FEW for rows in counts)
            known = self._found[key] = not is_dear or self._reader.has_chunk(f"{{heads symbols}} : {phrase(tokens)}")
        return known

    def is_in_a_name(self, tokens: Sequence[str]) -> bool:
        """Whether a defined name has the tokens one after the other."""
        return self._reader.has_chunk(f"symbols : {phrase(tokens)}")

    def is_anywhere(self, tokens: Sequence[str]) -> bool:
        """Whether a chunk has the tokens one after the other."""
        rows = self._known(phrase(tokens))
        return self._reader.has_chunk(phrase(tokens)) if rows is None else rows > 0
