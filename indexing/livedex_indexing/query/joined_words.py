"""Takes words apart that were typed as one: ``setokport`` is ``set``, ``ok``, ``port``.

Invariant: each part is a word of the index, as it is written there; the likeliest ways come first.

The likeliest way has the highest product of the parts' frequencies, as in a unigram model of text (Norvig, "Natural
Language Corpus Data", in "Beautiful Data", 2009). A dynamic program keeps the best few ways to each letter.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final

SHORTEST: Final = 6  # letters of a word that is taken apart
LONGEST: Final = 48  # … the number of its parts grows with the square
_LONGEST_PART: Final = 24
_WAYS: Final = 8  # that are kept for each beginning
_COST: Final = math.log(1_000_000)  # of a part, less the logarithm of the number of contents that have it
_LETTER: Final = 4.0  # more for a single letter: every index has all of them


def ways_apart(word: str, contents_with: Callable[[Iterable[str]], Mapping[str, int]]) -> list[tuple[str, ...]]:
    """Return the likeliest ways to take a word apart into words of the index, at most eight, the likeliest first. The
    word is in lower case and without diacritics; one that is too short or too long has none. ``contents_with``: counts
    the contents with each of some words; without those that none has."""
    if not SHORTEST <= len(word) <= LONGEST:
        return []
    size = len(word)
    spans = [(start, end) for start in range(size) for end in range(start + 1, min(size, start + _LONGEST_PART) + 1)]
    parts = {word[start:end] for start, end in spans} - {word}
    costs = {
        term: _COST - math.log(contents) + (_LETTER if len(term) == 1 else 0.0)
        for term, contents in contents_with(parts).items()
    }
    best: list[list[tuple[float, tuple[str, ...]]]] = [[(0.0, ())], *([] for _ in word)]
    for start, end in spans:  # in the order of their starts: all ways to each start are known
        cost = costs.get(word[start:end])
        if cost is not None and best[start]:
            ways = [(before + cost, (*way, word[start:end])) for before, way in best[start]]
            best[end] = heapq.nsmallest(_WAYS, best[end] + ways)
    return [way for _, way in best[size]]
