"""Which files have all words of a query, where no chunk has, or none has them as typed."""

from __future__ import annotations

import msgspec
import pytest

from livedex_indexing.rank.features import FeatureTable, MatchFeatures
from livedex_indexing.rank.score import WEIGHTS, Copy, rank_files
from livedex_indexing.rank.whole_query import is_nowhere_as_typed, is_spread, may_be_spread

ROW = MatchFeatures([], [], 0.0, 0.0, 0.0, [], [], 100, 0.0)
IDFS = [2.0, 3.0, 4.0]


def row(*counts: int, window: int = 0) -> MatchFeatures:
    return msgspec.structs.replace(ROW, counts=counts, texts=counts, window=window)


def table(rows: dict[int, MatchFeatures], written: list[frozenset[int] | None]) -> FeatureTable:
    return FeatureTable(rows, IDFS[: len(written)], [5.0], 1_000, 100.0, written)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([None, frozenset({7}), frozenset({8})], True),
        ([frozenset({7}), frozenset({8})], False),
        ([None, frozenset({7, 8}), frozenset({8})], False),
        ([frozenset({7}), None, None], False),
        ([frozenset(), None, None], True),
        ([None, None, None], False),
    ],
)
def test_whether_no_file_has_every_word_as_typed(written: list[frozenset[int] | None], expected: bool) -> None:
    assert is_nowhere_as_typed(written) is expected


def test_other_forms_count_where_no_file_has_every_word_as_typed() -> None:
    def worth(written: list[frozenset[int] | None]) -> float:
        (file,) = rank_files(table({1: row(1, 1, 1)}, written), {1: 7}, {7: [Copy(1, b"f", 0, 0, 0, (), 4)]}, total=9.0)
        assert file.parts[list(WEIGHTS).index("every")] == 0.0  # a document is not meant for it
        return file.parts[list(WEIGHTS).index("close")]

    assert worth([None, frozenset({8}), frozenset({7})]) == pytest.approx(WEIGHTS["close"] / 2)
    assert worth([None, frozenset({8}), frozenset({7, 8})]) == 0.0  # the other has them


def test_a_query_is_spread_only_where_no_chunk_has_all_of_a_few_words() -> None:
    owners = {1: 7, 2: 7}
    apart, together = {1: row(1, 0), 2: row(0, 1)}, {1: row(1, 0), 2: row(1, 1)}
    assert may_be_spread(table(apart, [None, None]), owners)
    assert not may_be_spread(table(together, [None, None]), owners)
    assert may_be_spread(table(together, [frozenset({8}), None]), owners)  # only in another form
    assert not may_be_spread(table({1: row(1)}, [None]), owners)
    assert not may_be_spread(table({1: row(1, 0, 0, 0)}, [None] * 4), owners)


def test_a_file_has_words_in_its_path_and_the_others_in_its_text() -> None:
    written = [None, frozenset({7})]
    assert is_spread(written, 7, [], (), [True, False])
    assert is_spread(written, 7, [], (1.0, 0.0), ())
    assert is_spread(written, 8, [[1, 0]], (0.0, 0.8), ())
    assert not is_spread(written, 7, [[1, 1]], (), ())  # nothing in its path
    assert not is_spread(written, 8, [[1, 1]], (1.0, 0.0), ())  # only another form of the second
    assert not is_spread(written, 7, [[0, 1]], (), [False, True])


def test_a_file_with_all_words_comes_before_one_with_more_of_some() -> None:
    found = table({1: row(9, 0), 2: row(1, 0)}, [None, None])
    copies = {7: [Copy(1, b"other", 0, 0, 0, (), 4)], 8: [Copy(2, b"folder/file", 0, 0, 0, (), 4, above=(False, True))]}
    ranked = rank_files(found, {1: 7, 2: 8}, copies, total=5.0)
    assert [file.content_id for file in ranked] == [8, 7]
    assert ranked[0].score == pytest.approx(sum(ranked[0].parts))
