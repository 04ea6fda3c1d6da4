"""Ranking without an index: how the parts of a score become an order."""

from __future__ import annotations

import msgspec
import pytest

from livedex_indexing.query.word_counts import idf_of
from livedex_indexing.rank.features import FeatureTable, MatchFeatures
from livedex_indexing.rank.score import K1, WEIGHTS, B, Copy, code_answers, prose_later, rank_files

SHORT = WEIGHTS["short"] / 2  # of a file of four chunks
USUAL = 100  # words of a chunk: the average number, so that length has no effect


def row(
    count: int = 0,
    symbols: float = 0.0,
    pairs: int = 0,
    near: int = 0,
    heading: float = 0.0,
    opening: float = 0.0,
    titled: float = 0.0,
) -> MatchFeatures:
    """A chunk with one word of the query, and one pair of adjacent words."""
    return MatchFeatures([count], [count], symbols, heading, opening, [pairs], [near], USUAL, titled)


def features(rows: dict[int, MatchFeatures]) -> FeatureTable:
    return FeatureTable(rows, [2.0], [3.0], 1_000, USUAL)


def copy(path: bytes, name: float = 0.0, title: float = 0.0, score: float = 0.0) -> Copy:
    return Copy(len(path), path, name, title, score, [0], 4)


def bm25(count: int, idf: float) -> float:
    return idf * count * (K1 + 1) / (count + K1)


def test_a_file_is_as_good_as_its_best_chunk_in_each_part() -> None:
    found = features(
        {1: row(4, symbols=1.0), 2: row(3, pairs=2, near=1, heading=0.5, opening=0.2, titled=0.7), 3: row(1, pairs=1)}
    )
    found = found._replace(written=[frozenset({7})])
    owners = {1: 7, 2: 7, 3: 8}
    files = rank_files(found, owners, {7: [copy(b"f", 3.0, 2.5, 2.0)], 8: [copy(b"g")]}, total=2.0)
    assert [file.content_id for file in files] == [7, 8]
    expected = {
        "words": bm25(4, 2.0), "written": bm25(4, 2.0), "pairs": bm25(2, idf_of(2, 1_000)), "near": bm25(1, 3.0),
        "symbols": 1.0, "heading": 0.5, "opening": 0.2, "more": (1 + WEIGHTS["written"]) * bm25(3, 2.0),
        "name": 3.0, "title": 2.5, "path": 2.0, "short": 0.5 * 2.0, "brief": 0.0, "auxiliary": 0.0,
        "titled": 0.7, "every": 0.0, "typed": 0.0, "called": 0.0, "news": 0.0, "similar": 0.0, "cover": 2.0,
        "prose": 0.0, "close": 0.0,
    }  # fmt: skip
    parts = dict(zip(WEIGHTS, files[0].parts, strict=True))
    assert parts == pytest.approx({name: WEIGHTS[name] * value / 2.0 for name, value in expected.items()})
    assert files[0].score == pytest.approx(sum(files[0].parts))
    assert [chunk_id for _, chunk_id in files[0].chunks] == [2, 1]
    assert files[0].chunks[0][0] == 1.0 > files[0].chunks[1][0]


def test_a_long_chunk_counts_less() -> None:
    found = features({1: MatchFeatures([3], [3], 0.0, 0.0, 0.0, [0], [0], 3 * USUAL, 0.0), 2: row(3)})
    files = rank_files(found, {1: 7, 2: 8}, {7: [copy(b"f")], 8: [copy(b"g")]}, total=1.0)
    assert [file.content_id for file in files] == [8, 7]
    assert files[1].score == pytest.approx(2.0 * 3 * (K1 + 1) / (3 + K1 * (1 - B + 3 * B)) + SHORT)


def test_a_word_written_as_it_is_asked_for_counts_more_than_its_stem() -> None:
    found = features({1: row(1), 2: row(1)})._replace(written=[frozenset({8})])
    files = rank_files(found, {1: 7, 2: 8}, {7: [copy(b"f")], 8: [copy(b"g")]}, total=1.0)
    assert [file.content_id for file in files] == [8, 7]
    assert rank_files(found._replace(written=[None]), {1: 7, 2: 8}, {7: [copy(b"f")], 8: [copy(b"g")]}, total=1.0)[
        0
    ].score == pytest.approx(files[0].score)


def test_every_word_in_one_chunk_is_worth_a_part() -> None:
    def worth(first: list[int], second: list[int], idfs: list[float], written: int = 2) -> list[float]:
        found = features({1: row(), 2: row()})._replace(idfs=idfs, written=[None, frozenset({7})][:written])
        rows = {1: msgspec.structs.replace(row(), counts=first, texts=first)}
        rows[2] = msgspec.structs.replace(row(), counts=second, texts=second)
        files = rank_files(found._replace(rows=rows), {1: 7, 2: 8}, {7: [copy(b"f")], 8: [copy(b"g")]}, total=5.0)
        return [file.parts[list(WEIGHTS).index("every")] for file in sorted(files, key=lambda file: file.content_id)]

    both = WEIGHTS["every"] * (2.0 + 3.0) / 5.0
    assert worth([1, 2], [1, 0], [2.0, 3.0]) == pytest.approx([both, 0.0])
    assert worth([1, 0], [1, 2], [2.0, 3.0]) == [0.0, 0.0]  # the other content has only a form of the second word
    assert worth([1, 2, 1], [1, 2, 0], [2.0, 3.0, 0.5]) == [0.0, 0.0]  # a stop word: a sentence
    assert worth([1], [1], [2.0], written=1) == [0.0, 0.0]


def test_every_word_close_together_is_worth_more() -> None:
    def worth(window: int, written: list[frozenset[int] | None]) -> float:
        found = features({})._replace(idfs=[1.0, 2.0, 3.0], written=written)
        one = msgspec.structs.replace(row(), counts=[1, 1, 1], texts=[1, 1, 1], window=window)
        (file,) = rank_files(found._replace(rows={1: one}), {1: 7}, {7: [copy(b"f")]}, total=6.0)
        return file.parts[list(WEIGHTS).index("close")]

    assert worth(15, [None, None, None]) == pytest.approx(0.75 * WEIGHTS["close"])
    assert worth(3, [None, None, None]) > worth(15, [None, None, None]) > worth(61, [None, None, None]) == 0.0
    assert worth(0, [None, None, None]) == 0.0  # not all words are in the text
    assert worth(3, [None, None, frozenset({8})]) == 0.0  # the file has another form of a word
    assert worth(3, [None, None]) == 0.0  # a stop word: a sentence


def test_words_of_several_chunks_count_together() -> None:
    rows = {number: msgspec.structs.replace(row(), counts=counts, texts=counts) for number, counts in
            enumerate([[1, 0, 0], [0, 1, 1], [1, 0, 0]], 1)}  # fmt: skip
    found = features(rows)._replace(idfs=[2.0, 3.0, 0.5], written=[None, None])
    copies = {
        7: [copy(b"f")._replace(counts=[])],
        8: [copy(b"g")._replace(counts=[])],
        9: [copy(b"h")._replace(counts=[0.0, 0.8])],
    }
    files = rank_files(found, {1: 7, 2: 7, 3: 8}, copies, total=5.0)
    worth = {file.copy.path: file.parts[list(WEIGHTS).index("cover")] for file in files}
    expected = {b"f": 2.0 + 3.0, b"g": 2.0, b"h": 3.0}  # the stop word counts nothing
    assert worth == pytest.approx({path: WEIGHTS["cover"] * idf / 5.0 for path, idf in expected.items()})


def test_prose_comes_later_unless_it_is_meant() -> None:
    found = features({1: row(2), 2: row(2), 3: row(1), 4: row(2, titled=2.0)})
    copies = {7: [copy(b"a")._replace(prose=True)], 8: [copy(b"b")], 9: [copy(b"c")]}
    files = rank_files(found, {1: 7, 2: 8, 3: 9}, copies, total=1.0)
    assert [file.copy.path for file in files] == [b"a", b"b", b"c"]
    assert code_answers(files)
    assert not code_answers(files[:2]), "half of the best is not most of them"
    later = prose_later(files)
    assert [file.copy.path for file in later] == [b"b", b"a", b"c"]
    assert later[1].parts[list(WEIGHTS).index("prose")] == pytest.approx(WEIGHTS["prose"] * files[0].score)
    assert later[1].score == pytest.approx(sum(later[1].parts))
    (titled,) = rank_files(found, {4: 7}, {7: copies[7]}, total=1.0)
    assert prose_later([titled]) == [titled]


def test_of_two_files_that_say_as_much_the_shorter_comes_first() -> None:
    found = features({1: row(1), 2: row(1)})
    copies = {7: [copy(b"f")], 8: [copy(b"g")._replace(chunks=1)]}
    assert [file.content_id for file in rank_files(found, {1: 7, 2: 8}, copies, total=1.0)] == [8, 7]


def test_a_file_without_further_chunks_is_no_worse_for_it() -> None:
    found = features({1: row(3), 2: row(3), 3: row(1), 4: row(3)})._replace(written=[None])
    owners = {1: 7, 2: 8, 3: 8, 4: 9}
    copies = {7: [copy(b"a")._replace(chunks=1)], 8: [copy(b"b")._replace(chunks=2)], 9: [copy(b"c")]}
    more = list(WEIGHTS).index("more")
    worth = {file.copy.path: file.parts[more] for file in rank_files(found, owners, copies, total=1.0)}
    best, other = ((1 + WEIGHTS["written"]) * bm25(count, 2.0) for count in (3, 1))
    expected = {b"a": 3 * 0.7 * best, b"b": other + 2 * 0.7 * best, b"c": 0.0}
    assert worth == pytest.approx({path: WEIGHTS["more"] * value for path, value in expected.items()})


def test_stop_words_count_behind_the_words() -> None:
    both = msgspec.structs.replace(row(1), counts=[1, 2], texts=[1, 2])
    found = FeatureTable({1: both}, [2.0, 0.5], [3.0], 1_000, USUAL, [None])
    (file,) = rank_files(found, {1: 7}, {7: [copy(b"f")]}, total=1.0)
    assert file.parts[0] == pytest.approx(bm25(1, 2.0) + bm25(2, 0.5))


def test_a_word_of_the_name_counts_as_one_of_the_text() -> None:
    named = copy(b"f")._replace(counts=[1])
    (file,) = rank_files(features({1: row(1)}), {1: 7}, {7: [named]}, total=1.0)
    assert file.score == pytest.approx(bm25(2, 2.0) + SHORT)


def test_a_word_of_the_name_counts_where_the_text_has_no_word() -> None:
    named = copy(b"f")._replace(counts=[1])
    (file,) = rank_files(features({}), {}, {7: [named]}, total=1.0)
    assert file.parts[0] == pytest.approx(bm25(1, 2.0))


def test_the_copy_that_scores_best_represents_a_content_then_the_shortest_path() -> None:
    copies = [copy(b"longest", 0.0), copy(b"bb", 1.0), copy(b"a", 1.0), copy(b"c", 0.5)]
    (file,) = rank_files(features({1: row(1)}), {1: 7}, {7: copies}, total=1.0)
    assert file.copy.path == b"a"


def test_a_test_comes_after_what_says_as_much() -> None:
    found = features({1: row(2), 2: row(2), 3: row(1)})
    copies = {7: [copy(b"a")._replace(auxiliary=1)], 8: [copy(b"b")], 9: [copy(b"c")]}
    files = rank_files(found, {1: 7, 2: 8, 3: 9}, copies, total=1.0)
    assert [file.copy.path for file in files] == [b"b", b"a", b"c"], "and before what says less"
    assert files[1].parts[list(WEIGHTS).index("auxiliary")] == pytest.approx(WEIGHTS["auxiliary"] * files[0].score)
    assert files[1].score == pytest.approx(sum(files[1].parts))


def test_a_short_name_is_worth_a_share_of_the_score() -> None:
    found = features({1: row(2), 2: row(2), 3: row(2)})
    copies = {7: [copy(b"a")], 8: [copy(b"b")._replace(brevity=1.0)], 9: [copy(b"c")._replace(brevity=-1.0)]}
    files = rank_files(found, {1: 7, 2: 8, 3: 9}, copies, total=1.0)
    assert [file.copy.path for file in files] == [b"b", b"a", b"c"]
    assert [file.parts[list(WEIGHTS).index("brief")] for file in files] == pytest.approx(
        [WEIGHTS["brief"] * share * files[1].score for share in (1, 0, -1)]
    )
    test = copy(b"t")._replace(brevity=1.0, auxiliary=1)
    (damped,) = rank_files(features({1: row(2)}), {1: 7}, {7: [test]}, total=1.0)
    assert damped.score == pytest.approx(files[0].score * (1 + WEIGHTS["auxiliary"])), "of all the others"


def test_of_two_copies_the_one_that_is_no_test_represents_both() -> None:
    copies = [copy(b"a")._replace(auxiliary=1), copy(b"bb")]
    (file,) = rank_files(features({1: row(1)}), {1: 7}, {7: copies}, total=1.0)
    assert file.copy.path == b"bb"


def test_ties_fall_to_the_path() -> None:
    found = features({number: row(1) for number in range(5)})
    copies = {number: [copy(path)] for number, path in enumerate([b"e", b"c", b"d", b"a", b"b"])}
    files = rank_files(found, {number: number for number in range(5)}, copies, total=1.0)
    assert [file.copy.path for file in files] == [b"a", b"b", b"c", b"d", b"e"]
