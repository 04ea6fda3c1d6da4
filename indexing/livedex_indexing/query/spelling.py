"""Finds the words of the index that a misspelt word may mean.

Invariant: each word found is no stop word, occurs in a file that is indexed now, and is at most `mistakes_allowed`
away. The cost is at most a walk through the words that begin with one letter, whatever was typed; nothing is kept in
memory.

A mistake is a letter too many, too few or wrong, or two neighbours exchanged. All that one mistake with the word's own
alphabet makes is looked up first: a few hundred words. Only if none of them is in the index, a long word is compared
with all words of the index whose first letter is its own, or whose beginning is one mistake away.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.sql import WRITTEN_WORDS
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
    is_near = False
    for near in _in_use(reader, _one_mistake_away(reader, word)):
        is_near = True
        yield near
    if not is_near and mistakes_allowed(word) > 1:
        yield from _in_use(reader, _two_mistakes_away(reader, word))


def _one_mistake_away(reader: Reader, word: str) -> Iterator[tuple[Near, int]]:
    """Yield the words that one mistake makes with letters like those of the word, each with its number of contents."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    letters = {other for letter in word for other in _alphabet(letter)}
    made = {before + after[1:] for before, after in cuts if after}
    made.update(before + after[1] + after[0] + after[2:] for before, after in cuts if len(after) > 1)
    made.update(before + letter + after[cut:] for before, after in cuts for letter in letters for cut in (0, 1))
    for term, contents in reader.rows(WRITTEN_WORDS, (json.dumps(sorted(made - {word}), ensure_ascii=False),)):
        yield Near(term, 1), contents


def _two_mistakes_away(reader: Reader, word: str) -> Iterator[tuple[Near, int]]:
    """Yield the words two mistakes away that begin like the word, each with its number of contents."""
    letters = frozenset(word)
    lengths = (len(word) - 2, len(word) + 2)
    beginnings = [(begin, begin + _LAST, *lengths) for begin in {*_beginnings(word), word[0]}]
    for term, contents in reader.rows_of_each(_BETWEEN, beginnings):
        # Each mistake adds and removes at most one letter: this test leaves one word in fifty.
        is_alike = len(letters.difference(term)) <= 2 and len(set(term).difference(letters)) <= 2
        if is_alike and distance(word, term, 2) == 2:
            yield Near(term, 2), contents


def _in_use(reader: Reader, found: Iterable[tuple[Near, int]]) -> Iterator[Near]:
    """Yield those of the words that are no stop words and occur in a file that is indexed now, those in most contents
    first."""
    words = {
        (-contents, near.word): near
        for near, contents in found
        if near.word.isalpha() and near.word not in STOP_WORDS and not RUN.search(near.word)
    }
    reader.check()
    for _, near in sorted(words.items()):
        if reader.one(IN_USE, (f'"{near.word}"',)):
            yield near


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
    """Return the letters that may have been meant instead, in lower case where there is case."""
    start = ord(letter) // _BLOCK * _BLOCK
    return [chr(code) for code in range(start, start + _BLOCK) if chr(code).isalpha() and not chr(code).isupper()]
