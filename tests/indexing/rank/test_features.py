"""The features of a row: correct, and the same whether all rows are scanned or each is read by id."""

from __future__ import annotations

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.model import Query
from livedex_indexing.query.query_compiler import compile_query
from livedex_indexing.query.query_terms import CompiledQuery
from livedex_indexing.query.word_counts import WordCounts
from livedex_indexing.rank.features import NEAR_WORDS, WORDS, extract, scored_terms, written
from livedex_indexing.store.read_pool import Reader

TEXT = "the walrus tusk and a walrus\n"


def compiled(reader: Reader, text: str) -> CompiledQuery:
    return compile_query(reader, Query(text), WordCounts(0))


@pytest.mark.parametrize("row_us", [0.0, 1e9], ids=["one span", "a span each"])
def test_a_row_is_read_right_either_way(index: Indexed, monkeypatch: pytest.MonkeyPatch, row_us: float) -> None:
    monkeypatch.setattr("livedex_indexing.rank.spans.ROW_US", row_us)
    index.write("root/a.py", f"def walrus():\n    # {TEXT}")
    index.write("root/b.txt", "tusk " + "filler " * NEAR_WORDS + "walrus\n")
    index.write("root/c.txt", "tusk " + "filler " * (NEAR_WORDS + 1) + "walrus\n")
    index.write("root/d.txt", "nothing of it\n")
    with index.pool.connection() as reader:
        query = compiled(reader, "walrus tusk")
        found = extract(reader, query, range(1, 5))
    assert sorted(found.rows) == [1, 2, 3]
    assert (list(found.rows[1].counts), list(found.rows[1].pairs), list(found.rows[1].near)) == ([3, 1], [1], [1])
    assert found.rows[1].symbols == pytest.approx(3 * query.terms[0].idf)  # the whole of the name
    assert list(found.rows[1].texts) == [3, 1]
    assert [list(found.rows[row].pairs) for row in (2, 3)] == [[0], [0]]
    assert [list(found.rows[row].near) for row in (2, 3)] == [[1], [0]]
    assert [found.rows[row].opening for row in (1, 2)] == pytest.approx(
        [query.total, query.terms[1].idf]  # `tusk` alone: as many words as count are before `walrus`
    )
    assert found.rows[2].length == NEAR_WORDS + 2
    assert found.chunks == 4


def test_beginnings_are_read_right_apart_from_whole_words(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("livedex_indexing.rank.features.LED_WORD_US", 1e9)  # in spans, as many rows are read
    index.write("root/a.py", f"def walrus_tusk():\n    # {TEXT}")
    index.write("root/b.md", "# Walrus tusks\n\nof the walrus tusks\n")
    index.write("root/c.txt", "walrus\n")
    index.write("root/d.txt", "tusks of the tuskers\n")
    with index.pool.connection() as reader:
        query = compile_query(reader, Query("of walrus tusk", unfinished=True), WordCounts(0))
        assert {term.prefix for term in query.terms} == {True, False}
        found = []
        for again_us in (1e9, -1e9):
            monkeypatch.setattr("livedex_indexing.rank.features.AGAIN_US", again_us)
            found.append(extract(reader, query, range(1, 6)))
    assert found[0] == found[1]
    assert len(found[0].rows) == 4


@pytest.mark.parametrize("led_us", [0.0, 1e9], ids=["led by a rare word", "in spans"])
def test_forms_of_a_word_are_counted_together(index: Indexed, monkeypatch: pytest.MonkeyPatch, led_us: float) -> None:
    monkeypatch.setattr("livedex_indexing.rank.features.LED_WORD_US", led_us)
    monkeypatch.setattr("livedex_indexing.rank.features.RARE_ROWS", 2)
    index.write("root/a.md", "Ein Haus und Häuser wird es geben, nicht eine Tür oder alte Türen am Haus.\n")
    for number in range(3):
        index.write(f"root/{number}.md", f"Nur {number} Türen und nicht eine Leiter wird oder soll bleiben.\n")
    with index.pool.connection() as reader:
        query = compiled(reader, "hauses tür leiter")
        assert [len(term.forms) > 0 for term in query.terms] == [True, True, False]
        found = extract(reader, query, range(1, 5)).rows
    assert list(found[1].counts[:3]) == [3, 2, 0]
    assert all(list(found[row].counts[:3]) == [0, 1, 1] for row in (2, 3, 4))


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("tusk walrus ice", 3),
        ("ice a a walrus a tusk tusk", 6),
        ("tusk ice ice a a a walrus a tusk a ice a tusk", 5),
        ("tusk walrus", 0),
    ],
)
def test_the_shortest_part_with_all_words(index: Indexed, text: str, window: int) -> None:
    index.write("root/a.txt", f"{text}\n")
    index.write("root/ice.txt", "ice\n")
    with index.pool.connection() as reader:
        assert extract(reader, compiled(reader, "walrus tusk ice"), [1]).rows[1].window == window
        assert extract(reader, compiled(reader, "walrus tusk"), [1]).rows[1].window == 0


def test_a_heading_with_all_words_in_a_row_is_a_title(index: Indexed) -> None:
    for number, heading in enumerate(["Walrus tusk", "Tusk walrus", "Walrus and tusk", "Walrus"]):
        index.write(f"root/{number}.md", f"# About\n\n## {heading}\n\nof the walrus tusk\n")
    with index.pool.connection() as reader:
        query = compiled(reader, "walrus tusk")
        found = extract(reader, query, range(1, 9)).rows
        names = dict(reader.rows("SELECT c.id, d.name FROM chunks c JOIN files d ON d.content_id = c.content_id"))
    titled = {names[row].decode(): features.titled for row, features in found.items() if features.titled}
    assert titled == pytest.approx({"0.md": query.total})


def test_of_many_words_the_rarest_are_read(index: Indexed) -> None:
    words = [f"word{number:03}" for number in range(WORDS + 10)]
    for number in range(5):
        index.write(f"root/{number}.txt", " ".join(words[WORDS:]) + f" {number}\n")
    index.write("root/all.txt", " ".join(words) + "\n")
    with index.pool.connection() as reader:
        query = compiled(reader, " ".join(words))
        assert {term.tokens[0] for term in scored_terms(query)} == set(words[:WORDS])
        assert len(extract(reader, query, [6]).rows[6].counts) == WORDS


def test_nothing_is_looked_for_in_no_row(index: Indexed) -> None:
    index.write("root/a.txt", TEXT)
    with index.pool.connection() as reader:
        assert extract(reader, compiled(reader, "walrus"), []).rows == {}
        assert extract(reader, compiled(reader, "absent"), [1]).rows == {}


def test_it_is_known_which_files_hold_a_word_as_it_is_asked_for(index: Indexed) -> None:
    index.write("root/a.txt", "two walruses\n")
    index.write("root/b.txt", "one walrus\n")
    with index.pool.connection() as reader:
        query = compiled(reader, "walrus one-walrus walr*")
        terms = scored_terms(query)
        found = dict(zip((term.match for term in terms), written(reader, terms, [1, 2]), strict=True))
    assert found['"walrus"'] == {2}
    assert found['"walr" *'] is None


def test_a_stop_word_next_to_a_word_counts_half(index: Indexed) -> None:
    index.write("root/a.txt", "the with statement\n")
    for number in range(5):
        index.write(f"root/{number}.txt", f"filler {number}\n")
    with index.pool.connection() as reader:
        query = compiled(reader, "the with statement")
        found = extract(reader, query, [1])
    idfs = {term.tokens[0]: term.idf for term in query.spoken}
    assert list(found.rows[1].counts) == [1, 1]
    assert list(found.idfs) == pytest.approx([idfs["statement"], 0.5 * idfs["with"]])


@pytest.mark.parametrize("typed", ["RawMIDI Callbacks", "Callbacks of RawMIDI", "ISO9660 Callbacks RawMIDI"])
def test_a_word_of_several_parts_has_neighbours_as_a_whole(index: Indexed, typed: str) -> None:
    index.write("root/a.md", f"# {typed}\n\ntext\n")
    index.write("root/b.txt", "raw midi, iso 9660\n")
    with index.pool.connection() as reader:
        found = extract(reader, compiled(reader, typed), range(1, 3))
    row = found.rows[1]
    assert sum(map(bool, row.pairs)) == len(typed.split()) - 1
    assert row.titled > 0


def test_the_parts_of_a_word_are_not_asked_for_besides_it(index: Indexed) -> None:
    index.write("root/a.txt", "walrus\nRawMIDI\ntusk\n")
    index.write("root/b.txt", "walrus raw midi rawmidi tusk\n")
    with index.pool.connection() as reader:
        found = extract(reader, compiled(reader, "walrus RawMIDI tusk"), range(1, 3))
    assert [found.rows[row].window for row in (1, 2)] == [3, 5]
    assert found.parts == {2, 3}
