"""Asks for near words in the place of those of a query that stand nowhere.

Invariant: a word that stands in a text or a path is never touched, and what the index holds alone decides: every page
of one generation is repaired alike. For searches that do not ask to be fresh it may be what the index held lately.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from livedex_indexing.query.query_parser import is_plain
from livedex_indexing.query.query_terms import Unit
from livedex_indexing.query.spelling import is_held, is_word, nearest
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.tokens import Tokenizer

REPAIRED: Final = 8  # words of a query whose spelling is looked after: 5 to 20 ms each
_MEANT: Final = 3  # words that a misspelt one may stand for
_OTHER: Final = 0.5  # what each but the nearest counts
_RARE: Final = 50  # chunks: so few may all be of contents that no file uses any more

Written = tuple[str, Unit]  # a word as it was typed


class Repair:
    """The spelling of one query's words. ``others``: the units that stand for a misspelt word beside the nearest."""

    def __init__(
        self, reader: Reader, counts: WordCounts, unit_of: Callable[[str], Unit | None], *, fresh: bool
    ) -> None:
        """``fresh``: what words mean is to be that of this generation."""
        self._reader = reader
        self._counts = counts
        self._fresh = fresh
        self._unit_of = unit_of
        self._left = REPAIRED
        self.others: set[Unit] = set()
        self.respelt: dict[str, str] = {}

    def of(self, word: str, tokens: Sequence[Sequence[Written]]) -> list[Unit]:
        """The units to ask for. ``tokens``: of each token of the word the whole, then its parts."""
        respelt, at = "", 0
        units: list[Unit] = []
        for token in tokens:
            typed = token[0][0]
            start = word.index(typed, at)
            spelt, found = self._of_token(*token)
            respelt += word[at:start] + spelt
            at = start + len(typed)
            units += found
        respelt += word[at:]
        if respelt == word or not is_plain(respelt):
            return [unit for token in tokens for _, unit in token]
        self.respelt[word] = respelt
        return units

    def _of_token(self, whole: Written, *parts: Written) -> tuple[str, list[Unit]]:
        """How a token is spelt, and its units. One whose parts all stand somewhere is no mistake."""
        typed, unit = whole
        missing = self.is_missing(unit)
        if missing and not (parts and all(part.rows or part.files for _, part in parts)):
            meant = self._meant(unit)
            if meant:
                return _in_case(meant[0].tokens[0], typed), meant
        spelt, at = "", 0
        units = [] if missing and parts else [unit]
        for text, part in parts:
            meant = self._meant(part) if self.is_missing(part) else []
            start = typed.index(text, at)
            spelt += typed[at:start] + (_in_case(meant[0].tokens[0], text) if meant else text)
            at = start + len(text)
            units += meant or [part]
        return spelt + typed[at:], units

    def is_missing(self, unit: Unit) -> bool:
        """Whether a unit is a word that no chunk that is served and no path holds."""
        if unit.files or unit.rows > _RARE or len(unit.tokens) > 1 or unit.stop or unit.spaceless:
            return False
        return is_word(unit.tokens[0]) and not (unit.rows and is_held(self._reader, unit.match))

    def _meant(self, unit: Unit) -> list[Unit]:
        """The words that a missing one may stand for, all as near, in most files first, one of each stem."""
        if not self._left:
            return []
        self._left -= 1  # of a known one too: a query means the same however often it is asked
        words = self._near(unit.tokens[0], fresh=self._fresh)
        meant = self._asked(words)
        if words and not meant:  # they stood there a moment ago
            meant = self._asked(self._near(unit.tokens[0], fresh=True))
        if not meant:
            return []
        # A rare word is more often somebody's mistake than what was meant: it must not count for being rare.
        others = [other._replace(idf=_OTHER * min(meant[0].idf, other.idf)) for other in meant[1:]]
        self.others.update(others)
        return [meant[0], *others]

    def _near(self, token: str, *, fresh: bool) -> list[str]:
        counts = self._counts
        return counts.meanings.of(token, counts.generation, self._look, fresh=fresh)

    def _look(self, token: str) -> list[str]:
        """The nearest words, one of each stem."""
        found: dict[tuple[str, ...], str] = {}
        for near in nearest(self._reader, token):
            for unit in self._asked([near.word]):
                found.setdefault(unit.stems, near.word)
            if len(found) == _MEANT:
                break
        return list(found.values())

    def _asked(self, words: Iterable[str]) -> list[Unit]:
        """What finds the words, of those that stand anywhere."""
        units = map(self._unit_of, words)
        return [unit for unit in units if unit is not None and unit.rows]


def as_in_files(respelt: str, shown: Iterable[str], words: Tokenizer) -> str:
    """A correction as it is written in the files: with its accents and, in the middle of a word, its capitals.
    ``shown``: what was found there."""
    data = respelt.encode("utf-8", "replace")
    tokens = words(data)
    wanted = {token for _, _, token in tokens}
    written: dict[str, str] = {}
    for text in shown:
        encoded = text.encode("utf-8", "replace")
        for start, end, token in words(encoded):
            if token in wanted:
                written.setdefault(token, encoded[start:end].decode())
    made, at = "", 0
    for start, end, token in tokens:
        typed = data[start:end].decode()
        made += data[at:start].decode() + (_as_written(written[token], typed) if token in written else typed)
        at = end
    return made + data[at:].decode()


def _as_written(word: str, typed: str) -> str:
    plain = word.islower() or word.isupper() or word.istitle()
    return _in_case(word.lower(), typed) if plain else word


def _in_case(word: str, typed: str) -> str:
    """A word as it would have been typed."""
    if len(typed) > 1 and typed.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if typed[0].isupper() else word
