"""Lines are found as ripgrep finds them, and no pattern does harm."""

from __future__ import annotations

from typing import Any

import pytest
import re2

from livedex_indexing.lines.expression import BadPattern
from livedex_indexing.lines.line_pattern import Case, Line, Pattern


def found(pattern: str, text: bytes, *, exact: bool = False, reach: int = 1000) -> list[Line]:
    return list(Pattern(pattern, exact=exact).lines(text, reach, bool))


def lines(pattern: str, text: bytes) -> list[tuple[int, bytes]]:
    """Return the number of each line and its first matching bytes."""
    return [(line.number, text[slice(*line.spans[0])]) for line in found(pattern, text)]


def test_a_line_has_all_its_matches() -> None:
    [first, second] = found("a+", b"xaaxa\nb\naa\n")
    assert first == Line(1, 0, 5, [(1, 3), (4, 5)])
    assert second == Line(3, 8, 10, [(8, 10)])


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("^$", [2]), ("b$", [1]), ("^c", [3]), ("b.", []), ("b\\s", []), ("[^a]$", [1, 3]), ("\\Ac", [3]),
        ("b\\z", [1]),
        ("c[^x]d", []), ("c.d", []),
        ("^d", []), ("c$", []), ("(?s)b.c", []), ("d$", [3]), ("\\W", []), ("x*$", [1, 2, 3]),
    ],
)  # fmt: skip
def test_the_ends_of_lines(pattern: str, numbers: list[int]) -> None:
    """CR LF ends a line; a CR inside one is matched by nothing and does not end a line."""
    assert [line.number for line in found(pattern, b"ab\r\n\r\nc\rd\r\n")] == numbers


def test_the_last_line_may_lack_its_end() -> None:
    assert lines("t$", b"first\nlast") == [(1, b"t"), (2, b"t")]
    assert lines("^$", b"") == []
    assert lines("^$", b"\n") == [(1, b"")]
    assert lines("^$", b"a\n") == []


def test_empty_matches_are_between_characters_and_not_next_to_a_match() -> None:
    [line] = found("x*", "éxb".encode())
    assert line.spans == [(0, 0), (2, 3), (4, 4)]


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        ("foo", [1, 3, 5, 6]), ("foo|foo_bar", [1, 2, 3, 5, 6]), ("-foo", [5]), ("o", []), ("foo.", [4, 6]),
        ("(f)(oo)", [1, 3, 5, 6]), ("bar", [1, 5]), ("größe", [4]), ("gr", []), ("^foo$", [3]),
        ("(?i)FOO", [1, 3, 5, 6]),
    ],
)  # fmt: skip
def test_whole_words(pattern: str, numbers: list[int]) -> None:
    """Next to a match is no letter, digit or underscore, whatever script it is of; a carriage return parts words."""
    text = "foo bar\nfoo_bar\nfoo\nfoö größe foox\n--foo bar\nxfoo foo\rfoo7\n".encode()
    found_lines = list(Pattern(pattern, exact=False, whole_words=True).lines(text, 1000, bool))
    assert [line.number for line in found_lines] == numbers


def test_whole_words_share_what_parts_them() -> None:
    [line] = Pattern("ab", exact=True, whole_words=True).lines(b"ab ab,ab abab ab\n", 1000, bool)
    assert line.spans == [(0, 2), (3, 5), (6, 8), (14, 16)]


@pytest.mark.parametrize(
    ("case", "pattern", "numbers"),
    [
        ("smart", "ab", [1, 2]), ("smart", "Ab", [2]), ("ignore", "Ab", [1, 2]), ("sensitive", "ab", [1]),
        ("sensitive", "Ab", [2]),
    ],
)  # fmt: skip
def test_case(case: Case, pattern: str, numbers: list[int]) -> None:
    for exact in (True, False):
        made = Pattern(pattern, exact=exact, case=case)
        assert [line.number for line in made.lines(b"ab\nAb\n", 1000, bool)] == numbers


def test_odd_bytes() -> None:
    assert lines("b.", b"a\0\nb\0\n") == [(2, b"b\0")]
    assert lines("k", "\u212a\n".encode()) == [(1, "\u212a".encode())]  # KELVIN SIGN
    assert [line.number for line in found("K", "\u212a\nk\nK".encode())] == [3]


def test_exact_takes_every_sign_for_itself() -> None:
    assert [line.spans for line in found("a.c(", b"abc( A.C(\n", exact=True)] == [[(5, 9)]]
    assert [line.spans for line in found("a.C(", b"a.c( a.C(\n", exact=True)] == [[(5, 9)]]
    assert found("  x", b" x\n   x\n", exact=True)[0].number == 2


def test_of_a_long_line_the_matches_around_the_first() -> None:
    [line] = found("a", b"." * 50 + b"a" * 100_000, reach=10)
    assert line.spans == [(at, at + 1) for at in range(50, 61)]


class Counted:
    """A compiled expression that counts its searches."""

    def __init__(self, compiled: re2._Regexp) -> None:
        self._compiled = compiled
        self.programsize = compiled.programsize
        self.searches = 0

    def search(self, *given: Any) -> Any:
        self.searches += 1
        return self._compiled.search(*given)


@pytest.mark.parametrize("pattern", ["a", ".", "\\b|a"])
def test_of_a_long_line_no_more_matches_are_looked_for(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of some megabytes has as many."""
    made: list[Counted] = []
    compiled = re2.compile

    def counted(*given: Any) -> Counted:
        made.append(Counted(compiled(*given)))
        return made[-1]

    monkeypatch.setattr(re2, "compile", counted)
    text = (b"a" * 5_000 + b"\r\n") * 3
    assert [line.number for line in found(pattern, text, reach=10)] == [1, 2, 3]
    assert made[-1].searches < 50


def test_it_ends_when_asked_to() -> None:
    asked = iter([False, False, True])
    assert [line.number for line in Pattern("a", exact=False).lines(b"a\na\na\na\n", 9, lambda: next(asked))] == [1, 2]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("", "empty"), ("(", "missing"), ("a**", "repetition"), ("[a", "missing ]"), ("\\8", "escape"),
        ("a{1001}", "repetition"),
        ("((a{100}){100}){100}", "repetition|large"), ("(?:\\w{500}){2}", "large"), ("(?<=a)b", "look-around"),
        ("\ud800", "surrogate"), ("a" * 4097, "4096"), ("é" * 2049, "4096"), ("a\nb", "line"),
        ("\\p{Nope}", "range"), ("\\C", "byte"),
    ],
)  # fmt: skip
def test_a_bad_pattern_says_what_is_wrong(pattern: str, reason: str) -> None:
    with pytest.raises(BadPattern, match=f"(?s)query: .*({reason})"):
        Pattern(pattern, exact=False)


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "(a*)*b", "(.*){20}x", "(" * 900 + "a" + ")" * 900, "a?" * 900 + "b"]
)
def test_no_pattern_takes_long(pattern: str) -> None:
    made = Pattern(pattern, exact=False)
    assert sum(1 for _ in made.lines((b"a" * 2000 + b"\n") * 20, 10, bool)) in (0, 20)


@pytest.mark.parametrize("piece", ["(a|b", "((a)|", "[ab]", "a{2}", "(?i)", "x|", ".*a", "\\w"])
def test_patterns_of_four_kilobytes(piece: str) -> None:
    count = 4096 // (len(piece) + piece.count("(") * ("?" not in piece))
    text = piece * count + ")" * (piece.count("(") * count if "?" not in piece else 0)
    try:
        found(text, b"abab\n")
    except BadPattern as error:
        assert "compile" in error.message


def test_a_search_can_be_stopped_between_stretches_though_nothing_matches() -> None:
    """Whatever the pattern costs: checking the clock once per file would not bound it."""
    looks: list[int] = []

    def ended() -> bool:
        looks.append(1)
        return len(looks) == 5

    text = b"x" * 99 + b"\n"
    assert list(Pattern("a[ab]{1000}c", exact=False).lines(text * 20_000, 1000, ended)) == []
    assert len(looks) == 5


def test_a_search_can_be_stopped_inside_a_line_of_any_length() -> None:
    looks: list[int] = []

    def ended() -> bool:
        looks.append(1)
        return len(looks) == 2

    text = b"x" * 4_000_000 + b"a" * 2_000
    assert list(Pattern("a[ab]{999}$", exact=False).lines(text, 1000, ended)) == []
    assert len(looks) == 2


def test_a_long_line_is_searched_as_a_whole() -> None:
    text = b"a" + b"x" * 3_000_000 + b"b"
    assert [line.spans for line in found("a.*b", b"one\n" + text + b"\ntwo\n")] == [[(4, 4 + len(text))]]


def test_a_pattern_that_is_too_large_is_refused() -> None:
    assert found(r"\w{32}", b"0123456789abcdef" * 2)
    with pytest.raises(BadPattern, match="too large"):
        Pattern(r"\p{L}{200}x", exact=False)


@pytest.mark.parametrize("text", ["(?<=a)b", "a(?=b)", "(?!a)b", "(?<!a)b"])
def test_look_around_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(BadPattern, match="look-around is not supported"):
        Pattern(text, exact=False)
