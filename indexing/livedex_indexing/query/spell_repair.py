"""Replaces misspelt words of a query by near words of the index.

Invariant: a word that occurs in a text or a path is never replaced, and only the state of the index decides, so every
page of one generation is repaired alike. A search that does not ask to be fresh may use a recent state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice, product
from operator import itemgetter
from typing import Final

from livedex_indexing.query.joined_words import ways_apart
from livedex_indexing.query.query_parser import is_plain
from livedex_indexing.query.query_terms import STOP_WORDS, QueryTerm
from livedex_indexing.query.spelling import is_word, nearest
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.tokens import Tokenizer

REPAIRED: Final = 8  # words of a query that are spell-checked: 5 to 20 ms each
_MEANT: Final = 3  # replacements for one misspelt word, at most
_NAMES: Final = 9  # whole names that are tried, at most
_OF_TEXT: Final = 3  # letters of each word of a text that were typed as one, at least
_OF_PARTS: Final = 7 / 3  # … of each part of a name on average, if it was typed with other words: `is tri but e d`
_OTHER: Final = 0.5  # weight of each replacement but the nearest

Written = tuple[str, QueryTerm]  # a word as it was typed


class Repair:
    """The spelling repair of one query. ``others``: the terms added for a misspelt word besides the nearest one."""

    def __init__(
        self, reader: Reader, counts: WordCounts, term_of: Callable[[str], QueryTerm | None], *, fresh: bool
    ) -> None:
        """``fresh``: use the words of this generation only."""
        self._reader = reader
        self._counts = counts
        self._fresh = fresh
        self._term_of = term_of
        self._left = REPAIRED
        self.others: set[QueryTerm] = set()
        self.respelt: dict[str, str] = {}

    def of(self, word: str, tokens: Sequence[Sequence[Written]], *, alone: bool = False) -> list[QueryTerm]:
        """Return the terms to search for. ``tokens``: for each token of the word, the whole token, then its parts.
        ``alone``: the word is the whole query, so that it rather is one misspelt name than the parts of it."""
        respelt, at = "", 0
        terms: list[QueryTerm] = []
        for token in tokens:
            typed = token[0][0]
            start = word.index(typed, at)
            spelt, found = self._of_token(*token, alone=alone)
            respelt += word[at:start] + spelt
            at = start + len(typed)
            terms += found
        respelt += word[at:]
        if respelt == word or not all(map(is_plain, respelt.split())):
            return [term for token in tokens for _, term in token]
        self.respelt[word] = respelt
        return terms

    def of_name(self, word: str, tokens: Sequence[Written]) -> list[QueryTerm]:
        """Return the term of the name that the whole ``word`` is meant to be: the index has the name, and the word's
        missing tokens are near those of the name. Nothing where there is no such name."""
        choices: list[Sequence[str]] = []
        for typed, term in tokens:
            if self._left and self.is_missing(term):
                self._left -= 1
                choices.append([_in_case(near, typed) for near in self._near(term.tokens[0], fresh=self._fresh)])
            else:
                choices.append([typed])
        for spelt in islice(product(*choices), _NAMES):
            respelt, at = "", 0
            for (typed, _), chosen in zip(tokens, spelt, strict=True):
                start = word.index(typed, at)
                respelt += word[at:start] + chosen
                at = start + len(typed)
            respelt += word[at:]
            named = self._term_of(respelt)
            if respelt != word and named is not None and (named.rows or named.files) and is_plain(respelt):
                self.respelt[word] = respelt
                return [named]
        return []

    def _of_token(self, whole: Written, *parts: Written, alone: bool) -> tuple[str, list[QueryTerm]]:
        """Return the spelling of a token and its terms. A token whose parts all occur in the index is no mistake."""
        typed, term = whole
        missing = self.is_missing(term)
        if missing and (alone or not (parts and all(part.rows or part.files for _, part in parts))):
            apart = self._apart(typed, alone=alone) if self._left else ""
            if apart:
                return apart, [each for part in apart.split() if (each := self._term_of(part)) is not None]
            meant = self._meant(term)
            if meant:
                return _in_case(meant[0].tokens[0], typed), meant
        spelt, at = "", 0
        terms = [] if missing and parts else [term]
        for text, part in parts:
            meant = self._meant(part) if self.is_missing(part) else []
            start = typed.index(text, at)
            spelt += typed[at:start] + (_in_case(meant[0].tokens[0], text) if meant else text)
            at = start + len(text)
            terms += meant or [part]
        return spelt + typed[at:], terms

    def is_missing(self, term: QueryTerm) -> bool:
        """Whether a term is a single word that occurs in no served chunk and in no path."""
        if term.rows or term.files or len(term.tokens) > 1 or term.is_stop_word or term.unsegmented:
            return False
        return is_word(term.tokens[0])

    def _meant(self, term: QueryTerm) -> list[QueryTerm]:
        """Return the words that a missing word may mean, all equally near: those in most files first, one for each
        stem."""
        if not self._left:
            return []
        self._left -= 1  # for a cached word too: a query must mean the same each time
        words = self._near(term.tokens[0], fresh=self._fresh)
        meant = self._in_index(words)
        if words and not meant:  # the cached words have left the index meanwhile
            meant = self._in_index(self._near(term.tokens[0], fresh=True))
        if not meant:
            return []
        # A rare word is more often a mistake in a file than the intended word: its rarity must not count.
        others = [other._replace(idf=_OTHER * min(meant[0].idf, other.idf)) for other in meant[1:]]
        self.others.update(others)
        return [meant[0], *others]

    def of_names(self, word: str, names: Sequence[str]) -> list[QueryTerm]:
        """Return the terms of the names that a word likely means, the likeliest first."""
        terms = {name: term for name in names if (term := self._term_of(name)) is not None and term.rows}
        if terms:
            self.respelt[word] = next(iter(terms))
            self.others.update([*terms.values()][1:])
        return [*terms.values()]

    def of_joined(self, word: str) -> list[QueryTerm]:
        """Return the terms of the words that a word joins which is nowhere, if the index has them in a row."""
        apart = self._apart(word, alone=True) if word.isalnum() else ""
        terms = [term for part in apart.split() if (term := self._term_of(part)) is not None]
        if terms:
            self.respelt[word] = apart
        return terms

    def _apart(self, word: str, *, alone: bool) -> str:
        """Return the words that a missing word joins, as a text or as a name that is defined (``set_ok_port``); empty
        where they are nowhere in a row. Of several ways, the commonest text counts, or the likeliest name: that first,
        if the word is typed ``alone``. Among other words it is rather misspelt than a name of very short parts."""
        ways = ways_apart(word.lower(), partial(self._counts.contents_with, self._reader))
        if alone:
            return self._named(ways) or self._in_a_row(ways, word)
        likely = [way for way in ways if len(word) >= _OF_PARTS * len(way)]
        return self._in_a_row(ways, word) or self._named(likely)

    def _in_a_row(self, ways: Sequence[Sequence[str]], word: str) -> str:
        texts = [way for way in ways if len(min(way, key=len)) >= _OF_TEXT and STOP_WORDS.isdisjoint(way)]
        found = [(term.rows, way) for way in texts if (term := self._term_of(" ".join(way))) is not None]
        rows, text = max(found, key=itemgetter(0), default=(0, ()))
        return _in_case(" ".join(text), word) if rows else ""

    def _named(self, ways: Sequence[Sequence[str]]) -> str:
        named = (way for way in ways if self._reader.has_chunk(f'symbols : "{" ".join(way)}"'))
        return "_".join(next(named, ()))

    def _near(self, token: str, *, fresh: bool) -> list[str]:
        counts = self._counts
        return counts.meanings.of(token, counts.generation, self._find_near, fresh=fresh)

    def _find_near(self, token: str) -> list[str]:
        """Return the nearest words, one for each stem."""
        found: dict[tuple[str, ...], str] = {}
        for near in nearest(self._reader, token):
            for term in self._in_index([near.word]):
                found.setdefault(term.stems, near.word)
            if len(found) == _MEANT:
                break
        return list(found.values())

    def _in_index(self, words: Iterable[str]) -> list[QueryTerm]:
        """Return the terms for those of the words that occur in the index."""
        terms = map(self._term_of, words)
        return [term for term in terms if term is not None and term.rows]


def as_in_files(respelt: str, shown: Iterable[str], words: Tokenizer) -> str:
    """Write a correction as the files do: with accents and, inside a word, capitals. ``shown``: matched text from the
    files."""
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
    """Return a word in the case in which ``typed`` is written."""
    if len(typed) > 1 and typed.isupper():
        return word.upper()
    return word[0].upper() + word[1:] if typed[0].isupper() else word
