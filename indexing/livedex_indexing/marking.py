"""Finds in a text what a query matched: words by their stems, words that stand together, phrases as written.

Invariant: places are code points of the text, half-open, sorted and disjoint, and a word counts as matched exactly
when the index would find it, because the index's own tokenizer reads both.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from livedex_indexing.asked import Unit
from livedex_indexing.terms import parts_of

Span = tuple[int, int]
Token = tuple[int, int, str]  # a word of a text: start and end in code points, and as the index has it
Tokenizer = Callable[[bytes], list[tuple[int, int, str]]]

_MIXED: Final = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
_SPACE: Final = re.compile(r"\s+")


def tokens_of(text: str, tokenizer: Tokenizer) -> list[Token]:
    encoded = text.encode("utf-8", "replace")
    found = tokenizer(encoded)
    if len(encoded) == len(text):
        return found
    tokens: list[Token] = []
    chars = at = 0
    for start, end, token in found:
        chars += len(encoded[at:start].decode("utf-8", "replace"))
        length = len(encoded[start:end].decode("utf-8", "replace"))
        tokens.append((chars, chars + length, token))
        chars, at = chars + length, end
    return tokens


class WrittenPhrase:
    """A phrase as written: the same words next to each other, unstemmed, case and diacritics aside.

    Punctuation that the phrase has must stand there too, blanks aside; between words that the phrase parts by blanks
    alone any separators may stand, so that a line break or a comment sign does not part them.
    """

    def __init__(self, text: str, words: Tokenizer) -> None:
        self._words = words
        tokens = tokens_of(text, words)
        self._tokens = [token[2] for token in tokens]
        self._gaps = _gaps(text, tokens)

    def places(self, text: str) -> list[Span]:
        """Where the phrase stands in a text."""
        tokens, length = tokens_of(text, self._words), len(self._tokens)
        if not length:
            return []
        found = []
        for place in range(len(tokens) - length + 1):
            piece = tokens[place : place + length]
            if [token[2] for token in piece] == self._tokens and self._gaps_fit(text, piece):
                found.append((piece[0][0], piece[-1][1]))
        return found

    def _gaps_fit(self, text: str, piece: Sequence[Token]) -> bool:
        first, *between, last = self._gaps
        before, after = text[: piece[0][0]], text[piece[-1][1] :]
        if first and not _SPACE.sub("", before[-4 * len(first) - 8 :]).endswith(first):
            return False
        if last and not _SPACE.sub("", after[: 4 * len(last) + 8]).startswith(last):
            return False
        gaps = (text[left[1] : right[0]] for left, right in pairwise(piece))
        return all(not wanted or _SPACE.sub("", gap) == wanted for wanted, gap in zip(between, gaps, strict=True))


class Marker:
    """What of a text to highlight for a query."""

    def __init__(self, units: Iterable[Unit], phrases: Sequence[WrittenPhrase], stems: Tokenizer) -> None:
        self._stems = stems
        self._phrases = phrases
        units = list(units)
        self._single = {unit.stems[0] for unit in units if len(unit.stems) == 1 and not unit.prefix}
        self._prefixes = tuple(unit.stems[0] for unit in units if len(unit.stems) == 1 and unit.prefix)
        self._rows = [unit for unit in units if len(unit.stems) > 1]
        # A stem keeps the beginning of its word, of a short one all but the last letter.
        self._begin = {stem[: max(1, min(4, len(stem) - 1))] for stem in self._single | set(self._prefixes)}

    def spans(self, text: str) -> list[Span]:
        tokens = tokens_of(text, self._stems)
        single, prefixes = self._single, self._prefixes
        found = [(start, end) for start, end, token in tokens if token in single]
        if prefixes:
            found += [(start, end) for start, end, token in tokens if token.startswith(prefixes)]
        if self._begin:
            found += self._parts(text, tokens)
        for unit in self._rows:
            places = [place for place, token in enumerate(tokens) if token[2] == unit.stems[0]]
            found += [span for place in places if (span := _row_at(tokens, place, unit)) is not None]
        for phrase in self._phrases:
            found += phrase.places(text)
        return merged(found)

    def _parts(self, text: str, tokens: list[Token]) -> list[Span]:
        """The parts of words like ``getHTTPResponse`` that are asked for; the index has a column for them."""
        changes = [match.start() for match in _MIXED.finditer(text)]
        if not changes:
            return []
        starts = [token[0] for token in tokens]
        held = {bisect_right(starts, change) - 1 for change in changes}
        found: list[Span] = []
        for place in sorted(held):
            if place >= 0 and not self._is_wanted(tokens[place][2]):
                found += self._parts_of(text, tokens[place])
        return found

    def _parts_of(self, text: str, token: Token) -> list[Span]:
        start, end, _ = token
        word = text[start:end]
        if word.isascii() and not any(begin in word.lower() for begin in self._begin):
            return []
        found, at = [], start
        for part in parts_of(word):
            at = text.index(part, at)
            if any(self._is_wanted(stem) for _, _, stem in self._stems(part.encode())):
                found.append((at, at + len(part)))
            at += len(part)
        return found

    def _is_wanted(self, token: str) -> bool:
        return token in self._single or token.startswith(self._prefixes)


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same places, sorted, those that overlap as one."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _row_at(tokens: Sequence[Token], place: int, unit: Unit) -> Span | None:
    piece = tokens[place : place + len(unit.stems)]
    if len(piece) < len(unit.stems) or [token[2] for token in piece[:-1]] != list(unit.stems[:-1]):
        return None
    last, wanted = piece[-1][2], unit.stems[-1]
    fits = last.startswith(wanted) if unit.prefix else last == wanted
    return (piece[0][0], piece[-1][1]) if fits else None


def _gaps(text: str, tokens: Sequence[Token]) -> list[str]:
    """What stands before, between and behind the words, without blanks."""
    edges = [0, *(edge for token in tokens for edge in token[:2]), len(text)]
    return [_SPACE.sub("", text[edges[i] : edges[i + 1]]) for i in range(0, len(edges), 2)]
