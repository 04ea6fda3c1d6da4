"""Tells how alike a line of a text is to a pasted one that is not there as it was typed: a name or a number in it is
another one, a word is missing, the signs differ, or it is a message whose line has places for values.

Invariant: pure; linear in the texts but for lines that have most words of the pasted one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W\d]\w*")  # numbers are values
LEAST: Final = 3  # words of a line, and of those that another line has
_MOST: Final = 40  # … of a longer one only the first count
_SHARE: Final = 0.6  # of the pasted words that a line must have in their order
_OTHERS: Final = 0.1  # what the other words of a line cost, at most

Likeness = Callable[[str], float]


def likeness_of_line(text: str, fewest: int = LEAST) -> Likeness | None:
    """Return what tells how much of a line another text has in one of its lines, between 0 and 1: the share of its
    words, in their order, a little less the more other words are there; 0 for less than three fifths or three
    words, of more words than ``fewest`` also for less than these. None for a text of few words or of several lines."""
    typed = _words(text)
    if len(typed) < LEAST or "\n" in text.strip():
        return None
    wanted, least = Counter(typed), max(fewest if len(typed) > fewest else LEAST, _SHARE * len(typed))

    def value(common: int, words: int) -> float:
        return common / len(typed) - _OTHERS * (1 - common / words)

    def likeness(other: str) -> float:
        best = 0.0
        for line in other.splitlines():
            words = _words(line)
            shared = (wanted & Counter(words)).total() if len(words) >= least else 0
            if shared >= least and value(shared, len(words)) > best:  # it may be better
                common = _common(typed, words)
                best = max(best, value(common, len(words)) if common >= least else 0.0)
        return best

    return likeness


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())[:_MOST]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return how many words two lines have in the same order (the longest common subsequence)."""
    row = [0] * (len(right) + 1)
    for word in left:
        before, row = row, [0]
        for place, other in enumerate(right):
            row.append(before[place] + 1 if word == other else max(before[place + 1], row[place]))
    return row[-1]
