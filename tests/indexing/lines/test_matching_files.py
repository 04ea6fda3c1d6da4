"""The files that have a matching line are those in which lines are found, however few of them are read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from helpers.indexed_folder import Indexed, request
from livedex_indexing.search.line_answer import FilesAnswer


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path, ("root", "other")) as made:
        yield made


def files(index: Indexed, query: str, *, count: bool = False, **params: Any) -> FilesAnswer:
    asked = request(index.roots, query, **{"mode": "exact", "limit": 1000, **params})
    return index.searcher.matching_files(asked, index.roots, count=count)


def paths(index: Indexed, query: str, **params: Any) -> list[str]:
    return [Path(file.path).name for file in files(index, query, **params).files]


TEXTS: dict[str, str | bytes] = {
    "plain.txt": "Then there\n",
    "upper.txt": "THE END\n",
    "accent.txt": "thé\n",
    "marks.txt": "the\u0301\n",
    "inside.txt": "weather — “other”\n",
    "none.txt": "no such word\n",
    "wide.txt": "\ufeffthe wide\n".encode("utf-16-le"),
    "joined.txt": "tﬀhe\n",
    "latin.txt": b"caf\xe9 the\n",
    "name.py": "getTheThing\n",
    "kelvin.txt": "\u212aey\n",
    "long.txt": "x" * 40_000 + "the\n",
    "torn.txt": "t-he t\nhe\n",
}


@pytest.mark.parametrize("query", ["the", "The", "th", "key", "2", "e", "the other", "here"])
@pytest.mark.parametrize("params", [{}, {"letter_case": "ignore"}, {"letter_case": "sensitive"}, {"whole_words": True}])
def test_they_are_those_with_lines(index: Indexed, query: str, params: dict[str, Any]) -> None:
    for name, text in TEXTS.items():
        index.write(f"root/{name}", text)
    for mode in ("exact", "regex"):
        hits = index.search(query, mode=mode, group="file", limit=1000, **params)
        assert paths(index, query, mode=mode, **params) == [Path(hit["path"]).name for hit in hits]
        counted = [(file.path, file.matches) for file in files(index, query, mode=mode, count=True, **params).files]
        assert counted == [(hit["path"], hit["matches"]) for hit in hits]


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(st.sampled_from("aAbéßﬁ\u0301 -\n"), max_size=12), min_size=1, max_size=6), st.sampled_from("ab")
)
def test_of_any_texts(index: Indexed, texts: list[str], piece: str) -> None:
    for number in range(6):
        index.write(f"root/{number}.txt", texts[number % len(texts)])
    for query in (piece, "ab", "ss", "fi"):
        hits = index.search(query, mode="exact", group="file", limit=1000)
        assert paths(index, query) == [Path(hit["path"]).name for hit in hits]


def test_a_file_that_changed_is_not_named_from_the_index(index: Indexed) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        index.write(f"root/{name}", "the\n")
    (index.folder / "root/b.txt").write_text("something else\n")
    (index.folder / "root/c.txt").unlink()
    answer = files(index, "the")
    assert [Path(file.path).name for file in answer.files] == ["a.txt"]
    assert {path for _, path in answer.stale} == {b"b.txt", b"c.txt"}
    assert [warning["code"] for warning in answer.warnings] == ["files_changed"]


def test_pages_go_on_where_the_last_one_ended(index: Indexed) -> None:
    names = [f"root/{number:02}.txt" for number in range(12)]
    for number, name in enumerate(names):
        index.write(name, "the\n", mtime=1_000 + number)
    for order, expected in (("path", names), ("modified", names[::-1])):
        found: list[str] = []
        cursor: str | None = None
        while True:
            answer = files(index, "the", limit=5, sort=order, cursor=cursor)
            found += [file.path for file in answer.files]
            cursor = answer.next_cursor
            if cursor is None:
                break
            index.write("root/00a.txt", "the\n", mtime=5)  # a place that the pages have passed, or will reach
        assert [path for path in found if "00a" not in path] == [str(index.folder / name) for name in expected]
        index.remove("root/00a.txt")


def test_lines_go_on_where_the_last_page_ended(index: Indexed) -> None:
    for name in ("a.txt", "b.txt", "c.txt"):
        index.write(f"root/{name}", "one the\nthe two\nno\nthe three\n")
    whole = [(hit["path"], hit["start_line"]) for hit in index.search("the", mode="exact")]
    found: list[tuple[str, int]] = []
    cursor: str | None = None
    while True:
        answer = index.ask("the", mode="exact", limit=2, cursor=cursor)
        found += [(hit["path"], hit["start_line"]) for hit in answer.hits]
        cursor = answer.extras.get("next_cursor")
        if cursor is None:
            break
    assert found == whole and len(whole) == 9
