"""Where rows are looked for: in spans that hold them all, as few as it pays to have."""

from __future__ import annotations

import json

import pytest

from livedex_indexing.query.query_terms import Unit
from livedex_indexing.rank.spans import spans

LAST = 100_000


def unit(rows: int, *, prefix: bool = False) -> Unit:
    return Unit('"walrus"', ("walrus",), ("walru",), prefix, rows, 0, 1.0)


def bounds(ids: list[int], *units: Unit) -> list[list[int]]:
    found: list[list[int]] = json.loads(spans(ids, units, LAST).json)
    return found


def test_ids_near_each_other_share_a_span() -> None:
    assert bounds([7, 50_001, 5, 50_000, 6], unit(LAST)) == [[5, 7], [50_000, 50_001]]


@pytest.mark.parametrize("words", [[], [unit(0)], [unit(3)]])
def test_rows_of_rare_words_are_walked_through_at_one_go(words: list[Unit]) -> None:
    assert bounds([90_000, 1, 500], *words) == [[1, 90_000]]


def test_the_commoner_the_words_the_shorter_the_way_that_is_walked() -> None:
    ids = list(range(0, LAST, 500))
    assert len(bounds(ids, unit(100))) == 1
    assert len(bounds(ids, unit(LAST))) == len(ids)


def test_a_prefix_is_gathered_once() -> None:
    assert bounds([1, 90_000], unit(LAST), unit(LAST, prefix=True)) == [[1, 90_000]]


def test_a_span_costs_its_beginning_and_the_rows_in_it() -> None:
    near, far = spans([1, 2], [unit(LAST)], LAST), spans([1, 2, 90_000], [unit(LAST)], LAST)
    assert 0 < near.cost_us < far.cost_us < spans([1, 2, 90_000], [unit(LAST)] * 2, LAST).cost_us


def test_nothing_is_looked_for_nowhere() -> None:
    assert spans([], [unit(5)], 0) == ("[]", 0.0)
