"""What a search looks for: words, prefixes and phrases, as plain data, and the FTS5 expressions that find them.

Invariant: the expression of a term is valid FTS5 by itself, so terms joined by OR are valid too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from livedex_indexing.text.terms import is_letter

# Words without content: articles, pronouns, prepositions, auxiliaries, and the words people put around a question.
# From the recipe in ranking.md: leaving them out gains .01 in quality and saves two thirds of the time.
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
_SHORT: Final = 2  # characters
_MEMBER_ROWS: Final = 10_000  # chunks with a name whose definitions are looked up: FTS5 reads them all
STOP_WORDS: Final = frozenset(_STOP_TEXT.split())


class QueryTerm(NamedTuple):
    """One word, prefix, compound (``foo_bar``) or phrase to search for.

    ``tokens`` are folded and not stemmed. ``rows`` is the number of chunks that contain it, ``files`` the number of
    paths. ``idf`` is BM25's, of ``rows`` among all chunks. ``unsegmented`` is the typed text if it contains a script
    without blanks between words, else empty: the tokens are then pairs of characters, and highlighting works by
    characters. For a possible path (``net/tun.c``) ``paths`` finds the files at that path, and ``name`` has the stems
    of its last part. ``in_symbols``: only a definition of it matches. ``forms`` are other forms of a word, which
    ``match`` finds as well: (word, stem) of each.
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
    in_symbols: bool = False
    forms: tuple[tuple[str, str], ...] = ()

    @property
    def is_stop_word(self) -> bool:
        return (
            len(self.tokens) == 1
            and not self.in_symbols
            and (self.tokens[0] in STOP_WORDS or is_letter(self.tokens[0]))
        )


class Phrase(NamedTuple):
    """A phrase that a file must contain as written: ``text`` is what was typed, ``term`` finds the candidates."""

    text: str
    term: QueryTerm


class CompiledQuery(NamedTuple):
    """A query resolved against one index.

    ``terms`` are in the order typed, without stop words unless the query has no other words; ``spoken`` is the same
    with all stop words (for neighbours). ``excluded`` and ``excluded_phrases`` must not be in a file. ``total`` is Σ
    idf, never 0. ``cut``: some words were dropped. ``respelt`` has (typed, corrected) for each word that is not in the
    index and has near ones; ``terms`` then has the corrections, ``spoken`` only the nearest. ``chunks`` is the number
    of chunks in the index, ``lengths`` the usual length of those of each language, relative to all (see `WordCounts`).
    """

    terms: tuple[QueryTerm, ...]
    spoken: tuple[QueryTerm, ...]
    phrases: tuple[Phrase, ...]
    excluded: tuple[QueryTerm, ...]
    excluded_phrases: tuple[Phrase, ...]
    total: float
    cut: bool
    respelt: tuple[tuple[str, str], ...] = ()
    chunks: int = 0
    lengths: Mapping[int | None, float] = {}

    @property
    def any_of(self) -> tuple[QueryTerm, ...]:
        """The terms of which a file must contain at least one: the words, or the phrases if there are no words."""
        return self.terms or tuple(phrase.term for phrase in self.phrases)

    @property
    def textual(self) -> bool:
        """Whether the query searches texts and paths; otherwise it lists all files that pass the filters."""
        return bool(self.terms or self.phrases)


def readings(spoken: Sequence[QueryTerm]) -> tuple[list[QueryTerm], list[QueryTerm]]:
    """Return the terms in order in two readings: with a word like ``getHTTPResponse`` as a whole, and with its parts
    in its place. The parts follow the word."""
    whole: list[QueryTerm] = []
    in_parts: list[QueryTerm] = []
    at = 0
    while at < len(spoken):
        parts = _parts(spoken, at)
        whole.append(spoken[at])
        in_parts += parts or spoken[at : at + 1]
        at += 1 + len(parts)
    return whole, in_parts


def _parts(spoken: Sequence[QueryTerm], at: int) -> Sequence[QueryTerm]:
    """Return the terms behind a word that are its parts; none where it has none."""
    left, end = "".join(spoken[at].tokens), at + 1
    while left and end < len(spoken) and left.startswith(part := "".join(spoken[end].tokens)):
        left, end = left.removeprefix(part), end + 1
    return () if left or end < at + 3 else spoken[at + 1 : end]


def match_any(terms: Iterable[QueryTerm]) -> str:
    """Return an FTS5 expression for texts that matches any of the terms."""
    return " OR ".join(term.match for term in terms)


def match_member(own: QueryTerm, owner: QueryTerm | None) -> str:
    """Return an FTS5 expression for texts that define a name, or have it in its owner; empty for very common names."""
    matches = [f"symbols : {own.match}"] if own.rows <= _MEMBER_ROWS else []
    if owner is not None and owner.rows <= _MEMBER_ROWS:
        matches.append(f"(symbols : {owner.match} AND body : {own.match})")
    return f"({' OR '.join(matches)})" if matches else ""


def match_any_path(terms: Iterable[QueryTerm]) -> str:
    """Return an FTS5 expression for `paths` that matches any of the terms."""
    return " OR ".join(term.paths or term.match for term in terms)


def begins_too_much(tokens: Sequence[str]) -> bool:
    """Whether the last word of a name is so short that FTS5 would gather the places of very many words that begin so
    (``btf_s``: 150 ms of CPU in each statement, in an index of 23,000 files)."""
    return len(tokens) > 1 and len(tokens[-1]) <= _SHORT and "".join(tokens).isascii()
