"""Finds what a query matched in a text: words by their stems, compound words, and phrases as written.

Invariant: spans are half-open, in code points, sorted and disjoint. A word counts as matched exactly when the index
would find it, because the index's own tokenizer reads both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Final

from livedex_indexing.query.query_terms import QueryTerm
from livedex_indexing.query.typed_span import TypedSpan
from livedex_indexing.text.terms import compounds, parts_of
from livedex_indexing.text.tokens import ByteToken, Runs, Tokenizer, beginning_of, candidates, followed, in_code_points
from livedex_indexing.text.unsegmented import RUN, finder, folded, mask_runs, phrase_finder

Span = tuple[int, int]

_MIXED: Final = re.compile(rb"[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z]")
_SPACE: Final = re.compile(r"\s+")


class WrittenPhrase:
    """A phrase as written: the same words next to each other, unstemmed, ignoring case and diacritics.

    Punctuation in the phrase must also be in the text, ignoring blanks. Where the phrase separates words by blanks
    alone, the text may have any separators, so that a line break or a comment sign does not break a match. A phrase of
    punctuation only (``->``), or in a script without blanks between words, matches its exact characters, ignoring case.
    """

    def __init__(self, text: str, words: Tokenizer) -> None:
        text = folded(text)[0]
        data = text.encode("utf-8", "replace")
        tokens = words(data)
        self._runs = Runs(words)
        self._tokens = [token[2] for token in tokens]
        self._gaps = _gaps(data, tokens)
        self._pattern: re.Pattern[str] | None = None
        if not tokens or RUN.search(text):
            self._pattern = phrase_finder(text)

    def places(self, text: str) -> list[Span]:
        """Return the spans of the phrase in a text."""
        plain, places = folded(text)
        if self._pattern is not None:
            return _unfolded([match.span() for match in self._pattern.finditer(plain)], places)
        data = mask_runs(plain).encode("utf-8", "replace")
        found = self._places_in_bytes(data)
        return found if len(data) == len(text) else _unfolded(in_code_points(data, merged(found)), places)

    def _places_in_bytes(self, data: bytes) -> list[Span]:
        found = []
        for run in candidates(data, (self._tokens[0].encode("utf-8", "replace"),)):
            for piece in _rows_at(self._runs, data, run, self._tokens):
                if piece[-1][2] == self._tokens[-1] and self._gaps_fit(data, piece):
                    found.append((piece[0][0], piece[-1][1]))
        return found

    def _gaps_fit(self, data: bytes, piece: Sequence[ByteToken]) -> bool:
        first, *between, last = self._gaps
        if first and not _plain(data[max(0, piece[0][0] - 16 * len(first) - 32) : piece[0][0]]).endswith(first):
            return False
        if last and not _plain(data[piece[-1][1] : piece[-1][1] + 16 * len(last) + 32]).startswith(last):
            return False
        gaps = (data[left[1] : right[0]] for left, right in pairwise(piece))
        # A zero byte replaces Chinese, Thai …: it is a word, not a separator.
        return all(
            _plain(gap) == wanted if wanted else b"\0" not in gap for wanted, gap in zip(between, gaps, strict=True)
        )


class Highlighter:
    """Finds the spans of a text to highlight for a query. Scripts without blanks between words match by exact
    characters. ``typed``: what finds the query as it was typed."""

    def __init__(
        self,
        terms: Iterable[QueryTerm],
        phrases: Sequence[WrittenPhrase],
        stems: Tokenizer,
        typed: TypedSpan | None = None,
    ) -> None:
        self._runs = Runs(stems)
        self._typed = typed
        self._phrases = phrases
        every = list(dict.fromkeys(terms))
        self._finders = [finder(term.unsegmented, prefix=term.prefix) for term in every if term.unsegmented]
        terms = [term for term in every if not term.unsegmented]
        self._single = {term.stems[0] for term in terms if len(term.stems) == 1 and not term.prefix}
        self._single.update(stem for term in terms for _, stem in term.forms)
        self._prefixes = tuple(term.stems[0] for term in terms if len(term.stems) == 1 and term.prefix)
        self._rows = [term for term in terms if len(term.stems) > 1]
        self._begin = {beginning_of(stem) for stem in self._single.union(self._prefixes)}
        self._known: dict[bytes, list[Span]] = {}

    def typed(self, text: str, language: str = "") -> Span | None:
        """Return where a text, in a language, has the query as it was typed, None if nowhere."""
        return None if self._typed is None else self._typed.find(text, language)

    def spans(self, text: str) -> list[Span]:
        plain, places = folded(text)
        data = mask_runs(plain).encode("utf-8", "replace")
        found: list[Span] = []
        for start, end in candidates(data, self._begin) if self._begin else ():
            run = data[start:end]
            known = self._known.get(run)
            if known is None:
                known = self._known[run] = self._of_run(run)
            for left, right in known:
                found.append((start + left, start + right))
        for term in self._rows:
            found += self._of_row(data, term)
        placed = merged(found)
        if len(data) != len(text):
            placed = in_code_points(data, placed)
        if "-" in plain and self._begin:
            placed = merged([*placed, *self._joined(plain)])
        if not text.isascii():
            placed += [match.span() for pattern in self._finders for match in pattern.finditer(plain)]
            placed = _unfolded(placed, places)
        elif not self._phrases:
            return placed
        phrases = [span for phrase in self._phrases for span in phrase.places(text)]
        return merged([*placed, *phrases])

    def _of_run(self, run: bytes) -> list[Span]:
        """Return the matches in one run: its words, or else the parts of words like ``getHTTPResponse``, for which the
        index has a column."""
        found: list[Span] = []
        for start, end, token in self._runs.of(run):
            if self._is_wanted(token):
                found.append((start, end))
            elif _MIXED.search(run, start, end):
                found += self._parts_of(run, start, end)
        return found

    def _parts_of(self, run: bytes, start: int, end: int) -> list[Span]:
        found, at = [], start
        for part in parts_of(run[start:end].decode("utf-8", "replace")):
            encoded = part.encode()
            at = run.index(encoded, at)
            if any(self._is_wanted(stem) for _, _, stem in self._runs.of(encoded)):
                found.append((at, at + len(encoded)))
            at += len(encoded)
        return found

    def _joined(self, text: str) -> Iterator[Span]:
        """Yield the spans of hyphenated words that match as one word."""
        for start, end, word in compounds(text):
            if any(self._is_wanted(stem) for _, _, stem in self._runs.of(word.encode())):
                yield start, end

    def _of_row(self, data: bytes, term: QueryTerm) -> list[Span]:
        """Return the spans where words are adjacent as they are in the query (``foo_bar``)."""
        found: list[Span] = []
        first, second, *_ = map(beginning_of, term.stems)
        for run in followed(data, candidates(data, (first,)), second):
            for piece in _rows_at(self._runs, data, run, term.stems):
                last = piece[-1][2]
                if last.startswith(term.stems[-1]) if term.prefix else last == term.stems[-1]:
                    found.append((piece[0][0], piece[-1][1]))
        return found

    def _is_wanted(self, token: str) -> bool:
        return token in self._single or token.startswith(self._prefixes)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the spans sorted, with overlapping ones merged."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _rows_at(runs: Runs, data: bytes, run: Span, row: Sequence[str]) -> Iterator[list[ByteToken]]:
    """Yield each sequence of words that are those of the row up to its last one, whatever that is, and that begins in
    the run."""
    for place, token in enumerate(runs.of(data[slice(*run)])):
        if token[2] == row[0]:
            piece: list[ByteToken] = []
            for word in islice(runs.tokens(data, run[0]), place, None):
                piece.append(word)
                if len(piece) == len(row):
                    yield piece
                    break
                if word[2] != row[len(piece) - 1]:
                    break


def _unfolded(spans: list[Span], places: Sequence[int] | None) -> list[Span]:
    """Convert spans of a folded text to spans of the text itself."""
    return spans if places is None else [(places[start], places[end]) for start, end in spans]


def _plain(data: bytes) -> str:
    """Return the text without blanks; a character cut at an edge is dropped."""
    return _SPACE.sub("", data.decode("utf-8", "ignore"))


def _gaps(data: bytes, tokens: Sequence[ByteToken]) -> list[str]:
    """Return the text before, between and after the words, without blanks."""
    edges = [0, *(edge for token in tokens for edge in token[:2]), len(data)]
    return [_plain(data[edges[i] : edges[i + 1]]) for i in range(0, len(edges), 2)]
