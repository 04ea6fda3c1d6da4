"""Parses what a user typed: words, phrases, prefixes, exclusions and terms.

Invariant: every text is a query. Anything but the forms below is plain text, and no character has any other meaning.

    words            at least one of them
    "a phrase"       all of its words, as written
    prefix*          at least two characters before the star
    -word -"phrase"  excludes files that contain it; a dash before a quote that is not closed excludes nothing
    path:X ext:X lang:X kind:X tag:X meta:KEY meta:KEY=X, and -path:X …; X and KEY may be quoted
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeVar, cast, get_args

from livedex_indexing.model import Term, TermName
from livedex_indexing.query.command_options import has_option
from livedex_indexing.query.typed_name import IN_PARTS
from livedex_indexing.text.terms import parts_of

QUERY_BYTES: Final = 4096  # the rest of a longer query is ignored
_TERM_NAMES: Final = frozenset(get_args(TermName))
_MIN_PREFIX: Final = 2
_VALUE: Final = re.compile(r"\"[^\"\s]+\"[,;.)\]}]|[=(\[] ?\"[^\"\s]+\"")  # in a message or in code: want "x", is = "y"
_OWNED: Final = re.compile(r"\"\\?\w+(?:(?:\\|::|->)\w+)+(?:\(\))?\"")  # in a message: Class "App\\Tree" not found
_SENTENCE: Final = 10  # words: a query of so many is a text
_TEXT: Final = 6  # … and may be one
_SHORT_TEXT: Final = 3  # … with a bare word: neither in quotes nor excluded …
_LONG_NAME: Final = 4  # words that are joined
_IN_A_HASH: Final = 2  # letters that may belong to a hash
_QUOTING: Final = 2  # … and nothing excluded
_ERROR: Final = re.compile(r"(?:\d{1,3}|E[A-Z\d]{2,})\W*")  # -22, -EINVAL
_OPTION: Final = re.compile(r"[A-Za-z]\d?\W*|[A-Za-z][\w-]*=\S*")  # -m, -O2, -std=c99: of a command
_KEY: Final = re.compile(r"[^\s=]+")
_NAME: Final = re.compile(r"\w+")
_SHAPED: Final = re.compile(IN_PARTS, re.ASCII)
_T = TypeVar("_T")


class ParsedQuery(NamedTuple):
    """The parts of a query, each in the order written; a word as often as it was typed. Excluded phrases keep their
    double quotes. ``cut``: the query was longer than `QUERY_BYTES`."""

    words: tuple[str, ...]
    excluded: tuple[str, ...]
    phrases: tuple[str, ...]
    terms: tuple[Term, ...]
    cut: bool


class PlainReading(NamedTuple):
    """A query whose quotes and dashes are punctuation: its words, those in quotes and the excluded ones too; and the
    query that means this, with the terms. ``least``: so many words may be a text where the query finds nothing.
    ``is_piece``: it was copied from somewhere: it has several lines, such as a diff, or would exclude a letter, as a
    command with an option does (``tar -x``), another option of a command (``go test -run``), or nothing but numbers of
    errors (``reading it failed with -22``)."""

    words: str
    query: str
    least: int = 1
    is_piece: bool = False

    @property
    def is_sentence(self) -> bool:
        """Whether this is a text rather than words chosen for a search."""
        return self.is_piece or len(self.words.split()) >= _SENTENCE

    @property
    def may_be_text(self) -> bool:
        """Whether this is to be tried where the query finds nothing."""
        return len(self.words.split()) >= self.least


def parse(text: str) -> ParsedQuery:
    """Parse a query. Never raises."""
    encoded = text.encode("utf-8", "replace")  # a lone surrogate is no character: it becomes a question mark
    parsed = _parsed(encoded[:QUERY_BYTES])
    return parsed._replace(cut=True) if len(encoded) > QUERY_BYTES else parsed


@lru_cache(maxsize=32)  # a search parses its query several times, and its words
def _parsed(text: bytes) -> ParsedQuery:
    items = _Items(text.decode("utf-8", "ignore"))
    items.read()
    unique = (tuple(items.words), _unique(items.excluded), _unique(items.phrases), _unique(items.terms))
    return ParsedQuery(*unique, cut=False)


def ends_in_word(text: str) -> bool:
    """Whether a query ends in a word: not in a blank, a quoted text, an excluded word or a term."""
    items = _Items(text)
    items.read()
    return bool(items.starts) and items.starts[-1] + len(items.words[-1]) == len(text)


def is_plain(word: str) -> bool:
    """Whether a word of a query is plain text rather than one of the other forms."""
    return parse(word).words == (word,)


def with_words(text: str, instead: Mapping[str, str]) -> str:
    """Return the first `QUERY_BYTES` of a query with some words replaced."""
    items = _read(text)
    made, at = "", 0
    for word, start in zip(items.words, items.starts, strict=True):
        made += items.text[at:start] + instead.get(word, word)
        at = start + len(word)
    return made + items.text[at:]


def without_signs(text: str) -> PlainReading:
    """Take the quotes and dashes of a query for punctuation. Its terms stay."""
    items = _read(text)
    plain = _plain(text for text, is_term in items.pieces if not is_term)
    terms = [text for text, is_term in items.pieces if is_term]
    return PlainReading(" ".join(plain), " ".join([*plain, *terms]), _least(items), _is_piece(items))


def bare(text: str) -> str:
    """Return a query as it was typed, but without its terms."""
    items = _read(text)
    edges = [0, *(edge for span in items.terms_at for edge in span), len(items.text)]
    pieces = (items.text[edges[at] : edges[at + 1]].strip() for at in range(0, len(edges), 2))
    return " ".join(filter(None, pieces)) if items.terms_at else text


def without_terms(text: str) -> PlainReading | None:
    """Take terms inside a text for words of it, too; None where no term is inside one."""
    items = _read(text)
    kinds = [is_term for _, is_term in items.pieces]
    if len(items.words) < _TEXT or kinds[0] or kinds[-1] or True not in kinds:
        return None
    plain = " ".join(_plain(text for text, _ in items.pieces))
    return PlainReading(plain, plain)


def in_parts(text: str) -> PlainReading | None:
    """Take the words in a name that no file has for words; None where the query is no name of four words and more.
    Numbers and single letters tell nothing, nor do two letters beside a number: nothing is left of a hash."""
    pieces = text.strip().split("_") if _NAME.fullmatch(text.strip()) else ()
    parts = [
        part.lower()
        for piece in pieces
        for part in parts_of(piece) or [piece]
        if part.isalpha() and part[1 if piece.isalpha() else _IN_A_HASH :]
    ]
    words = " ".join(parts)
    return PlainReading(words, words) if len(parts) >= _LONG_NAME else None


def _read(text: str) -> _Items:
    items = _Items(text.encode("utf-8", "replace")[:QUERY_BYTES].decode("utf-8", "ignore"))
    items.read()
    return items


def _plain(texts: Iterable[str]) -> list[str]:
    words = " ".join(texts).replace('"', " ").split()
    return " ".join(word if is_plain(word) else word.lstrip("-").replace(":", " ") for word in words).split()


def _is_piece(items: _Items) -> bool:
    if "\n" in items.text.strip():
        return True
    if not items.text.lstrip().startswith("-") and any(map(_OPTION.fullmatch, items.excluded)):
        return bool(items.words)
    if has_option(items.words, items.excluded):
        return True
    if items.phrases and len(items.words) >= _SHORT_TEXT and _VALUE.search(items.text):
        return True
    if items.phrases and len(items.words) >= _QUOTING and _OWNED.search(items.text):
        return True
    is_error = bool(items.excluded) and all(map(_ERROR.fullmatch, items.excluded))
    return is_error and len(items.words) >= _SHORT_TEXT


def _least(items: _Items) -> int:
    """Return how many words a query needs to be a text."""
    if items.terms:
        return _TEXT
    if len(items.phrases) == 1 and not items.words and not items.excluded and _SHAPED.fullmatch(items.phrases[0]):
        return 1  # a name from a file that has it in quotes, which other files write otherwise
    if not any(character.isalnum() for word in items.words for character in word):
        return 1 if items.words and items.excluded and not items.phrases else _TEXT  # nothing is there to exclude from
    return _SHORT_TEXT if items.excluded else _QUOTING


def is_prefix(word: str) -> bool:
    """Whether a word of a query matches all words that begin with it: one star, at the end, after two characters or
    more."""
    stem = word[:-1]
    return word.endswith("*") and "*" not in stem and len(stem) >= _MIN_PREFIX and stem[-1].isalnum()


def is_phrase(text: str) -> bool:
    """Whether an entry of ``excluded`` is a phrase."""
    return len(text) > 1 and text[0] == text[-1] == '"'


class _Items:
    """One pass over the text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._at = 0
        self.words: list[str] = []
        self.starts: list[int] = []  # where each word begins
        self.excluded: list[str] = []
        self.phrases: list[str] = []
        self.terms: list[Term] = []
        self.terms_at: list[tuple[int, int]] = []  # where each term is
        self.pieces: list[tuple[str, bool]] = []  # all of it, words of phrases and excluded ones too; whether a term

    def read(self) -> None:
        text = self.text
        while self._at < len(text):
            if text[self._at].isspace():
                self._at += 1
                continue
            excluded = text[self._at] == "-" and self._can_exclude(self._at + 1)
            self._at += excluded
            start = self._at - excluded
            if self._phrase(excluded):
                continue
            if self._term(excluded):
                self.terms_at.append((start, self._at))
                self.pieces.append((text[start : self._at], True))
            else:
                if not excluded:
                    self.starts.append(self._at)
                (self.excluded if excluded else self.words).append(self._run())
                self.pieces.append(((self.excluded if excluded else self.words)[-1], False))

    def _can_exclude(self, at: int) -> bool:
        """Whether a dash excludes what follows at ``at``: ``--flag``, ``->``, a lone ``-`` and a dash before a quote
        that is not closed are plain text."""
        first = self.text[at : at + 1]
        return (
            first.isalnum() or first in ("_", ".") or (first == '"' and '"' in self.text[at + 1 :]) if first else False
        )

    def _phrase(self, excluded: bool) -> bool:
        inside = self._quoted(self._at)
        if inside is None:
            return False
        if inside.strip():
            self.pieces.append((inside, False))
            if excluded:
                self.excluded.append(f'"{inside}"')
            else:
                self.phrases.append(inside)
        return True

    def _term(self, excluded: bool) -> bool:
        name, colon, _ = self.text[self._at : self._at + 8].partition(":")
        if not colon or name not in _TERM_NAMES or self.text.startswith("::", self._at + len(name)):
            return False
        before, self._at = self._at, self._at + len(name) + 1
        value = self._property() if name == "meta" else self._value()
        if value is None:
            self._at = before
            return False
        if value.strip():
            self.terms.append(Term(cast("TermName", name), value, excluded))
        return True

    def _value(self) -> str | None:
        """Return a quoted text, or the text up to the next blank; None where there is neither."""
        value = self._quoted(self._at)
        return value if value is not None else self._run() or None

    def _property(self) -> str | None:
        """Return ``KEY`` or ``KEY=VALUE``, each quoted or not; None where there is none."""
        key = self._quoted(self._at)
        if key is None:
            found = _KEY.match(self.text, self._at)
            if found is None:
                return None
            key, self._at = found[0], found.end()
        if not self.text.startswith("=", self._at):
            return key
        self._at += 1
        return f"{key}={self._value() or ''}"

    def _quoted(self, start: int) -> str | None:
        """Return the quoted text that begins at ``start`` and move past it; None, without moving, where there is
        none."""
        if self.text[start : start + 1] != '"':
            return None
        end = self.text.find('"', start + 1)
        if end < 0:
            return None
        self._at = end + 1
        return self.text[start + 1 : end]

    def _run(self) -> str:
        start = self._at
        while self._at < len(self.text) and not self.text[self._at].isspace():
            self._at += 1
        return self.text[start : self._at]


def _unique(items: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(items))
