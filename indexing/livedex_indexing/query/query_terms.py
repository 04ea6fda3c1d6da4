"""What a search looks for: words, prefixes and phrases, as plain data, and the FTS5 expressions that find them.

Invariant: a term's expression is valid FTS5 by itself, so any number of them joined by OR is too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

# Words that say nothing about what is looked for: articles, pronouns, prepositions, auxiliaries, and what people put
# around a question. Taken from ranking.md's recipe: leaving them out gains .01 and two thirds of the time.
_STOP_TEXT: Final = """
a about above across after again against all also although always am among an and another any anyone anything are around
as at be because been before being below between both but by can cannot could did do does doing don done down during
each either else etc ever every few find for from further get gets getting had has have having he hence her here hers
him his how however i if in into is it its itself just least less let like make many may me might more most much must my
need needs neither no nor not now of off often on once one only onto or other others our out over own per please rather
same shall she should show since so some such than that the their them then there these they thing this those through
thus to together too toward under until up upon us use used uses using very via want wants was way we well were what
whatever when where whether which while who whom whose why will with within without would yes yet you your explain
"""
STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


class QueryTerm(NamedTuple):
    """One thing asked: a word, a prefix, words that stand together (``foo_bar``), or a phrase.

    ``tokens`` are folded and not stemmed. ``rows`` is the number of chunks that hold it, ``files`` of paths. ``idf``
    is BM25's, of its rows among all. ``unsegmented`` is what was typed where it holds a script without blanks between
    words: its tokens are pairs of characters then, and it is marked by the characters. Of what may be a path
    (``net/tun.c``) ``paths`` finds the files there, and ``name`` has the stems of its last part.
    """

    match: str
    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    prefix: bool
    rows: int
    files: int
    idf: float
    unsegmented: str = ""
    paths: str = ""
    name: frozenset[str] = frozenset()

    @property
    def is_stop_word(self) -> bool:
        return len(self.tokens) == 1 and (self.tokens[0] in STOP_WORDS or is_letter(self.tokens[0]))


class Phrase(NamedTuple):
    """A phrase that a file must hold as written: ``text`` is what was typed, ``term`` finds its candidates."""

    text: str
    term: QueryTerm


class CompiledQuery(NamedTuple):
    """What a search looks for. ``terms`` in the order typed, stop words left out unless they stand alone; ``spoken``
    is the same with all stop words (for neighbours). ``total`` is Σ idf, never 0. ``cut``: words were left out.
    ``respelt``: what was typed and its correction, of each word that stands nowhere and has near ones; the terms are
    those of the corrections, in ``spoken`` of the nearest alone. ``chunks`` is the number of all there are."""

    terms: tuple[QueryTerm, ...]
    spoken: tuple[QueryTerm, ...]
    required: tuple[QueryTerm, ...]
    phrases: tuple[Phrase, ...]
    excluded: tuple[QueryTerm, ...]
    excluded_phrases: tuple[Phrase, ...]
    total: float
    cut: bool
    respelt: tuple[tuple[str, str], ...] = ()
    chunks: int = 0

    @property
    def any_of(self) -> tuple[QueryTerm, ...]:
        """What a file must hold one of: the words, or the phrases where there are no words."""
        return self.terms or tuple(phrase.term for phrase in self.phrases)

    @property
    def textual(self) -> bool:
        """Whether anything is looked for in texts and paths; otherwise the query lists what the filters admit."""
        return bool(self.terms or self.phrases or self.required)


def any_of(terms: Iterable[QueryTerm]) -> str:
    """An FTS5 expression that any of the terms satisfies."""
    return " OR ".join(term.match for term in terms)


def any_path_of(terms: Iterable[QueryTerm]) -> str:
    """The same for the words of paths."""
    return " OR ".join(term.paths or term.match for term in terms)


def is_letter(token: str) -> bool:
    """A single letter of an alphabet; one character of Chinese or Japanese is a word."""
    return len(token) == 1 and ord(token) < 0x2E80
