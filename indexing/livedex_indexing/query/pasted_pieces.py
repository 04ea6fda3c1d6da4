"""Tells how much of a pasted text another text has: of a piece of a diff, of a line of a log with other values.

Invariant: pure; words decide, whatever signs and blanks are between them, and their case.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from livedex_indexing.query.inner_text import messages_inside

_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"\b(?:0x)?(?=[a-f]*\d)[\da-f]+\b", re.IGNORECASE)
_VALUE: Final = re.compile(r"(?<!\w)(?:'[^' ]+'|\"[^\" ]+\"|(?:/[\w.-]+){2,})")  # in quotes, or a path
_LEFT_OUT: Final = re.compile(r"\.{3}|…")
_ROW: Final = 3  # words in a row, at least: two are together by chance
_LEAST: Final = 4  # words that another text must have
_MOST: Final = 0.5  # … and their share of the pasted ones; .6 and .4: the same
_WINDOW: Final = 4  # words in a row that are looked up

Share = Callable[[str], float]


def may_have_other_parts(text: str) -> bool:
    """Whether a text, if it was pasted, may stand elsewhere with other numbers or lines, or with what was left out."""
    is_left_out = any(map(_WORD.search, parts[1:])) if len(parts := _LEFT_OUT.split(text)) > 1 else False
    has_value = _NUMBER.search(text) is not None or _VALUE.search(text) is not None
    return "\n" in text.strip() or has_value or is_left_out or bool(messages_inside(text))


def lines_of(text: str) -> list[str]:
    """Return the parts of a text between its ends of lines, and what was left out."""
    return [part for line in text.splitlines() for part in _LEFT_OUT.split(line)]


def share_of(text: str) -> Share | None:
    """Return what tells how much of a text another one has, between 0 and 1: the share of the words that are there at
    least three in a row, counted from the beginning, from that of a message in a report, or from behind a value on; 0
    for less than half of them. A word with a digit, in quotes or of a path is a value: it does not count. None for a
    text of few words, and for one that has no other parts elsewhere."""
    words, is_value = _words_and_values(text)
    if is_value.count(False) < _LEAST or not may_have_other_parts(text):
        return None
    typed = _rows(words)
    starts = {0, *(len(words) - len(_WORD.findall(message)) for message in messages_inside(text))}

    def share(other: str) -> float:
        there = set(_rows(_WORD.findall(other.lower())))
        having = {place for start, row in enumerate(typed) if row in there for place in range(start, start + _ROW)}
        best, had, wanted = 0.0, 0, 0
        for place in reversed(range(len(words)) if len(having) >= _LEAST else ()):
            had += place in having and not is_value[place]
            wanted += not is_value[place]
            if had >= _LEAST and (place in starts or is_value[place - 1]):
                best = max(best, had / wanted)
        return best if best >= _MOST else 0.0

    return share


def _words_and_values(text: str) -> tuple[list[str], list[bool]]:
    """Return the words of a text in lower case, and whether each is a value."""
    values = [found.span() for found in _VALUE.finditer(text)]
    words = list(_WORD.finditer(text))
    is_value = [_is_value(word[0]) or _is_inside(word.end(), values) for word in words]
    return [word[0].lower() for word in words], is_value


def _is_inside(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether one of some spans, in order, has a place inside or at its end."""
    before = bisect_left(spans, (place, 0))
    return before > 0 and place <= spans[before - 1][1]


def windows(lines: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Yield the rows of words by which the lines of a text may be found: those between its values, and of a line with
    nothing else all rows."""
    for words in lines:
        cuts = [-1, *(place for place, word in enumerate(words) if _is_value(word)), len(words)]
        runs = [words[start + 1 : end] for start, end in pairwise(cuts)]
        for run in [run for run in runs if len(run) >= _ROW] or [words]:
            if len(run) >= _ROW:
                yield from (run[at : at + _WINDOW] for at in range(max(1, len(run) - _WINDOW + 1)))


def _rows(words: Sequence[str]) -> list[tuple[str, str, str]]:
    return list(zip(words, words[1:], words[2:], strict=False))


def _is_value(word: str) -> bool:
    return any(map(str.isdigit, word))
