"""Turns what was typed into FTS5 expressions over agent memory.

Invariant: every expression is valid FTS5, whatever was typed: each word is in quotes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from livedex_indexing.query.query_parser import is_phrase, is_prefix, parse
from livedex_indexing.query.query_terms import STOP_WORDS
from livedex_indexing.text.terms import hidden_words
from livedex_indexing.text.unsegmented import to_bigrams

MAX_WORDS: Final = 32  # words that count: the first ones


class MemoryQuery(NamedTuple):
    """``words``: an expression for each word, any of them may be found; ``required``: all must be; ``excluded``: none
    may be. ``text``: what was typed."""

    text: str
    words: tuple[str, ...]
    required: tuple[str, ...]
    excluded: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.required)

    def match(self) -> str:
        """Return the expression that finds the entries. Not for an empty query."""
        wanted = [f"({' OR '.join(self.words)})"] if self.words and not self.required else list(self.required)
        found = " AND ".join(wanted)
        return f"({found}) NOT ({' OR '.join(self.excluded)})" if self.excluded else found

    def ranking(self) -> str:
        """Return the expression whose words decide about the order. Not for an empty query."""
        return " OR ".join((*self.words, *self.required))


def memory_query(text: str) -> MemoryQuery:
    """Compile a query. Never raises."""
    parsed = parse(text)
    words = list(dict.fromkeys(parsed.words))
    content = [word for word in words if word.lower() not in STOP_WORDS and len(word) > 1] or words
    return MemoryQuery(
        text,
        _expressions(content),
        _expressions(f'"{phrase}"' for phrase in parsed.phrases),
        _expressions(parsed.excluded),
    )


def indexed_text(text: str) -> str:
    """Return a text as its words are indexed: scripts without blanks as pairs, with the parts of names."""
    return to_bigrams(f"{text} {hidden_words(text)}")


def _expressions(items: Iterable[str]) -> tuple[str, ...]:
    made = []
    for item in items:
        if is_phrase(item):
            made.append(_quoted(item[1:-1]))
        elif is_prefix(item):
            made.append(f"{_quoted(item[:-1])} *")
        else:
            made.append(_word(item))
    return tuple(expression for expression in made if any(map(str.isalnum, expression)))[:MAX_WORDS]


def _word(word: str) -> str:
    """Return the expression of a word: as it is typed, or the parts of a name next to each other."""
    parts = hidden_words(word)
    return f"({_quoted(word)} OR {_quoted(parts)})" if parts.strip() else _quoted(word)


def _quoted(text: str) -> str:
    return '"' + to_bigrams(text).replace('"', " ").replace("\0", " ") + '"'
