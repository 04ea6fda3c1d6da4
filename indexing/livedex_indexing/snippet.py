"""Cuts the piece of a chunk that shows why it matched.

Invariant: a snippet is a verbatim slice of the text, at most so long as asked, and its highlights lie inside it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from livedex_indexing.marking import Span


class Snippet(NamedTuple):
    """``text[start:end]`` in code points, with the highlights relative to ``start``; ``line`` counts line feeds
    before it."""

    start: int
    end: int
    line: int
    highlights: list[Span]


def cut(text: str, spans: Sequence[Span], max_chars: int) -> Snippet:
    """The slice of ``text`` around its densest matches, at line borders unless a line is longer than ``max_chars``.

    Blank lines at either end and the last line's end are left out. ``spans`` are sorted and disjoint.
    """
    lines = _lines(text)
    if not lines:
        return Snippet(0, 0, 0, [])
    first, last = _window(lines, spans, max_chars)
    start, end = lines[first][0], lines[last][1]
    if end - start > max_chars:
        start, end = _inside(text, start, end, spans, max_chars)
    inside = [(max(a, start) - start, min(b, end) - start) for a, b in spans if a < end and b > start]
    return Snippet(start, end, text.count("\n", 0, start), inside)


def _lines(text: str) -> list[Span]:
    """The lines without their ends, from the first to the last that is not blank."""
    lines: list[Span] = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line.removesuffix("\r"))))
        at += len(line) + 1
    filled = [number for number, (start, end) in enumerate(lines) if not text[start:end].isspace() and end > start]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def _window(lines: Sequence[Span], spans: Sequence[Span], max_chars: int) -> tuple[int, int]:
    """The first and last line: those with most matches that fit, then as many around them as fit."""
    first, last = _densest(lines, spans, max_chars)
    grows_up = grows_down = True
    while grows_up or grows_down:
        # The heading or signature above says more than what follows: look up once for every line down.
        grows_down = grows_down and last + 1 < len(lines) and lines[last + 1][1] - lines[first][0] <= max_chars
        last += grows_down
        grows_up = grows_up and first > 0 and lines[last][1] - lines[first - 1][0] <= max_chars
        first -= grows_up
    return first, last


def _densest(lines: Sequence[Span], spans: Sequence[Span], max_chars: int) -> tuple[int, int]:
    counts: dict[int, int] = {}
    starts = [start for start, _ in lines]
    for a, b in spans:
        for line in range(max(0, bisect_right(starts, a) - 1), bisect_left(starts, b)):
            if a < lines[line][1] and b > lines[line][0]:
                counts[line] = counts.get(line, 0) + 1
    held = sorted(counts.items())
    if not held:
        return 0, 0
    best, most, begin, count = (held[0][0], held[0][0]), 0, 0, 0
    for line, more in held:
        count += more
        while begin < len(held) and held[begin][0] < line and lines[line][1] - lines[held[begin][0]][0] > max_chars:
            count -= held[begin][1]
            begin += 1
        if count > most:
            best, most = (held[begin][0], line), count
    return best


def _inside(text: str, start: int, end: int, spans: Sequence[Span], max_chars: int) -> Span:
    """A slice of one long line around its densest matches."""
    here = [(a, b) for a, b in spans if a < end and b > start]
    if not here:
        return start, start + max_chars
    best, most, begin = (here[0][0], here[0][1]), 0, 0
    for place, (_, stop) in enumerate(here):
        while begin < place and stop - here[begin][0] > max_chars:
            begin += 1
        if place - begin + 1 > most:
            best, most = (here[begin][0], stop), place - begin + 1
    room = max(0, max_chars - (best[1] - best[0]))
    left = max(start, min(best[0] - room // 2, end - max_chars))
    right = min(end, left + max_chars)
    if left > start:  # not in the middle of a word, where one begins close by
        gap = text.find(" ", left, min(left + 24, best[0]))
        left = gap + 1 if gap >= 0 else left
    return left, right
