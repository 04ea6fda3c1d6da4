"""A key with its value, a number with its unit and a quoted text are found where they are written so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.model import Query
from livedex_indexing.query.filters import build_filters, resolve_filters
from livedex_indexing.rank import name_places
from livedex_indexing.rank.found_names import FoundNames
from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.name_places import WITH_SIGNS, NamePlaces
from livedex_indexing.rank.postings import RowCounts

NOISE = "timeout of 30, 30 timeouts, KiB by 64, name of a crane, crane has name, holes in a file has holes.\n"
ROWS = "SELECT count(*) FROM postings WHERE postings MATCH ?"


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    """Nine files with the words more often than the one that has them as they are typed."""
    with Indexed(tmp_path_factory.mktemp("pairs")) as made:
        for number in range(9):
            made.write(f"root/timeout{number}.txt", f"{NOISE * 3}note {number}\n")
        filler = "".join(f"step {number}\n" for number in range(60))
        made.write("root/a.yaml", f"{filler}timeout: 30\n{filler}")
        made.write("root/b.json", f'{filler}"name": "crane",\n{filler}')
        made.write("root/c.h", f"{filler}/* 64 KiB */\n{filler}")
        made.write("root/d.c", f'{filler}fail("has holes");\n{filler}')
        made.write("root/e.c", f"{filler}if (crane != quokka)\n{filler}")
        made.write("root/zoo.c", "crane by crane, quokka crane quokka, quokka\n" * 9)
        yield made


@pytest.mark.parametrize(
    ("typed", "path"),
    [("timeout: 30", "a.yaml"), ('"name": "crane"', "b.json"), ("64 KiB", "c.h"), ('"has holes"', "d.c")],
)
def test_it_comes_first_where_it_is_written_so(noisy: Indexed, typed: str, path: str) -> None:
    hit = noisy.search(typed)[0]
    assert hit["relative_path"] == path
    assert typed in hit["text"]


def test_common_words_with_a_rare_one_are_looked_for_in_a_row(noisy: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = "crane != quokka"
    with noisy.pool.connection() as reader:
        common, rare = (reader.one(ROWS, (word,)) for word in ("crane", "quokka"))
        resolved = resolve_filters(reader, build_filters(reader, Query(typed), noisy.roots, None), 0)
        counts = RowCounts(lambda word: int(reader.one(ROWS, (word,))), lambda _: None)
        places = NamePlaces(FoundNames(IndexView(reader, resolved, lambda _: {}, counts)))
        assert common > 2 * rare
        monkeypatch.setattr(name_places, "ROWS_READ", 2 * rare / WITH_SIGNS)
        assert places.with_text(typed, [])
        monkeypatch.setattr(name_places, "ROWS_READ", (2 * rare - 1) / WITH_SIGNS)
        assert not places.with_text(typed, [])
