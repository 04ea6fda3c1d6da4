"""The spans in which rows are read: they cover all rows, with as few spans as is worthwhile."""

from __future__ import annotations

import json

import pytest

from livedex_indexing.query.query_terms import QueryTerm
from livedex_indexing.rank.spans import spans

LAST = 100_000


def term(rows: int, *, prefix: bool = False) -> QueryTerm:
    return QueryTerm('"walrus"', ("walrus",), ("walru",), prefix, rows, 0, 1.0)


def bounds(ids: list[int], *terms: QueryTerm) -> list[list[int]]:
    found: list[list[int]] = json.loads(spans(ids, terms, LAST).json)
    return found


def test_ids_near_each_other_share_a_span() -> None:
    assert bounds([7, 50_001, 5, 50_000, 6], term(LAST)) == [[5, 7], [50_000, 50_001]]


@pytest.mark.parametrize("words", [[], [term(0)], [term(3)]])
def test_rows_of_rare_words_are_walked_through_at_one_go(words: list[QueryTerm]) -> None:
    assert bounds([90_000, 1, 500], *words) == [[1, 90_000]]


def test_the_commoner_the_words_the_shorter_the_way_that_is_walked() -> None:
    ids = list(range(0, LAST, 500))
    assert len(bounds(ids, term(100))) == 1
    assert len(bounds(ids, term(LAST))) == len(ids)


def test_a_prefix_is_gathered_once() -> None:
    assert bounds([1, 90_000], term(LAST), term(LAST, prefix=True)) == [[1, 90_000]]


def test_a_span_costs_its_beginning_and_the_rows_in_it() -> None:
    near, far = spans([1, 2], [term(LAST)], LAST), spans([1, 2, 90_000], [term(LAST)], LAST)
    assert 0 < near.cost_us < far.cost_us < spans([1, 2, 90_000], [term(LAST)] * 2, LAST).cost_us


def test_nothing_is_looked_for_nowhere() -> None:
    assert spans([], [term(5)], 0) == ("[]", 0.0)
