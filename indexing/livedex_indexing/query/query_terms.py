"""What a search looks for: words, prefixes and phrases, as plain data, and the FTS5 expressions that find them.

Invariant: a unit's expression is valid FTS5 by itself, so any number of them joined by OR is too.
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


class Unit(NamedTuple):
    """One thing asked: a word, a prefix, words that stand together (``foo_bar``), or a phrase.

    ``tokens`` are folded and not stemmed. ``rows`` is the number of chunks that hold it, ``files`` of paths. ``idf``
    is BM25's, of its rows among all. ``spaceless`` is what was typed where it holds a script without blanks between
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
    spaceless: str = ""
    paths: str = ""
    name: frozenset[str] = frozenset()

    @property
    def stop(self) -> bool:
        return len(self.tokens) == 1 and (self.tokens[0] in STOP_WORDS or is_letter(self.tokens[0]))


class Phrase(NamedTuple):
    """A phrase that a file must hold as written: ``text`` is what was typed, ``unit`` finds its candidates."""

    text: str
    unit: Unit


class Asked(NamedTuple):
    """What a search looks for. ``units`` in the order typed, stop words left out unless they stand alone; ``spoken``
    is the same with all stop words (for neighbours). ``total`` is Σ idf, never 0. ``cut``: words were left out.
    ``respelt``: what was typed and its correction, of each word that stands nowhere and has near ones; the units are
    those of the corrections, in ``spoken`` of the nearest alone. ``chunks`` is the number of all there are."""

    units: tuple[Unit, ...]
    spoken: tuple[Unit, ...]
    required: tuple[Unit, ...]
    phrases: tuple[Phrase, ...]
    excluded: tuple[Unit, ...]
    barred: tuple[Phrase, ...]
    total: float
    cut: bool
    respelt: tuple[tuple[str, str], ...] = ()
    chunks: int = 0

    @property
    def any_of(self) -> tuple[Unit, ...]:
        """What a file must hold one of: the words, or the phrases where there are no words."""
        return self.units or tuple(phrase.unit for phrase in self.phrases)

    @property
    def textual(self) -> bool:
        """Whether anything is looked for in texts and paths; otherwise the query lists what the filters admit."""
        return bool(self.units or self.phrases or self.required)


def any_of(units: Iterable[Unit]) -> str:
    """An FTS5 expression that any of the units satisfies."""
    return " OR ".join(unit.match for unit in units)


def any_path_of(units: Iterable[Unit]) -> str:
    """The same for the words of paths."""
    return " OR ".join(unit.paths or unit.match for unit in units)


def is_letter(token: str) -> bool:
    """A single letter of an alphabet; one character of Chinese or Japanese is a word."""
    return len(token) == 1 and ord(token) < 0x2E80
