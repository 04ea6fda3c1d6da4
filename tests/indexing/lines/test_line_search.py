"""Exact and regex searches: the matching lines, in order, with the filters of any search, and never an old line."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.indexed_folder import Indexed
from livedex_indexing.lines.expression import BadPattern
from livedex_indexing.lines.line_pattern import Line, Pattern
from livedex_indexing.lines.line_search import LineSearch
from livedex_ipc.errors import Cancelled


@pytest.fixture
def index(tmp_path: Path):
    with Indexed(tmp_path, ("root", "other")) as made:
        yield made


def places(hits: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(hit["relative_path"], hit["start_line"]) for hit in hits]


def test_one_hit_a_line_in_order_of_path_and_line_every_copy(index: Indexed) -> None:
    text = "one needle\nno\ntwo needle needle\n"
    for path in ("root/b.txt", "root/a/z.txt", "root/a.txt", "other/c.txt"):
        index.write(path, text)
    hits = index.search("needle", mode="exact")
    assert [(hit["path"], hit["start_line"]) for hit in hits] == sorted(
        (hit["path"], hit["start_line"]) for hit in hits
    )
    assert len(hits) == 8
    assert hits[1]["highlights"] == [[4, 10], [11, 17]]
    assert {hit["score"] for hit in hits} == {1.0}
    assert not any("also_at" in hit for hit in hits)


def test_a_hit_is_its_line(index: Indexed) -> None:
    index.write("root/a.py", "# first\r\ndef größe(x):\r\n    return x\r\n")
    [hit] = index.search("GRÖSSE|e\\(", mode="regex", context_lines=1)
    assert index.search("größe(", mode="exact")[0]["highlights"] == [[4, 10]]
    assert hit["snippet"] == "def größe(x):"
    assert (hit["start_line"], hit["end_line"], hit["snippet_line"]) == (2, 2, 2)
    assert (hit["start_byte"], hit["end_byte"], hit["snippet_byte"], hit["start_column"]) == (9, 24, 9, 11)
    assert (hit["context_before"], hit["context_after"]) == ("# first\r\n", "    return x\r\n")
    assert (hit["kind"], hit["language"], hit["symbol"]) == ("code", "python", "größe")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8"])
def test_bytes_are_those_on_disk(index: Indexed, encoding: str) -> None:
    text = "\ufefferste Zeile\r\nzwei größere 😀 Wörter\nEnde"
    index.write("root/a.txt", text.encode(encoding))
    [hit] = index.search("Wört", mode="exact")
    data = text.encode(encoding)
    assert data[hit["start_byte"] : hit["end_byte"]].decode(encoding) == hit["snippet"] == "zwei größere 😀 Wörter"
    assert hit["start_column"] - 1 == len("zwei größere 😀 ".encode(encoding))
    assert index.search("^erste", mode="regex")[0]["start_byte"] == len("\ufeff".encode(encoding))


def test_bytes_of_a_file_in_no_known_encoding(index: Indexed) -> None:
    index.write("root/a.txt", b"caf\xe9 \x81 bar\nzwei caf\xe9\n" * 3)
    hits = index.search("^zwei caf", mode="regex")
    assert [(hit["start_byte"], hit["end_byte"]) for hit in hits] == [(11, 20), (32, 41), (53, 62)]


def test_of_a_long_line_a_slice_around_the_first_match(index: Indexed) -> None:
    index.write("root/a.txt", "é" * 5000 + " needle " + "ü" * 5000 + " needle\n")
    [hit] = index.search("needle", mode="exact", max_snippet_chars=40)
    assert len(hit["snippet"]) == 40
    assert [hit["snippet"][a:b] for a, b in hit["highlights"]] == ["needle"]
    assert hit["start_column"] == 10_002
    assert hit["snippet_byte"] == 10_000 - 2 * hit["snippet"].index(" ")


def test_a_line_of_megabytes_has_highlights_near_its_first_match(index: Indexed) -> None:
    index.write("root/a.txt", "." * 50 + "ab" * 300_000 + "\n")
    [hit] = index.search("a", mode="exact", max_snippet_chars=1_000_000)
    assert len(hit["snippet"]) == 50 + 600_000
    assert hit["highlights"] == [[at, at + 1] for at in range(50, 51 + 131_072, 2)]


def test_all_filters_hold(index: Indexed) -> None:
    index.write("root/src/a.py", "needle = 1\n", mtime=1_000)
    index.write("root/doc/a.md", "# needle\n", mtime=2_000)
    index.write("other/b.py", "needle = 2\n", mtime=3_000)
    asked = {
        "path": str(index.folder / "root/doc"), "globs": ["*.md"], "languages": ["markdown"],
        "kinds": ["markdown_text"], "modified_after": "1970-01-01T00:25:00Z", "roots": [str(index.folder / "root")],
    }  # fmt: skip
    of_root = index.search("needle", mode="exact", roots=asked["roots"])
    assert places(of_root) == [("doc/a.md", 1), ("src/a.py", 1)]
    for name in ("path", "globs", "languages", "kinds"):
        assert places(index.search("needle", mode="exact", **{name: asked[name]})) == [("doc/a.md", 1)], name
    assert places(index.search("needle", mode="regex", **asked)) == [("doc/a.md", 1)]
    assert index.search("needle", mode="exact", globs=["*.c"]) == []
    assert index.search("lang:python", mode="exact") == [], "no terms are read out of a pattern"


def test_the_pages_of_an_answer(index: Indexed) -> None:
    for name in "abc":
        index.write(f"root/{name}.txt", "".join(f"line {number} needle\n" for number in range(25)))
    whole = places(index.search("needle", mode="exact", limit=1000))
    found: list[tuple[str, int]] = []
    offset: int | None = 0
    while offset is not None:
        answer = index.ask("needle", mode="exact", limit=7, offset=offset)
        found, offset = found + places(answer.hits), answer.next_offset
    assert found == whole and len(whole) == 75
    assert index.ask("needle", mode="exact", limit=75).next_offset is None


def test_a_file_once_with_its_lines_counted(index: Indexed) -> None:
    index.write("root/a.txt", "x\nneedle\nneedle needle\n")
    index.write("root/b.txt", "needle\n")
    hits = index.search("needle", mode="exact", group="file")
    assert [(hit["relative_path"], hit["start_line"], hit["matches"]) for hit in hits] == [
        ("a.txt", 2, 2),
        ("b.txt", 1, 1),
    ]


def test_facets_count_files_and_room_is_kept(index: Indexed) -> None:
    index.write("root/a.py", "needle\nneedle\n")
    index.write("root/b.py", "a needle\n")
    index.write("other/c.md", "# needle\n")
    answer = index.ask("needle", mode="exact", limit=1, facets=["languages", "kinds", "roots"])
    assert answer.extras["facets"] == {
        "languages": {"python": 2, "markdown": 1},
        "kinds": {"code": 2, "markdown_text": 1},
        "roots": {str(index.folder / "root"): 2, str(index.folder / "other"): 1},
    }
    answer = index.ask("needle", mode="exact", max_chars=15)
    assert (len(answer.hits), answer.next_offset, answer.extras["omitted"]) == (2, 2, 2)


def test_a_file_that_has_changed_is_left_out_and_said(index: Indexed) -> None:
    index.write("root/a.txt", "old needle\n")
    index.write("root/b.txt", "needle\n")
    (index.folder / "root/a.txt").write_text("new needle\n")
    answer = index.ask("needle", mode="exact")
    assert places(answer.hits) == [("b.txt", 1)]
    assert [path for _, path in answer.stale] == [b"a.txt"]
    assert [one["code"] for one in answer.warnings] == ["files_changed"]


def test_what_came_after_the_words_were_read_is_found(index: Indexed) -> None:
    index.write("root/a.txt", "alpha\n")
    assert len(index.search("alph", mode="exact")) == 1
    index.write("root/b.txt", "xalphax brandnew\n")
    assert places(index.search("alph", mode="exact")) == [("a.txt", 1), ("b.txt", 1)]
    assert places(index.search("randne", mode="exact")) == [("b.txt", 1)]
    for number in range(300):
        index.write(f"root/c/{number}.txt", f"token{number}x\n")
    assert places(index.search("ken299", mode="exact")) == [("c/299.txt", 1)]
    index.remove("root/b.txt")
    assert index.search("randne", mode="exact") == []


def test_a_word_longer_than_the_index_holds(index: Indexed) -> None:
    index.write("root/a.txt", "x" * 40_000 + "needle" + "y" * 40_000 + " tail\n")
    assert places(index.search("xneedley", mode="exact")) == [("a.txt", 1)]
    assert index.search("xneedlez", mode="exact") == []


def test_a_word_torn_by_a_cut_and_a_line_over_two_chunks(index: Indexed) -> None:
    index.write("root/a.txt", "".join(f"line {number}\n" for number in range(9)) + "the last of ten\nnext needle\n")
    assert places(index.search("of ten", mode="exact")) == [("a.txt", 10)]
    assert places(index.search("^next needle$", mode="regex")) == [("a.txt", 11)]


def test_a_deadline_ends_with_the_hits_so_far(index: Indexed) -> None:
    for number in range(40):
        index.write(f"root/{number:02}.txt", "needle\n" * 100)
    index.search("needle", mode="exact")
    clock = itertools.count()
    index.pool.clock = lambda: float(next(clock))
    index.pool.release_memory()
    answer = index.ask("needle", mode="exact", limit=1000, deadline=700.0)
    assert 0 < len(answer.hits) < 1000
    assert answer.next_offset == len(answer.hits)
    assert [one["code"] for one in answer.warnings] == ["query_deadline"]
    with pytest.raises(Cancelled):
        index.ask("needle", mode="exact", cancelled=lambda: True)


def test_a_bad_pattern_is_refused_before_anything_is_asked(index: Indexed) -> None:
    index.pool.close()
    for mode, pattern in (("regex", "("), ("regex", ""), ("exact", "a\nb"), ("exact", "")):
        with pytest.raises(BadPattern):
            index.ask(pattern, mode=mode)


def at_each_file(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Run ``action`` whenever the search has read a file and looks for its lines."""
    lines = Pattern.lines

    def act_and_look(pattern: Pattern, *of: Any) -> Iterator[Line]:
        action()
        return lines(pattern, *of)

    monkeypatch.setattr(Pattern, "lines", act_and_look)


def test_the_log_of_the_index_shrinks_while_files_are_searched(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that overlap without a pause would let it grow without limit."""
    for number in range(20):
        index.write(f"root/{number:02}.txt", "needle\n")
    folded: list[bool] = []
    log = Path(index.database + "-wal")

    def write_and_fold() -> None:
        index.write("root/later.txt", f"other {len(folded)}\n")
        folded.append(index.store.checkpoint() and log.stat().st_size == 0)

    at_each_file(monkeypatch, write_and_fold)
    assert len(index.search("needle", mode="exact", limit=100)) == 20
    assert folded == [True] * 20


def test_what_is_indexed_again_during_the_search_is_left_out_and_searched_by_the_next(
    index: Indexed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        index.write(f"root/{name}.txt", f"needle {name}\n")

    def change() -> None:
        if (index.folder / "root/b.txt").exists():
            rename(index, "root/b.txt", "root/d.txt")
            index.write("root/c.txt", "other\n")

    at_each_file(monkeypatch, change)
    answer = index.ask("needle", mode="exact")
    assert places(answer.hits) == [("a.txt", 1)]
    assert [warning["code"] for warning in answer.warnings] == ["files_changed"]
    assert {path for _, path in answer.stale} == {b"b.txt", b"c.txt"} and not any(answer.stale.values())
    assert places(index.search("needle", mode="exact")) == [("a.txt", 1), ("d.txt", 1)]


def test_what_can_no_longer_be_read_is_left_out(index: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        index.write(f"root/{name}.txt", f"needle {name}\n")
    row = index.row("root/b.txt")._replace(status="pending", reason="read: Input/output error", content_id=None)
    select = LineSearch.select

    def select_and_lose(search: LineSearch, *of: Any) -> None:
        select(search, *of)
        index.store.put_files([row])

    monkeypatch.setattr(LineSearch, "select", select_and_lose)
    answer = index.ask("needle", mode="exact")
    assert places(answer.hits) == [("a.txt", 1)]
    assert answer.stale == {(1, b"b.txt"): False}


def rename(index: Indexed, old: str, new: str) -> None:
    (index.folder / old).rename(index.folder / new)
    root_id, path = index.root_of(old)
    index.store.remove_files(root_id, [path])
    index.index(new)
