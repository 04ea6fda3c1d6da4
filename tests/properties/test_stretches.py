"""A text that is searched in slices has the matches of the whole text, as Python's ``re`` finds them."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from livedex_indexing.lines import line_pattern
from livedex_indexing.lines.line_pattern import Pattern

Found = list[tuple[int, list[tuple[int, int]]]]  # number of the line, and its matches as offsets into the text

PIECES = st.sampled_from(
    ["a", "b", "é", ".", "a*", "b+", "(ab|a)", "[^a]", "x?", "(a|b)*", "^", "$", "\\b", ".*", "a{2,3}", "(b|)", "[a-b]"]
)
PATTERNS = st.lists(PIECES, min_size=1, max_size=4).map("".join)
LINES = st.lists(st.text(alphabet="abéx ", max_size=40), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n"])


def by_python(pattern: str, text: str, reach: int) -> Found:
    """Return every line with those of its matches that begin within ``reach`` bytes of the first; an empty match
    directly after another one does not count."""
    compiled = re.compile(pattern, re.ASCII)
    found: Found = []
    at = 0
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1):
        spans: list[tuple[int, int]] = []
        for match in compiled.finditer(line.removesuffix("\r")):
            start, end = (at + len(line[:place].encode()) for place in match.span())
            if start < end or not spans or spans[-1][1] != start:
                spans.append((start, end))
        if spans:
            found.append((number, [span for span in spans if span[0] <= spans[0][0] + reach]))
        at += len(line.encode()) + 1
    return found


@pytest.mark.parametrize("size", [1, 7, 30])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=PATTERNS, lines=LINES, end=ENDS, last=st.booleans(), reach=st.sampled_from([0, 1, 5, 10_000]))
def test_stretches_find_what_the_whole_text_holds(
    monkeypatch: pytest.MonkeyPatch, size: int, pattern: str, lines: list[str], end: str, last: bool, reach: int
) -> None:
    for name in ("FIRST_STRETCH", "LEAST_STRETCH", "HARD_STRETCH", "MOST_STRETCH"):
        monkeypatch.setattr(line_pattern, name, size)
    text = end.join(lines) + end * last
    found = Pattern(pattern, exact=False).lines(text.encode(), reach, bool)
    assert [(line.number, line.spans) for line in found] == by_python(pattern, text, reach)
