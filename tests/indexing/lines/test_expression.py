"""A regular expression is read as re2 reads it, and has the same meaning in re2 as in ripgrep."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from livedex_indexing.lines.expression import BadPattern, Piece, literal, read

PIECES = (
    *"abAB01_ .-^$|()[]{}*+?\\,:=<>PQEpdDsSwWbBzn,ié", "\u212a", "\\d", "\\w", "\\s", "\\S", "\\W", "[a-c]", "[^x]",
    "[\\w-]", "[]a]", "[[:alpha:]]", "(?i)", "(?m)", "(?:", "(?P<n>", "(?s-m:", "(?-i:", "{2}", "{1,3}", "{2,}?",
    "\\pL",     "\\p{Greek}", "\\x41", "\\x{e9}", "\\101", "\\0", "\\Q", "\\E", "\\b", "\\A", "\\z",
)  # fmt: skip


def compiles(pattern: str) -> bool:
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    try:
        re2.compile(pattern.encode(), options)
    except re2.error:
        return False
    return True


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_what_re2_compiles_is_read_and_written_so_that_it_compiles(pattern: str) -> None:
    if not compiles(pattern):
        return
    try:
        written = read(pattern).written
    except BadPattern:
        assert any(end in pattern for end in ("\\n", "\\r", "\\x", "\\0", "\\101"))
    else:
        assert compiles(f"(?m){written}")


@given(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"])))
def test_a_literal_matches_itself(text: str) -> None:
    assert re2.fullmatch(literal(text).written, text)


@pytest.mark.parametrize(
    ("pattern", "fold"),
    [
        ("foo", True), ("Foo", False), (r"\Sfoo\W", True), (r"\pLfoo", True), (r"\p{Lu}", False), (r"\w+", False),
        (r"[a-z]x", True), (r"[A-Z]x", False), (r"[a-Z]", False), (r"\x41", False), (r"\x61", True), ("É", False),
        ("é", True), ("(?P<Name>x)", True), (r"\Qa.B\E", False), (r"[[:upper:]]x", True), ("日本", True), ("1", True),
    ],
)  # fmt: skip
def test_case_is_ignored_unless_a_capital_is_written(pattern: str, fold: bool) -> None:
    if pattern != "[a-Z]":
        assert compiles(pattern)
        assert read(pattern).fold is fold


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\w+", "größe"), (r"[\w]+", "größe_1"), (r"\d", "٣"), (r"[\d]", "٣"), (r"\s", "\u00a0"), (r"[\s]", "\u2003"),
        (r"\s", "\v"), (r"[^\W]+", "né"), (r"[\S]+", "é"), (r"[\D]+", "a"), (r"a[\w-]z", "a-z"), (r"[\w]", "e"),
        (r"\W", "€"), (r"[\W]", "€"), (r"\Qa.b\E", "a.b"), (r"\101\x42\x{43}", "ABC"), (r"\A(?-m)x\z", "x"),
    ],
)  # fmt: skip
def test_classes_are_unicodes(pattern: str, text: str) -> None:
    assert re2.fullmatch(read(pattern).written, text)


@pytest.mark.parametrize(
    ("pattern", "text"), [(r"\W", "é"), (r"\S", "\u00a0"), (r"\D", "٣"), (r"[\W]", "é"), (r"[^\w]", "é")]
)
def test_and_so_are_their_complements(pattern: str, text: str) -> None:
    assert not re2.fullmatch(read(pattern).written, text)


@pytest.mark.parametrize("pattern", [r"a\nb", "a\nb", r"\r", r"\x0a", r"\012", r"\C"])
def test_what_no_line_can_hold_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match="query: ") as caught:
        read(pattern)
    assert caught.value.data == {"field": "query"}


def test_a_flag_between_a_piece_and_its_repeat_is_no_piece() -> None:
    kinds = [piece.kind for piece in read("a(?i)+b{2,}?").pieces]
    assert kinds == ["char", "flags", "repeat", "char", "repeat"]
    assert read("b{2,}?").pieces[1] == Piece("repeat", "{2,}?", least=2, most=None)
    assert [piece.chars for piece in read("a{,3}").pieces] == list("a{,3}")
