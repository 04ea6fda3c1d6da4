"""Finds the words of the index that a misspelt word may mean.

Invariant: each word found is no stop word, occurs in a file that is indexed now, and is at most `mistakes_allowed`
away. The cost is at most a walk through the words that begin with one letter, whatever was typed; nothing is kept in
memory.

A mistake is a letter too many, too few or wrong, or two neighbours exchanged. People mostly type the first letter
right: the search covers words with the same first letter, and those that one mistake in the first two letters leads to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.unsegmented import RUN

SHORTEST: Final = 4  # letters: too many words are near a shorter one
_TWO_MISTAKES: Final = (
    9  # letters, from which on two mistakes are allowed: two turn a shorter word into too many others
)
_LONGEST: Final = 64  # letters: anything longer is no word
_LAST: Final = "\U0010ffff"
_BLOCK: Final = 128  # code points: an alphabet's small letters lie in one or two such blocks

_BETWEEN: Final = """SELECT term, doc FROM temp.written
                     WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"""
IN_USE: Final = """SELECT 1 FROM exact JOIN contents t ON t.id = exact.rowid
                   WHERE exact MATCH ? AND t.unused_since IS NULL LIMIT 1"""


class Near(NamedTuple):
    """A word of the index, in lower case without diacritics, and its distance in mistakes."""

    word: str
    mistakes: int


def is_word(token: str) -> bool:
    """Whether a token may be a misspelt word: letters only, and enough of them."""
    return SHORTEST <= len(token) <= _LONGEST and token.isalpha()


def mistakes_allowed(word: str) -> int:
    return 2 if len(word) >= _TWO_MISTAKES else 1


def nearest(reader: Reader, word: str) -> Iterator[Near]:
    """Yield the words of the index nearest to a word that it does not have, those in most contents first. Raises
    DeadlinePassed and Cancelled."""
    begin = _beginnings(word)
    second = {word[:2], word[0] + word[2]}
    second.update(word[0] + letter + kept for letter in _alphabet(word[1]) for kept in word[1:3])
    least = 0
    # One mistake first: it takes a third of the time and is mostly enough.
    for most, beginnings in ((1, begin | second), (mistakes_allowed(word), begin | {word[0]})):
        for near in _found(reader, word, most, beginnings):
            if least and near.mistakes > least:
                return
            least = near.mistakes
            yield near
        if least:
            return


def _found(reader: Reader, word: str, most: int, beginnings: set[str]) -> Iterator[Near]:
    """Yield the words with these beginnings that are at most ``most`` mistakes away, nearest first."""
    letters = frozenset(word)
    lengths = (len(word) - most, len(word) + most)
    found: set[tuple[int, int, str]] = set()
    for term, contents in reader.rows_of_each(_BETWEEN, [(begin, begin + _LAST, *lengths) for begin in beginnings]):
        # Each mistake adds and removes at most one letter: this test leaves one word in fifty.
        if len(letters.difference(term)) <= most and len(set(term).difference(letters)) <= most and term.isalpha():
            away = distance(word, term, most)
            if 0 < away <= most and term not in STOP_WORDS and not RUN.search(term):
                found.add((away, -contents, term))
    reader.check()
    for away, _, term in sorted(found):
        if reader.one(IN_USE, (f'"{term}"',)):
            yield Near(term, away)


def distance(left: str, right: str, most: int) -> int:
    """Return the optimal string alignment distance (Damerau-Levenshtein without changing a letter twice); ``most`` + 1
    where it exceeds ``most``."""
    if abs(len(left) - len(right)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, letter in enumerate(left, 1):
        last, before, row = before, row, [i]
        for j, other in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if last and j > 1 and letter == right[j - 2] and left[i - 2] == other:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most and min(before) > most:
            return most + 1
    return min(row[-1], most + 1)


def _beginnings(word: str) -> set[str]:
    """Return the beginnings of words that one mistake in the first letter leads to."""
    first, rest = word[0], word[1:]
    begin = {rest[:2], rest[0] + first + rest[1]}  # one letter too many; exchanged
    for letter in _alphabet(first):
        begin.add(letter + rest[:2])  # wrong
        begin.add(letter + word[:2])  # too few
    return {text for text in begin if text[0] != first}


def _alphabet(letter: str) -> list[str]:
    """Return the lower-case letters that may have been meant instead."""
    start = ord(letter) // _BLOCK * _BLOCK
    return [chr(code) for code in range(start, start + _BLOCK) if chr(code).isalpha() and chr(code).islower()]
