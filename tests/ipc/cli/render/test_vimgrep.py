"""The lines for editors: one record is one line whatever a path or a text contains, and points at the match."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from livedex_ipc.cli.render.vimgrep import file_lines, matched_lines, one_line, vimgrep

NASTY = st.text(st.sampled_from("ab:é\t\n\r\x0b\x0c\x1c\x85\u2028\u2029\0\x1b🙂"), max_size=40)


def hit(snippet: str, highlights: list[list[int]], **fields: Any) -> Any:
    """A hit whose snippet begins where its chunk does."""
    base = {"path": "/r/f", "snippet": snippet, "highlights": highlights, "start_line": 7, "snippet_line": 7}
    return {**base, "start_column": 1, "start_byte": 100, "snippet_byte": 100, **fields}


def file_name(path: bytes) -> dict[str, str]:
    return {"path": path.decode("utf-8", "replace"), "path_b64": b64encode(path).decode()}


@given(NASTY, NASTY, st.data())
def test_a_record_is_always_one_line(path: str, snippet: str, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, len(snippet)))
    right = data.draw(st.integers(left, len(snippet)))
    lines = list(vimgrep([hit(snippet, [[left, right]] if right > left else [], path=f"/{path}")]))
    assert all(line.endswith("\n") and len(line.splitlines()) == 1 and "\0" not in line for line in lines)
    assert len(lines) <= snippet.count("\n") + 1


@given(st.lists(st.text(st.sampled_from("aé🙂x \t"), max_size=12), min_size=1, max_size=6), st.data())
def test_line_and_column_point_at_the_first_highlighted_byte(rows: list[str], data: st.DataObject) -> None:
    snippet = "\n".join(rows)
    places = [(row, column) for row, text in enumerate(rows) for column in range(len(text))]
    if not places:
        return
    row, column = data.draw(st.sampled_from(places))
    start = sum(len(text) + 1 for text in rows[:row]) + column
    [(line, byte_column, text)] = matched_lines(hit(snippet, [[start, start + 1]]))
    assert (line, text) == (7 + row, rows[row])
    assert text.encode()[byte_column - 1 :].decode().startswith(snippet[start])


def test_each_line_that_a_highlight_touches_is_printed_once() -> None:
    found = list(matched_lines(hit("one two\nthree\nfour\n", [[0, 3], [4, 7], [6, 10]])))
    assert found == [(7, 1, "one two"), (8, 1, "three")]


def test_a_highlight_of_a_line_break_alone_touches_neither_line() -> None:
    assert list(matched_lines(hit("one\ntwo", [[3, 4]]))) == []


def test_a_line_end_of_windows_is_no_text() -> None:
    assert list(vimgrep([hit("one\r\ntwo\r\n", [[5, 8]])])) == ["/r/f:8:1:two\n"]


def test_a_hit_without_a_highlight_has_no_line() -> None:
    found = hit("one\ntwo", [], line=7, column=1, text="one")
    assert list(vimgrep([found])) == []
    assert list(vimgrep([found], every=True)) == ["/r/f:7:1:one\n"], "as the list of a picker needs it"


def test_a_snippet_that_begins_inside_a_long_line_keeps_the_column_of_the_file() -> None:
    inside = hit("xx needle", [[3, 9]], start_column=5, start_byte=100, snippet_byte=1100)
    assert [column for _, column, _ in matched_lines(inside)] == [5 + 1000 + 3]


def test_a_hit_that_is_a_line_has_the_columns_of_its_line() -> None:
    line = hit("a needle", [[2, 8]]) | {"start_column": 3}
    assert [column for _, column, _ in matched_lines(line, of_lines=True)] == [3]
    empty = hit("", [[0, 0]]) | {"start_column": 1}
    assert list(matched_lines(empty, of_lines=True)) == [(7, 1, "")]


def test_the_bytes_of_a_path_come_out_as_they_are() -> None:
    [line] = vimgrep([hit("x", [[0, 1]], **file_name(b"/r/caf\xe9"))])
    assert os.fsencode(line) == b"/r/caf\xe9:7:1:x\n"


def test_a_file_is_named_once_in_the_order_of_its_best_hit() -> None:
    hits = [hit("x", [], path=path) for path in ("/b", "/a", "/b", "/c\nd")]
    assert list(file_lines(hits)) == ["/b\n", "/a\n", "/c\\nd\n"]


def test_line_breaks_are_written_as_escapes_and_nothing_else_is() -> None:
    assert one_line("a\nb\rc\x0cd\u2028e\tf\x1bg") == "a\\nb\\rc\\x0cd\\u2028e\tf\x1bg"
