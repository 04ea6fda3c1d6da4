"""One pattern, one path: the answers of git, compared with git itself."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from helpers.support import GIT_ENVIRONMENT, Tree
from livedex_indexing.ignore.git_pattern import MAX_PATTERN, parse_lines
from livedex_indexing.ignore.rule_file import RuleFile

PATTERNS = int(os.environ.get("LIVEDEX_RULES", "20000"))  # of one file

# A line of an ignore file; paths that it ignores; paths that it does not. A path that ends in / is a folder.
CASES: list[tuple[bytes, list[bytes], list[bytes]]] = [
    (b"foo", [b"foo", b"foo/", b"a/foo", b"a/b/foo/"], [b"foo2", b"xfoo", b"Foo"]),
    (b"foo/", [b"foo/", b"a/foo/"], [b"foo", b"a/foo"]),
    (b"/foo", [b"foo", b"foo/"], [b"a/foo"]),
    (b"a/foo", [b"a/foo"], [b"b/a/foo", b"foo"]),
    (b"*.o", [b"x.o", b".o", b"a/b.o"], [b"x.oo", b"o"]),
    (b"a*", [b"a", b"abc", b"x/ab/"], [b"ba"]),
    (b"a*a", [b"aa", b"aba"], [b"a", b"ab"]),
    (b"a?c", [b"abc", b"a\xffc"], [b"ac", b"a\xc3\xa9c", b"abbc"]),
    (b"a??c", [b"a\xc3\xa9c"], [b"abc"]),
    (b"/*", [b"a", b"b/"], [b"a/b"]),
    (b"a/*", [b"a/b", b"a/c/"], [b"a/"]),
    (b"a/**", [b"a/b", b"a/b/c"], [b"a/"]),
    (b"**/foo", [b"foo", b"a/foo", b"a/b/foo"], [b"foo2"]),
    (b"a/**/b", [b"a/b", b"a/x/b", b"a/x/y/b"], [b"ab", b"x/a/b"]),
    (b"**", [b"a", b"a/b"], []),
    (b"***", [b"a", b"a/b"], []),
    (b"/**", [b"a", b"a/b"], []),
    (b"a**/b", [b"a/b", b"ax/b", b"ax/y/b"], [b"b"]),  # git compares the literal beginning apart
    (b"x/a**", [b"x/ab", b"x/ab/c"], [b"x/b"]),
    (b"*/**/b", [b"a/b", b"a/x/b"], [b"b"]),
    (b"**\\/b", [b"a/b", b"a/x/b"], [b"b"]),
    (b"[a]/*", [b"a/x"], [b"a/", b"b/x"]),
    (b"*/", [b"a/", b"a/b/"], [b"a"]),
    (b"[ab]", [b"a", b"b"], [b"c", b"ab"]),
    (b"[!ab]", [b"c", b"\xff"], [b"a"]),
    (b"[^ab]", [b"c"], [b"a"]),
    (b"[]a]", [b"]", b"a"], [b"b"]),
    (b"[!]a]", [b"b"], [b"]", b"a"]),
    (b"[c-a]", [b"c"], [b"b", b"a"]),
    (b"[a-]", [b"a", b"-"], [b"b"]),
    (b"[-a]", [b"a", b"-"], [b"b"]),
    (b"[a-c-e]", [b"b", b"-", b"e"], [b"d"]),
    (b"[\\]]", [b"]"], [b"\\"]),
    (b"[a-\\c]", [b"b"], [b"d", b"\\"]),
    (b"[[:digit:]a]", [b"7", b"a"], [b"b", b":"]),
    (b"[[:upper:]-]", [b"Q", b"-"], [b"q"]),
    (b"[[:space:]]", [b" ", b"\t", b"\n"], [b"\x0b", b"\x0c"]),
    (b"[[:nope:]]", [], [b"n", b"[:nope:]"]),
    (b"[[a]", [b"[", b"a"], [b"b"]),
    (b"[[:]", [b"[", b":"], [b"a"]),
    (b"[\x80-\xff]x", [b"\xe9x"], [b"ax", b"\xc3\xa9x"]),
    (b"a[/]b", [], [b"a/b", b"ab"]),
    (b"a[!x]b", [b"ayb"], [b"a/b"]),
    (b"[a", [], [b"a", b"[a"]),
    (b"a\\", [], [b"a", b"a\\"]),
    (b"a\\*", [b"a*"], [b"ab", b"a"]),
    (b"a\\b", [b"ab"], [b"a\\b"]),
    (b"\\!a", [b"!a"], [b"a"]),
    (b"\\#a", [b"#a"], [b"a"]),
    (b"#a", [], [b"#a", b"a"]),
    (b"a ", [b"a"], [b"a "]),
    (b"a\\ ", [b"a "], [b"a"]),
    (b"a\\  ", [b"a "], [b"a", b"a  "]),
    (b"a\\\\ ", [b"a\\"], [b"a\\ ", b"a "]),
    (b" a", [b" a"], [b"a"]),
    (b"a\r", [b"a"], [b"a\r"]),
    (b"a\r\r", [b"a\r"], [b"a"]),
    (b"a\t", [b"a\t"], [b"a"]),
    (b"a\x00b", [b"a"], [b"b", b"ab"]),
    (b"\xef\xbb\xbfa", [b"a"], [b"\xef\xbb\xbfa"]),
    (b"/", [], [b"a", b"a/"]),
    (b"//", [], [b"a", b"a/"]),
    (b"//*", [], [b"a", b"a/", b"a/b"]),
    (b"//a/", [], [b"a/"]),
    (b"///a", [], [b"a", b"a/a"]),
    (b"//**/a", [], [b"a", b"b/a"]),
    (b"!", [], [b"a", b"!"]),
    (b"!a", [], [b"a"]),
    (b"a//b", [], [b"a/b"]),
    (b"x\\/", [], [b"x/"]),
    (b"(a|b)+", [b"(a|b)+"], [b"a"]),
    (b"a.c", [b"a.c"], [b"abc"]),
    (b"{a,b}", [b"{a,b}"], [b"a"]),
    (b"$^", [b"$^"], [b""]),
    (b"a\\\n", [], [b"a\\"]),
]
KEYS = [repr(line) for line, _, _ in CASES]


def matches(rules: RuleFile, path: bytes) -> bool:
    """Return the last pattern's verdict on this path alone, whatever applies to the folders above."""
    folder, _, name = path.rstrip(b"/").rpartition(b"/")
    applied = rules.at(folder)
    number = applied.last(name, path.endswith(b"/")) if applied is not None else -1
    return number >= 0 and bool(rules.patterns[number].include)


# Versions of git differ: 2.47 still matches, 2.55 does not.
UNTIL_LATELY = {(b"a**/b", b"ax/y/b")}


@pytest.mark.parametrize(("line", "ignored", "kept"), CASES, ids=KEYS)
def test_a_pattern_matches_what_git_would(line: bytes, ignored: list[bytes], kept: list[bytes]) -> None:
    rules = RuleFile.parse("x", line + b"\n")
    assert [path for path in ignored if not matches(rules, path)] == []
    assert [path for path in kept if path and matches(rules, path)] == []


def git_version(tree: Tree) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]+", tree.git("version"))[:2]))


def above(path: bytes) -> list[bytes]:
    parts = path.rstrip(b"/").split(b"/")
    return [b"/".join(parts[:end]) for end in range(1, len(parts))]


@pytest.mark.needs("git")
@pytest.mark.parametrize(("line", "ignored", "kept"), CASES, ids=KEYS)
def test_git_says_the_same(tree: Tree, line: bytes, ignored: list[bytes], kept: list[bytes]) -> None:
    tree.git("init", "-q")
    tree.write(".gitignore", line + b"\n")
    rules = RuleFile.parse("x", line + b"\n")
    for path in filter(None, [*ignored, *kept]):
        if (line, path) in UNTIL_LATELY and git_version(tree) >= (2, 48):
            continue
        full = os.path.join(os.fsencode(tree.path), path.rstrip(b"/"))
        if not path.endswith(b"/") and os.path.isdir(full):
            continue  # the same name is a folder here
        os.makedirs(full if path.endswith(b"/") else os.path.dirname(full), exist_ok=True)
        asked = subprocess.run(
            ["git", "-C", tree.path, "check-ignore", "--no-index", "-q", "-z", "--stdin"],
            env={**os.environ, **GIT_ENVIRONMENT},
            input=b"./" + path.rstrip(b"/") + b"\0",  # a bare ":" would be pathspec magic
            check=False,
        )
        ours = any(matches(rules, folder + b"/") for folder in above(path)) or matches(rules, path)
        assert ours == (asked.returncode == 0), path


def test_a_pattern_knows_its_line_and_its_text() -> None:
    (first, second) = parse_lines(b"\n# note\n!caf\xc3\xa9/ \r\n\xff*")
    assert (first.line, first.source, first.include, first.folders_only) == (3, "!café/", False, True)
    assert (second.line, second.source) == (4, "\ufffd*")


def test_the_last_of_many_decides() -> None:
    """However a pattern is looked up (by name, by beginning, by ending, all together), the last one wins."""
    lines = [b"abc", b"!a*", b"*c", b"!?bc", b"a[b]c", b"!*b*", b"a*c", b"!abc"]
    for count in range(1, len(lines) + 1):
        rules = RuleFile.parse("x", b"\n".join(lines[:count]))
        applied = rules.at(b"")
        assert applied is not None
        assert applied.last(b"abc", False) == count - 1


def test_the_last_of_names_and_paths_decides() -> None:
    """Patterns for names, for names in one folder and for whole paths are stored separately, but keep their order."""
    lines = [b"x", b"!a/x", b"*/x", b"!?", b"a/**", b"!/a/*", b"**/a/x", b"!x"]
    for count in range(1, len(lines) + 1):
        rules = RuleFile.parse("x", b"\n".join(lines[:count]))
        applied = rules.at(b"a")
        assert applied is not None
        assert applied.last(b"x", False) == count - 1


@pytest.mark.parametrize(
    "line", [b"*a" * 1_900, b"?" * 4_000, b"[!a]" * 1_000, b"**/" * 1_300 + b"x", b"(" * 4_000, b"\\*" * 2_000]
)
def test_a_monstrous_pattern_is_matched_in_linear_time(line: bytes) -> None:
    """``fnmatch`` and a backtracking ``re`` would not finish in a lifetime; the time limit of the test is the
    assertion.
    """
    rules = RuleFile.parse("x", line)
    applied = rules.at(b"a/a/a")
    for name in (b"a" * 255, b"a" * 254 + b"b", b"x"):
        assert applied is None or applied.last(name, False) in (-1, 0)


@pytest.mark.parametrize(
    "shape", ["name{}", "*.ext{}", "dir{}/", "/a/b{}/c*", "*_{}_*.log", "**/x{}/**/*.y", "[ab]{}*z?", "*{}?*"]
)
def test_very_many_patterns_are_all_there(shape: str) -> None:
    lines = [shape.format(number) for number in range(PATTERNS)]
    rules = RuleFile.parse("x", "\n".join(lines).encode())
    assert rules.fault is None
    for number in (0, 7_777, PATTERNS - 1):
        path = {
            "/a/b{}/c*": f"a/b{number}/cc",
            "**/x{}/**/*.y": f"q/x{number}/r/s.y",
        }.get(shape, shape.format(number).replace("[ab]", "a").replace("*", "q").replace("?", "q").rstrip("/"))
        folder, _, name = path.encode().rpartition(b"/")
        applied = rules.at(folder)
        assert applied is not None
        found = applied.last(name, True)
        assert found == number or (shape == "*{}?*" and found >= 0)
    applied = rules.at(b"")
    assert applied is None or applied.last(b"ordinary.txt", False) == -1


def test_a_batch_at_its_bounds_still_answers() -> None:
    """A re2 set that runs out of memory silently returns "no match": the bounds must keep every batch below that."""
    for shape in ("*[!a-y{}]*[!b-x]*{}*", "*?*?*?*?*?*{}*?*?*?*?*?*", "[[:alpha:]]*{}*[[:punct:]]*[!q]"):
        lines = [shape.replace("{}", str(number)) for number in range(4_000)]
        rules = RuleFile.parse("x", "\n".join(lines).encode())
        applied = rules.at(b"")
        assert applied is not None
        for number in (0, 1_999, 3_999):
            name = shape.replace("[!a-y{}]", "Z").replace("[!b-x]", "Z").replace("[[:alpha:]]", "a")
            name = name.replace("[[:punct:]]", "-").replace("[!q]", "Z").replace("*", "m").replace("?", "n")
            assert applied.last(name.replace("{}", str(number)).encode(), False) >= number


def test_an_endless_line_does_not_count_and_is_reported() -> None:
    rules = RuleFile.parse("x", b"a" * (MAX_PATTERN + 1) + b"\nb\n")
    assert [pattern.glob for pattern in rules.patterns] == ["b"]
    assert rules.fault is not None and "4,096" in rules.fault


def test_case_makes_no_difference_where_git_knows_none() -> None:
    rules = RuleFile.parse("x", b"FOO\n*.Txt\n[A-C]x\n[[:upper:]]9\nDir/Sub\n", fold=True)
    for path in (b"foo", b"Foo", b"A.TXT", b"bX", b"q9", b"dir/sub", b"DIR/SUB"):
        assert matches(rules, path), path
    assert not matches(rules, b"dx")
