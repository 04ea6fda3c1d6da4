"""Cuts the part of a chunk that shows why it matched.

Invariant: a snippet is a verbatim slice of the text, no longer than requested, and its highlights lie inside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.highlight import Span

# The end of a sentence, the signs that may close it, and the blanks after it (Chinese and Japanese have none).
_SENTENCE_END: Final = re.compile(r"[.!?…][\"'”’»)\]]*(?=\s)|[。！？][」』”’）]*")
_NEAR: Final = 24  # characters to search for a border between words
_FULL: Final = 3  # words of a line that a snippet should have
_BEGINNING: Final = 3  # characters that the forms of a word have in common


class Snippet(NamedTuple):
    """``text[start:end]`` in code points, with the highlights relative to ``start``; ``line`` counts line feeds
    before it."""

    start: int
    end: int
    line: int
    highlights: list[Span]


def cut(text: str, spans: Sequence[Span], max_chars: int, shown: Span | None = None) -> Snippet:
    """Return the slice of ``text`` around its densest matches, cut at line borders; a line longer than ``max_chars``
    is cut at the borders of sentences, else of words.

    Blank lines at either end and the last line's end are left out. ``spans`` are sorted and disjoint; the slice has
    ``shown`` if that is not too long. The cost grows with the length of the snippet, not of the text.
    """
    begin, end = _filled(text)
    start, stop = begin, end
    if end - begin > max_chars:
        shown = None if shown is None or shown[1] - shown[0] > max_chars else shown
        near = spans if shown is None else sorted({shown, *spans})
        start, stop = _densest(text, near, begin, end, max_chars, shown)
        if stop - start > max_chars:
            start, stop = _inside(text, start, stop, near, max_chars, shown)
        else:
            start, stop = _grown(text, start, stop, (begin, end), max_chars)
    inside = [(max(a, start) - start, min(b, stop) - start) for a, b in spans if a < stop and b > start]
    return Snippet(start, stop, text.count("\n", 0, start), inside)


def line_span(text: str, number: int) -> Span:
    """Return the span of a line, counted from 0, without the blanks around it."""
    start = 0
    for _ in range(number):
        start = text.find("\n", start) + 1
    line = text[start : _line_end(text, start)]
    return start + len(line) - len(line.lstrip()), start + len(line.rstrip())


def _filled(text: str) -> Span:
    """Return the span from the first line that is not blank to the end of the last one; empty if all are blank."""
    begin = len(text) - len(text.lstrip())
    if begin == len(text):
        return 0, 0
    return _line_start(text, begin), _line_end(text, len(text.rstrip()))


def in_fullest_line(text: str, spans: Sequence[Span]) -> int:
    """Return where the first match is in the line with most of the matched words, the first such line."""
    return _fullest(text, spans)[0]


def matches_of_full_line(text: str, spans: Sequence[Span]) -> Span | None:
    """Return where the matches begin and end in the line with most of the matched words, the first such line; None
    where that has fewer than three."""
    begin, end, words = _fullest(text, spans) if len(spans) >= _FULL else (0, 0, 0)
    return (begin, end) if words >= _FULL else None


def _fullest(text: str, spans: Sequence[Span]) -> tuple[int, int, int]:
    """Return where the matches begin and end in the line with most of the matched words, the first such line, and how
    many words these are. Words that begin alike count as forms of one."""
    lines: list[tuple[int, int, set[str]]] = []  # of each its first and last match, and the beginnings of its words
    end = -1
    for start, stop in spans:
        if start > end:
            lines.append((start, stop, set()))
            end = _line_end(text, start)
        begin, _, words = lines[-1]
        words.add(text[start : min(stop, start + _BEGINNING)].lower())
        lines[-1] = begin, stop, words
    begin, last, words = max(lines, key=lambda line: len(line[2]))
    return begin, last, len(words)


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def _line_end(text: str, at: int) -> int:
    """Return the end of the line that contains ``at``, before its line feed and carriage return."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1] == "\r" else end


def _has(start: int, stop: int, shown: Span | None) -> bool:
    return shown is None or (start <= shown[0] and shown[1] <= stop)


def _densest(text: str, spans: Sequence[Span], begin: int, end: int, max_chars: int, shown: Span | None) -> Span:
    """Return the whole lines with most matches that fit: at least one line, however long."""
    lines: list[Span] = []
    for a, b in spans:
        if lines and b <= lines[-1][1]:  # in the same line as the previous match
            lines.append(lines[-1])
        elif a < end and b > begin:
            lines.append((_line_start(text, a), _line_end(text, max(a, b - 1))))
    if not lines:
        return begin, _line_end(text, begin)
    best, most, first = lines[0], 0, 0
    for last, (_, stop) in enumerate(lines):
        while first < last and stop - lines[first][0] > max_chars:
            first += 1
        if last - first + 1 > most and _has(lines[first][0], stop, shown):
            best, most = (max(begin, lines[first][0]), min(end, stop)), last - first + 1
    return best


def _grown(text: str, start: int, stop: int, whole: Span, max_chars: int) -> Span:
    """Add as many lines around these as fit."""
    begin, end = whole
    grows_up = grows_down = True
    while grows_up or grows_down:
        # The heading or signature above says more than the lines below: add one line above for each line below.
        if grows_down:
            feed = text.find("\n", stop, end)
            below = _line_end(text, feed + 1) if feed >= 0 else stop
            grows_down = feed >= 0 and below - start <= max_chars
            stop = below if grows_down else stop
        if grows_up:
            above = _line_start(text, start - 1) if start > begin else start
            grows_up = start > begin and stop - above <= max_chars
            start = above if grows_up else start
    return start, stop


def _inside(text: str, start: int, end: int, spans: Sequence[Span], max_chars: int, shown: Span | None) -> Span:
    """Return a slice of one long line around its densest matches: whole sentences if they fit."""
    here = [(a, b) for a, b in spans if a < end and b > start] or [(start, start)]
    best, most, begin = (here[0][0], here[0][1]), 0, 0
    for place, (_, stop) in enumerate(here):
        while begin < place and stop - here[begin][0] > max_chars:
            begin += 1
        if place - begin + 1 > most and _has(here[begin][0], stop, shown):
            best, most = (here[begin][0], stop), place - begin + 1
    first, last = max(best[0], start), min(best[1], max(best[0], start) + max_chars)
    free = max(0, max_chars - (last - first))
    left = _left_border(text, start, max(start, min(first - free // 2, end - max_chars)), first)
    return left, _right_border(text, end, min(end, left + max_chars), max(last, left + max_chars // 2))


def _left_border(text: str, start: int, left: int, first: int) -> int:
    """Return the first border from ``left`` on and before the match that begins at ``first``."""
    if left == start:
        return left
    ended = _SENTENCE_END.search(text, left, first)
    if ended is not None:
        blank = ended.end()
        while blank < first and text[blank].isspace():
            blank += 1
        return blank
    gap = text.find(" ", left, min(left + _NEAR, first))
    return gap + 1 if gap >= 0 else left


def _right_border(text: str, end: int, right: int, last: int) -> int:
    """Return the last border up to ``right`` and after the match that ends at ``last``."""
    if right >= end:
        return end
    ends = [match.end() for match in _SENTENCE_END.finditer(text, last, right)]
    if ends:
        return ends[-1]
    gap = text.rfind(" ", max(last, right - _NEAR), right)
    return gap if gap > last else right
