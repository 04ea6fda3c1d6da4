"""Hits by time or by path: all chunks with all the words, whatever their rank, page by page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.indexed_folder import LINES, Indexed
from livedex_ipc.errors import InvalidParams


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Indexed]:
    with Indexed(tmp_path, ("root", "other")) as made:
        for name, text, mtime in (
            ("root/b.txt", "walrus tusk\n", 100),
            ("root/a.txt", "walrus\n" + "-\n" * LINES + "a tusk of a walrus\n", 300),
            ("root/c/d.txt", "tusks of a walrus " * 50 + "\n", 200),
            ("other/e.txt", "walrus\n" + "-\n" * LINES + "tusk\n", 400),
        ):
            made.write(name, text, mtime=mtime)
        yield made


def test_the_last_modified_first(index: Indexed) -> None:
    hits = index.search("walrus tusk", sort="modified")
    assert [(hit["relative_path"], hit["start_line"]) for hit in hits] == [("a.txt", 11), ("c/d.txt", 1), ("b.txt", 1)]
    assert {hit["score"] for hit in hits} == {1.0}
    assert index.found("walrus", sort="modified") == ["e.txt", "a.txt", "c/d.txt", "b.txt"]
    assert index.found("", sort="modified") == ["e.txt", "a.txt", "c/d.txt", "b.txt"]


def test_by_path(index: Indexed) -> None:
    assert index.found("walrus", sort="path") == ["e.txt", "a.txt", "b.txt", "c/d.txt"]
    assert index.found("walrus", sort="path", path=str(index.folder / "root/c")) == ["c/d.txt"]
    assert index.found("walrus", sort="path", roots=[str(index.folder / "other")]) == ["e.txt"]
    assert index.found('"a tusk of"', sort="path") == ["a.txt"]


@pytest.mark.parametrize("query", ["", "ext:txt", "-none", "ext:txt -path:none"])
def test_without_words_each_file_has_one_hit(index: Indexed, query: str) -> None:
    index.write("root/walrus.txt", "")  # it has no chunk
    answer = index.ask(query, sort="path", total=True)
    assert [(hit["relative_path"], hit["start_line"]) for hit in answer.hits] == [
        ("e.txt", 1), ("a.txt", 1), ("b.txt", 1), ("c/d.txt", 1),
    ]  # fmt: skip
    assert answer.extras["total"] == {"hits": 4, "files": 4}
    assert "walrus.txt" not in index.found("walrus", sort="path")


def test_pages_and_counts_fit_together(index: Indexed) -> None:
    whole = index.ask("walrus", sort="path", total=True, facets=["roots"])
    assert whole.extras["total"] == {"hits": 5, "files": 4}
    assert set(whole.extras["facets"]["roots"].values()) == {1, 3}
    pages: list[object] = []
    offset: int | None = 0
    while offset is not None:
        answer = index.ask("walrus", sort="path", limit=2, offset=offset)
        pages += answer.hits
        offset = answer.next_offset
    assert pages == whole.hits
    by_file = index.search("walrus", sort="path", group="file")
    assert [(hit["relative_path"], hit["matches"]) for hit in by_file] == [
        ("e.txt", 1), ("a.txt", 2), ("b.txt", 1), ("c/d.txt", 1),
    ]  # fmt: skip


def test_a_changed_file_is_left_out_and_examined(index: Indexed) -> None:
    (index.folder / "root/b.txt").write_text("another text altogether\n")
    answer = index.ask("walrus tusk", sort="path")
    assert [hit["relative_path"] for hit in answer.hits] == ["a.txt", "c/d.txt"]
    assert [path for _, path in answer.stale] == [b"b.txt"]


def test_lines_too(index: Indexed) -> None:
    hits = index.search("tusk", mode="exact", sort="modified")
    assert [hit["relative_path"] for hit in hits] == ["e.txt", "a.txt", "c/d.txt", "b.txt"]


@pytest.mark.parametrize(
    "params",
    [
        {"sort": "path", "mode": "semantic"}, {"sort": "modified", "typing": True}, {"letter_case": "ignore"},
        {"whole_words": True}, {"cursor": "x"}, {"mode": "exact", "cursor": "x"},
        {"mode": "exact", "cursor": "MDowOi9h", "offset": 1}, {"mode": "exact", "cursor": "MDowOmE="},
    ],
)  # fmt: skip
def test_params_that_exclude_each_other_are_named(index: Indexed, params: dict[str, object]) -> None:
    with pytest.raises(InvalidParams) as caught:
        index.ask("walrus", **params)
    assert (caught.value.data or {})["field"] in params
