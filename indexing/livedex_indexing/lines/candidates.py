"""Finds the contents that may match a pattern, by the words of the index.

Invariant: a content with a matching line is always among them. Where the index cannot tell (too many words contain a
piece, or a content was added after the words were read), every content is.

The tokenizer cuts a string into words: a word in its middle is whole, one at its edge may be a piece of a longer word.
The index has neither case nor diacritics, so a letter is looked up in every form it may have there.

Words that are adjacent in the pattern are adjacent in the line, and the postings have stems in the order of the text.
Where the words alone leave many contents, a phrase leaves few. A phrase may cross the border of two chunks if that
splits a line: then the second chunk begins with one of its words, or with the end of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import islice, product
from math import prod
from typing import Final, NamedTuple

import re2

from livedex_indexing.lines.required_literals import RequiredLiterals
from livedex_indexing.lines.vocabulary import ROWS_WITH, Words
from livedex_indexing.rank.postings import contents_matching
from livedex_indexing.store.database import id_list
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.letters import NON_JOINER
from livedex_indexing.text.unsegmented import to_bigrams

TOO_MANY: Final = 1_000  # words that contain a piece: beyond, it is not selective
MOST_WORDS: Final = 5_000  # words that contain a piece: beyond, reading files is quicker than looking all of them up
LOOKUPS: Final = 64  # strings to look up for one pattern
FEW: Final = 16  # contents: reading them is quicker than further lookups
MANY: Final = 100  # contents: with as many left, phrases are looked up too
ALTERNATIVES: Final = 3  # a phrase costs 50 to 200 µs, as much as reading this many contents
LONGEST_PHRASE: Final = 16  # words
MOST_PHRASES: Final = 1_000  # of one pattern
_FORMS: Final = 8  # ways to write one piece

_FOLDING = "SELECT id FROM contents WHERE folds AND id IN (SELECT value FROM json_each(?))"
_BEGINNING = "SELECT rowid FROM postings WHERE postings MATCH ?"
_CONTENTS_OF = "SELECT DISTINCT content_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"

# All ranges that have letters with case; `_cased` picks them.
_CASED_RANGES: Final = (
    (0xB5, 0x590), (0x10A0, 0x1100), (0x13A0, 0x1400), (0x1C80, 0x1CC0), (0x1D79, 0x2000), (0x2126, 0x2185),
    (0x24B6, 0x24EA), (0x2C00, 0x2D30), (0xA640, 0xA7FF), (0xAB53, 0xABC0), (0xFB05, 0xFB07), (0xFF21, 0xFF5B),
    (0x10400, 0x10600), (0x10C80, 0x10D90), (0x118A0, 0x118E0), (0x16E40, 0x16EE0), (0x1E900, 0x1E944),
)  # fmt: skip


class WordPiece(NamedTuple):
    """A word or a piece of one. ``forms``: the ways it may be written. ``begins`` and ``ends``: whether it is known to
    begin and to end a word, or may go on there. ``follows``: only signs and blanks separate it from the piece
    before."""

    forms: tuple[str, ...]
    begins: bool
    ends: bool
    follows: bool = False


class MatchingWords(NamedTuple):
    """Contents and a piece of a word: ``sure`` have it in some case, of ``possible`` others may; None: any may."""

    sure: frozenset[int]
    possible: frozenset[int] | None


def contents_with(reader: Reader, piece: str, words: Words) -> MatchingWords:
    """Return the contents that have a piece of a word, an ASCII text in lower case. Raises DeadlinePassed."""
    containing = list(islice(words.containing(piece.encode(), begins=False, ends=False), MOST_WORDS + 1))
    looked_up = [piece] if len(containing) > MOST_WORDS else containing
    found: set[int] = set()
    for start in range(0, len(looked_up), TOO_MANY):
        match = " OR ".join(_quoted(looked_up[start : start + TOO_MANY]))
        found.update(row for (row,) in reader.rows(ROWS_WITH, (match,)))
    sure = found.difference(row for (row,) in reader.rows_of(_FOLDING, found))
    if len(containing) > MOST_WORDS:
        return MatchingWords(frozenset(sure), None)
    return MatchingWords(frozenset(sure), frozenset(found | words.unknown_contents(reader)))


def candidates(reader: Reader, required: RequiredLiterals, words: Words) -> set[int] | None:
    """Return the ids of the contents up to ``words.newest`` that may match; None when the index cannot tell. Raises
    DeadlinePassed."""
    return _Lookup(reader, words).find(required)


class _Lookup:
    """The lookups for one pattern."""

    def __init__(self, reader: Reader, words: Words) -> None:
        self._reader = reader
        self._words = words
        self._known: dict[str, frozenset[int] | None] = {}
        self._phrases = MOST_PHRASES

    def find(self, required: RequiredLiterals) -> set[int] | None:
        if required.strings:
            return _united(self._containing(string) for string in sorted(required.strings))
        if required.any_of:
            return _united(self.find(part) for part in required.parts)
        found: set[int] | None = None
        for part in sorted(required.parts, key=_selectivity, reverse=True):
            if found is not None and len(found) <= FEW:
                break
            containing = self.find(part)
            if containing is not None:
                found = containing if found is None else found & containing
        return found

    def _containing(self, string: str) -> frozenset[int] | None:
        if string not in self._known:
            if len(self._known) >= LOOKUPS:
                return None
            self._known[string] = self._find_string(string)
        return self._known[string]

    def _find_string(self, string: str) -> frozenset[int] | None:
        """Return the contents with a word for each piece of the string, adjacent where the pieces are."""
        pieces = [(piece, self._words_of(piece)) for piece in word_pieces(string, self._reader)]
        tests = [words for _, words in pieces if words is not None]
        if not tests:
            return None
        if not all(tests):
            return frozenset()
        match = " AND ".join(sorted({f"({' OR '.join(_quoted(words))})" for words in tests}))
        found = frozenset(row[0] for row in self._reader.rows(ROWS_WITH, (match,)))
        for phrase in phrases(pieces):
            most = min(self._phrases, len(found) // ALTERNATIVES)
            ways = prod(map(len, phrase))
            if len(found) > MANY and ways <= most:
                self._phrases -= ways
                found &= self._with_adjacent(phrase, most)
        return found

    def _with_adjacent(self, phrase: Sequence[Sequence[str]], most: int) -> set[int]:
        """Return the contents in which the words of a phrase may be adjacent. ``most``: limit of the words looked up at
        the borders of chunks."""
        reader, torn = self._reader, self._words.torn
        found = contents_matching(reader, f"body : ({' OR '.join(_quoted(map(' '.join, product(*phrase))))})")
        if not torn:
            return found
        ends = {word[at:] for place, words in enumerate(phrase) for word in words for at in range(not place, len(word))}
        if len(ends) <= most:
            begin = " OR ".join(f"^{end}" for end in _quoted(sorted(ends)))
            torn = torn.intersection(row for (row,) in reader.rows(_BEGINNING, (f"body : ({begin})",)))
        return found.union(row for (row,) in reader.rows(_CONTENTS_OF, (id_list(torn),)))

    def _words_of(self, piece: WordPiece) -> list[str] | None:
        """Return the words of the index that contain a piece; None when they are too many."""
        found: set[str] = set()
        for form in piece.forms:
            containing = self._words.containing(form.encode(), begins=piece.begins, ends=piece.ends)
            found.update(islice(containing, TOO_MANY + 1))
            if len(found) > TOO_MANY:
                return None
        return sorted(found)


def word_pieces(string: str, reader: Reader) -> list[WordPiece]:
    """Return the words and pieces of words in any text that contains the string."""
    pieces: list[WordPiece] = []
    forms: list[frozenset[str]] = []
    begins = False  # whether the piece under way is known to begin its word
    follows = False
    for char in string:
        found = _written(char, reader)
        if found:
            forms.append(found)
            continue
        parts = found is None
        made = _piece(forms, begins=begins, ends=parts, follows=follows)
        pieces += made
        follows = parts and (bool(made) or (follows and not forms))
        forms, begins = [], parts
    return pieces + _piece(forms, begins=begins, ends=False, follows=follows)


def phrases(pieces: Sequence[tuple[WordPiece, list[str] | None]]) -> list[list[list[str]]]:
    """Return sequences of adjacent words, each place with all the words it may have: first sequences of whole words,
    then each piece at an edge with the word next to it."""
    rows: list[list[list[str]]] = [[]]
    edges: list[list[list[str]]] = []
    before: list[str] | None = None
    for piece, words in pieces:
        whole = piece.begins and piece.ends
        forms = _as_in_postings(piece, words)
        if not (whole and forms and piece.follows) or len(rows[-1]) == LONGEST_PHRASE:
            rows.append([])
        if whole and forms:
            rows[-1].append(forms)
        if before and forms and piece.follows and not (whole and len(rows[-1]) > 1):
            edges.append([before, forms])
        before = forms
    return [row for row in rows if len(row) > 1] + edges


def _as_in_postings(piece: WordPiece, words: list[str] | None) -> list[str] | None:
    """Return the words that a piece may be part of, as the postings have them, next to another word; None if the
    postings may differ. ASCII is never changed, but a script without blanks splits a word."""
    if words is None or not "".join(piece.forms).isascii():
        return None
    if piece.begins and piece.ends:
        return words
    return sorted({to_bigrams(word).split()[-1 if piece.ends else 0] for word in words})


def _piece(forms: Sequence[frozenset[str]], *, begins: bool, ends: bool, follows: bool) -> list[WordPiece]:
    ways = 1
    for place, form in enumerate(forms):
        ways *= len(form)
        if ways > _FORMS:  # the ways multiply: cut the piece there and look up the rest by itself
            left = _piece(forms[:place], begins=begins, ends=False, follows=follows)
            return left + _piece(forms[place:], begins=False, ends=ends, follows=False)
    whole = tuple(sorted("".join(letters) for letters in product(*forms)))
    return [WordPiece(whole, begins, ends, follows)] if any(whole) else []


def _written(char: str, reader: Reader) -> frozenset[str] | None:
    """Return the forms that a letter may have in the index, ignoring case: None if it separates words, empty if
    this or something else is unknown."""
    if char.isascii():
        return frozenset({char.lower()}) if char.isalnum() else None
    if char == NON_JOINER:
        return frozenset()
    forms = {_indexed(one, reader) for one in _cases(char)}
    if forms == {None}:
        return None
    return frozenset(form for form in forms if form is not None) if None not in forms else frozenset()


def _indexed(char: str, reader: Reader) -> str | None:
    """Return the tokenizer's form of a character inside a word (empty for a diacritic); None if it separates words."""
    tokens = reader.words(f"a{char}a".encode())
    return tokens[0][2][1:-1] if len(tokens) == 1 else None


@lru_cache(1024)
def _cases(char: str) -> tuple[str, ...]:
    """Return the character and all that differ from it only in case, by re2's rules."""
    options = re2.Options()
    options.case_sensitive = False
    found = re2.findall(re2.escape(char), _cased(), options)
    return tuple({char, *found})


@cache
def _cased() -> str:
    chars = (chr(code) for low, high in ((0x41, 0x7B), *_CASED_RANGES) for code in range(low, high))
    return "".join(char for char in chars if char.lower() != char or char.upper() != char)


def _selectivity(required: RequiredLiterals) -> int:
    """Return how selective a requirement is likely to be: the length of its shortest string."""
    return min(map(len, required.strings)) if required.strings else 0


def _quoted(words: Iterable[str]) -> list[str]:
    return [f'"{word}"' for word in words]


def _united(sets: Iterable[frozenset[int] | set[int] | None]) -> set[int] | None:
    found: set[int] = set()
    for one in sets:
        if one is None:
            return None
        found |= one
    return found
