"""What a backend of a plugin may return as hits; anything else is an error that says what it was."""

from __future__ import annotations

import pytest

from livedex_indexing.plugins import Hit
from livedex_indexing.search.foreign_ranking import RankingFailed, checked


def test_hits_as_the_protocol_says_pass() -> None:
    hits = [Hit("/a", 0, 2.0), Hit("/a", None, 1, start_line=3, end_line=4)]
    assert checked(hits, 2) == hits


@pytest.mark.parametrize(
    ("hits", "reason"),
    [
        (None, "NoneType, not a list"),
        ([None], "a list of NoneType"),
        ([Hit("/a", 0, float("nan"))], "the score nan"),
        ([Hit("/a", None, 1.0)], "without a place"),
        ([Hit("/a", None, 1.0, start_line=10**30, end_line=10**30)], "without a place"),
        ([Hit("/a", 0, 1.0)] * 1_000_000, "it returns 1,000,000 hits, though at most 10 were wanted"),
    ],
)
def test_nonsense_is_named(hits: object, reason: str) -> None:
    with pytest.raises(RankingFailed, match=reason):
        checked(hits, 10)
