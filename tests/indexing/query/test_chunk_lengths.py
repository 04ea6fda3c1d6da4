"""How long the chunks of a language usually are."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.query.word_counts import WordCounts, idf_of


def test_each_language_has_its_own_length_for_every_reader(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        for number in range(60):
            index.write(f"root/{number}.py", "x = 1\n")
            index.write(f"root/{number}.md", f"a long line of a document {number} " * 9 + "\n")
        found = []
        for counts in (WordCounts(1), WordCounts(1), WordCounts(2, WordCounts(1))):
            with index.pool.connection() as reader:
                found.append(counts.lengths(reader))
        assert found[0] == found[1] == found[2]
        short, long = sorted(found[0].values())
        assert 0.1 <= short < 1 < long


def test_an_empty_index_has_no_lengths(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index, index.pool.connection() as reader:
        assert WordCounts(1).lengths(reader) == {}


def test_the_words_of_a_small_index_say_something() -> None:
    assert idf_of(3, 4) == pytest.approx(0.44, abs=0.05)
    assert idf_of(1_000_000, 1_000_000) < 0.01
