"""Of a file's chunks, exactly the lines that were wanted."""

from __future__ import annotations

from typing import Any

import pytest

from livedex_ipc.chunk_lines import within_lines

CHUNKS: list[dict[str, Any]] = [
    {"ordinal": 0, "start_line": 1, "end_line": 3, "text": "one\r\ntwo\x0b\u2028two\r\n\r\n"},
    {"ordinal": 1, "start_line": 4, "end_line": 4, "text": "four "},  # a line of two chunks
    {"ordinal": 2, "start_line": 4, "end_line": 6, "text": "more\nfive\nsix"},
]


@pytest.mark.parametrize(
    ("lines", "texts"),
    [
        ({}, [(1, 3, "one\r\ntwo\x0b\u2028two\r\n\r\n"), (4, 4, "four "), (4, 6, "more\nfive\nsix")]),
        ({"start_line": 2, "end_line": 2}, [(2, 2, "two\x0b\u2028two\r\n")]),
        ({"start_line": 3, "end_line": 4}, [(3, 3, "\r\n"), (4, 4, "four "), (4, 4, "more\n")]),
        ({"start_line": 5}, [(5, 6, "five\nsix")]),
        ({"end_line": 1}, [(1, 1, "one\r\n")]),
        ({"start_line": 6, "end_line": 9}, [(6, 6, "six")]),
    ],
)
def test_chunks_are_cut_to_lines(lines: dict[str, int], texts: list[tuple[int, int, str]]) -> None:
    first, last = lines.get("start_line", 1), lines.get("end_line", 9)
    touched = [chunk for chunk in CHUNKS if chunk["end_line"] >= first and chunk["start_line"] <= last]
    made: Any = {"chunks": touched}
    cut = within_lines(made, lines)["chunks"]
    assert [(chunk["start_line"], chunk["end_line"], chunk["text"]) for chunk in cut] == texts
    assert [chunk["ordinal"] for chunk in cut] == [chunk["ordinal"] for chunk in touched]
