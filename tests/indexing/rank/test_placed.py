"""Ranked files become one list of hits, in which no file takes all places."""

from __future__ import annotations

from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.rank.placed import DAMPING, PER_FILE, Placed, arrange, diversify
from livedex_indexing.rank.score import FIRST, Copy, Ranked


def ranked(content_id: int, score: float, *chunk_ids: int) -> Ranked:
    """A file whose chunks are all as good as the best one."""
    copy = Copy(content_id, b"f", 0.0, 0.0, 0.0, (), len(chunk_ids))
    return Ranked(content_id, copy, score, (score,), 1.0, [(1.0, chunk_id) for chunk_id in chunk_ids])


def placed(content_id: int, score: float) -> Placed:
    return Placed(content_id, None, None, score, (score,))


def test_further_chunks_are_damped() -> None:
    files = [ranked(7, 8.0, 1, 2), ranked(8, 5.0, 3)]
    assert [(hit.chunk_id, hit.score) for hit in arrange(files, group_by_file=False, no_file_limit=False)] == [
        (1, 8.0), (3, 5.0), (2, 8.0 * DAMPING)
    ]  # fmt: skip
    assert [hit.chunk_id for hit in arrange(files, group_by_file=True, no_file_limit=False)] == [1, 3]
    assert [hit.chunk_id for hit in arrange(files, group_by_file=False, no_file_limit=True)] == [1, 2, 3]


def test_what_is_left_out_of_the_first_ten_follows_them() -> None:
    hits = [*repeat(placed(1, 9.0), 5), *(placed(number, 10.0 - number) for number in range(2, 12))]
    order = list(diversify(hits))
    assert [hit.content_id for hit in order] == [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 9, 10, 11]
    assert order[10].score == order[9].score, "scores never rise"
    assert order[10].parts == pytest.approx((order[10].score,))


def test_with_fewer_than_ten_others_no_place_stays_empty() -> None:
    order = list(diversify([*repeat(placed(1, 9.0), 5), placed(2, 1.0)]))
    assert [hit.content_id for hit in order] == [1, 1, 1, 2, 1, 1]
    assert [hit.score for hit in order] == [9.0, 9.0, 9.0, 1.0, 1.0, 1.0]


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 20)), max_size=60))
def test_spreading_keeps_its_promises(pairs: list[tuple[int, int]]) -> None:
    hits = sorted((placed(content, float(score)) for content, score in pairs), key=lambda hit: -hit.score)
    order = list(diversify(iter(hits)))
    contents = [hit.content_id for hit in order]
    enough = sum(min(PER_FILE, contents.count(content)) for content in set(contents))
    first = contents[: min(FIRST, enough)]
    assert all(first.count(content) <= PER_FILE for content in set(contents))
    scores = [hit.score for hit in order]
    assert scores == sorted(scores, reverse=True)
    assert sorted(contents) == sorted(content for content, _ in pairs)
    assert list(diversify(chain(hits))) == order
