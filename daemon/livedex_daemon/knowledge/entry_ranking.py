"""Puts what words and what vectors found in agent memory together.

Invariant: pure; an entry without a vector is neither better nor worse for it, as a chunk of a file.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Literal

from livedex_indexing.rank.fusion import reciprocal

Scores = Mapping[int, float]


def ranked(
    by_words: Scores, cosines: Scores, weight: float, fusion: Literal["score", "rrf", "none"], limit: int
) -> list[tuple[int, float]]:
    """Return the ids of the best entries with their scores. ``none``: the cosines alone count."""
    if fusion == "none":
        return _best(cosines, limit)
    found = dict.fromkeys((*by_words, *cosines))
    if fusion == "rrf":
        word_place = {entry: place for place, (entry, _) in enumerate(_best(by_words, len(by_words)), 1)}
        near_place = {entry: place for place, (entry, _) in enumerate(_best(cosines, len(cosines)), 1)}
        return _best({e: reciprocal(word_place.get(e)) + reciprocal(near_place.get(e)) for e in found}, limit)
    known = [cosines[entry] for entry in by_words if entry in cosines]
    usual = statistics.median(known) if known else 0.0
    return _best({e: by_words.get(e, 0.0) + weight * cosines.get(e, usual) for e in found}, limit)


def _best(scores: Scores, limit: int) -> list[tuple[int, float]]:
    """Return the best entries, of equal ones the newest first."""
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))[:limit]
