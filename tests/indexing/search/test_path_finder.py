"""Files by pieces of their paths: which match, in which order, and that what was found before changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed
from helpers.support import examples
from livedex_indexing.search.fuzzy_match import Piece, borders_of, plain
from livedex_indexing.search.path_finder import PathFinder

FILES = dict.fromkeys(
    (
        "root/src/foo_bar.py",
        "root/src/cfbx.py",
        "root/src/getHTTPResponse.py",
        "root/src/search/main.py",
        "root/tests/test_search.py",
        "root/docs/Größe-Łódź.md",
        "root/README.md",
        "root/lib/README.md",
        "root/docs/read-me-first.txt",
    ),
    "text\n",
)
LETTERS = "ab/_.Bé"


def found(index: Indexed, query: str, finder: PathFinder | None = None, **params: Any) -> list[str]:
    with index.pool.connection() as reader:
        answer = (finder or PathFinder()).find(reader, query, index.roots, **{"limit": 100, **params})
    return [file.relative_path for file in answer.files]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("fb", "src/foo_bar.py"),  # where words begin, before letters next to each other
        ("readme", "README.md"),  # the shorter of equals
        ("lib readme", "lib/README.md"),
        ("readme lib", "lib/README.md"),
        ("search", "tests/test_search.py"),  # in the file's name, before a folder's
        ("search/", "src/search/main.py"),
        ("smain", "src/search/main.py"),
        ("ghr", "src/getHTTPResponse.py"),
        ("gHR", "src/getHTTPResponse.py"),
        ("grose lodz", "docs/Größe-Łódź.md"),
        ("größe", "docs/Größe-Łódź.md"),
        ("root main", "src/search/main.py"),
    ],
)
def test_the_best_path_is_first(indexed: Indexed, query: str, first: str) -> None:
    assert found(indexed, query)[0] == first


def test_a_capital_makes_case_count(indexed: Indexed) -> None:
    assert "docs/read-me-first.txt" in found(indexed, "readme")
    assert set(found(indexed, "READ")) == {"README.md", "lib/README.md"}


def test_without_a_piece_the_newest_is_first(index: Indexed) -> None:
    index.write("root/old.txt", "one\n", mtime=1_700_000_000)
    index.write("root/new.txt", "two\n", mtime=1_800_000_000)
    assert found(index, " ") == ["new.txt", "old.txt"]


def test_a_change_is_seen_at_once(index: Indexed) -> None:
    finder = PathFinder()
    index.write("root/one.txt", "one\n")
    assert found(index, "txt", finder) == ["one.txt"]
    index.write("root/two.txt", "two\n")
    assert found(index, "txt", finder) == ["one.txt", "two.txt"]
    index.remove("root/one.txt")
    assert found(index, "txt", finder) == ["two.txt"]


@given(st.text(LETTERS, min_size=1, max_size=12), st.text(LETTERS.replace("/", ""), min_size=1, max_size=4))
@settings(max_examples=examples(100))
def test_a_path_matches_exactly_if_it_has_the_letters_in_order(path: str, typed: str) -> None:
    text, piece = f"/{path}", Piece(typed)
    compared = text if piece.has_case else plain(text)
    rest = iter(compared)
    has_all = all(character in rest for character in piece.text)
    assert (piece.find(compared) is not None) == has_all
    assert (piece.score(compared, text.rfind("/") + 1, borders_of(text)) > 0) == has_all
    if has_all:
        assert piece.rough(compared, text.rfind("/") + 1) >= 0


@given(st.lists(st.text(LETTERS + " ", min_size=1, max_size=5), min_size=1, max_size=4))
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_was_typed_before_changes_nothing(indexed: Indexed, typed: list[str]) -> None:
    finder = PathFinder()
    for query in typed:
        for length in range(1, len(query) + 1):
            assert found(indexed, query[:length], finder) == found(indexed, query[:length]), query[:length]


@pytest.mark.parametrize("query", ["", "f", "f1", "sub f"])
def test_pages_fit_together(index: Indexed, query: str) -> None:
    for number in range(300):
        path = index.folder / f"root/sub{number % 7}/f{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("text\n")
    index.index(*(f"root/sub{number % 7}/f{number}.txt" for number in range(300)))
    finder = PathFinder()
    whole = found(index, query, finder, limit=1000)
    pages = [path for offset in range(0, 300, 70) for path in found(index, query, finder, limit=70, offset=offset)]
    assert len(set(whole)) == len(whole)
    assert pages == whole
