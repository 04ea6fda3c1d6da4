"""Ranking without an index: how parts become an order."""

from __future__ import annotations

from itertools import chain, repeat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.postings import Lists
from livedex_indexing.rank import DAMPING, FIRST, PER_FILE, WEIGHTS, Copy, Placed, arrange, rank_files, spread


def lists(**scores: dict[int, float]) -> Lists:
    return Lists(**{**{name: {} for name in ("words", "pairs", "near", "symbols", "paths")}, **scores}, late=False)


def copy(path: bytes, name: float = 0.0, score: float = 0.0) -> Copy:
    return Copy(len(path), path, name, score)


def placed(content_id: int, score: float) -> Placed:
    return Placed(content_id, None, None, score, (score,))


def test_a_file_is_as_good_as_its_best_chunk_in_each_part() -> None:
    found = lists(words={1: 4.0, 2: 3.0}, pairs={2: 2.0}, symbols={1: 1.0})
    (file,) = rank_files(found, {1: 7, 2: 7}, {7: [copy(b"f", name=3.0, score=2.0)]}, total=2.0)
    expected = {"words": 4.0, "pairs": 2.0, "symbols": 1.0, "name": 3.0, "path": 2.0}
    parts = {name: value for name, value in zip(WEIGHTS, file.parts, strict=True) if value}
    assert parts == pytest.approx({name: WEIGHTS[name] * value / 2.0 for name, value in expected.items()})
    assert file.score == pytest.approx(sum(file.parts))
    assert [chunk_id for _, chunk_id in file.chunks] == [1, 2]
    assert file.chunks[0][0] == 1.0
    assert file.chunks[1][0] == pytest.approx(3.6 / 4.6)


def test_the_copy_that_scores_best_stands_for_a_content_then_the_shortest_path() -> None:
    copies = [copy(b"longest", 0.0), copy(b"bb", 1.0), copy(b"a", 1.0), copy(b"c", 0.5)]
    (file,) = rank_files(lists(words={1: 1.0}), {1: 7}, {7: copies}, total=1.0)
    assert file.copy.path == b"a"


def test_ties_fall_to_the_path() -> None:
    found = lists(words=dict.fromkeys(range(5), 1.0))
    copies = {number: [copy(path)] for number, path in enumerate([b"e", b"c", b"d", b"a", b"b"])}
    files = rank_files(found, {number: number for number in range(5)}, copies, total=1.0)
    assert [file.copy.path for file in files] == [b"a", b"b", b"c", b"d", b"e"]


def test_further_chunks_are_damped() -> None:
    found = lists(words={1: 8.0, 2: 8.0, 3: 5.0})
    files = rank_files(found, {1: 7, 2: 7, 3: 8}, {7: [copy(b"f")], 8: [copy(b"g")]}, total=1.0)
    assert [(hit.chunk_id, hit.score) for hit in arrange(files, one_each=False, crowd=False)] == [
        (1, 8.0), (3, 5.0), (2, 8.0 * DAMPING)
    ]  # fmt: skip
    assert [hit.chunk_id for hit in arrange(files, one_each=True, crowd=False)] == [1, 3]
    assert [hit.chunk_id for hit in arrange(files, one_each=False, crowd=True)] == [1, 2, 3]


def test_what_is_left_out_of_the_first_ten_follows_them() -> None:
    hits = [*repeat(placed(1, 9.0), 5), *(placed(number, 10.0 - number) for number in range(2, 12))]
    order = [hit for hit in spread(hits) if hit is not None]
    assert [hit.content_id for hit in order] == [1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 9, 10, 11]
    assert order[10].score == order[9].score, "scores never rise"
    assert order[10].parts == pytest.approx((order[10].score,))


def test_with_fewer_than_ten_others_places_stay_empty() -> None:
    order = list(spread([*repeat(placed(1, 9.0), 5), placed(2, 1.0)]))
    assert [hit and hit.content_id for hit in order] == [1, 1, 1, 2, *repeat(None, 6), 1, 1]


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 20)), max_size=60))
def test_spreading_keeps_its_promises(pairs: list[tuple[int, int]]) -> None:
    hits = sorted((placed(content, float(score)) for content, score in pairs), key=lambda hit: -hit.score)
    places = list(spread(iter(hits)))
    order = [hit for hit in places if hit is not None]
    first = [hit.content_id for hit in places[:FIRST] if hit is not None]
    contents = [hit.content_id for hit in order]
    assert all(first.count(content) <= PER_FILE for content in set(contents))
    scores = [hit.score for hit in order]
    assert scores == sorted(scores, reverse=True)
    assert sorted(contents) == sorted(content for content, _ in pairs)
    assert None not in places[FIRST:]
    assert list(spread(chain(hits))) == places
