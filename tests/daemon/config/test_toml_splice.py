"""Roots added to and removed from configuration texts: nothing else changes, in any style of text."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.config.config_template import template
from livedex_daemon.config.toml_splice import with_root, without_root

TABLES = """\
# top
[[roots]]   # first
path = "~/a" # a

# work
[[roots]]
path = "~/b"
ignore = [
  "*.tmp", # tmp
]

# the index
[index]
max_file_size = "8MiB"

[[roots]]
path = "/c"
# ignore = ["x"]

# tail
[log]
level="info"
# end
"""


def roots_of(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(text).get("roots", [])
    return found


def test_a_table_is_added_behind_the_last_one() -> None:
    added = 'path = "/c"\n# ignore = ["x"]\n\n[[roots]]\npath = "/new"\nignore = ["*.o", "!\\"x\\""]\n\n# tail\n'
    assert with_root(TABLES, "/new", ["*.o", '!"x"']) == TABLES.replace(
        'path = "/c"\n# ignore = ["x"]\n\n# tail\n', added
    )


def test_a_table_is_taken_out_and_its_neighbours_comments_stay() -> None:
    assert without_root(TABLES, 0) == TABLES.replace('[[roots]]   # first\npath = "~/a" # a\n', "")
    assert without_root(TABLES, 1) == TABLES.replace(
        '[[roots]]\npath = "~/b"\nignore = [\n  "*.tmp", # tmp\n]\n\n# the', "\n# the"
    )
    assert without_root(TABLES, 2) == TABLES.replace('[[roots]]\npath = "/c"\n', "")


def test_a_comment_on_the_next_table_stays_with_it() -> None:
    text = "[[roots]]\npath = '/a'\n# the log\n[log]\n"
    assert with_root(text, "/b", []) == "[[roots]]\npath = '/a'\n\n[[roots]]\npath = \"/b\"\n\n# the log\n[log]\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("roots = []\n", 'roots = [{path = "/n"}]\n'),
        ("roots = [ ] # none\n", 'roots = [ {path = "/n"}] # none\n'),
        ("roots = [\n]\n", 'roots = [\n  {path = "/n"},\n]\n'),
        ("roots = [{path='/a'}]\n", "roots = [{path='/a'}, {path = \"/n\"}]\n"),
        ("roots = [{path='/a'},]\n", "roots = [{path='/a'}, {path = \"/n\"}]\n"),
        ("roots = [\n\t{path='/a'} # a\n]\n", "roots = [\n\t{path='/a'}, # a\n\t{path = \"/n\"},\n]\n"),
        ("roots = [\n {path='/a'}, # a\n # b\n]\n", "roots = [\n {path='/a'}, # a\n # b\n {path = \"/n\"},\n]\n"),
        ("roots = [{path='/a'}\n  , ]", "roots = [{path='/a'}\n  , {path = \"/n\"}]"),
        ("", '[[roots]]\npath = "/n"\n'),
        ("[log]", '[log]\n\n[[roots]]\npath = "/n"\n'),
        ("[log]\r\n", '[log]\r\n\r\n[[roots]]\r\npath = "/n"\r\n'),
    ],
)
def test_a_root_is_added_in_the_texts_own_style(before: str, after: str) -> None:
    assert with_root(before, "/n", []) == after


@pytest.mark.parametrize(
    ("before", "number", "after"),
    [
        ("roots = [{path='/a'}]\n", 0, "roots = []\n"),
        ("roots = [{path='/a'}, {path='/b'}]\n", 0, "roots = [{path='/b'}]\n"),
        ("roots = [{path='/a'}, {path='/b'}]\n", 1, "roots = [{path='/a'}]\n"),
        ("roots = [\n  {path='/a'}, # a\n  {path='/b'},\n]\n", 1, "roots = [\n  {path='/a'}, # a\n]\n"),
        ("roots = [\n  {path='/a'}, # a\n  {path='/b'},\n]\n", 0, "roots = [\n  # a\n  {path='/b'},\n]\n"),
        ("[[roots]]\npath='/a'", 0, ""),
        ("[log]\n\n[[roots]]\npath='/a'\n", 0, "[log]\n"),
    ],
)
def test_a_root_is_taken_out(before: str, number: int, after: str) -> None:
    assert without_root(before, number) == after


@pytest.mark.parametrize(
    "path", ['/with "quotes"', "/back\\slash", "/new\nline", "/tab\t", "/\x7f\x01", "/日本 €", "/'"]
)
def test_any_path_can_be_written(path: str) -> None:
    assert roots_of(with_root(TABLES, path, [path]))[-1] == {"path": path, "ignore": [path]}
    assert roots_of(with_root("roots = []", path, [path])) == [{"path": path, "ignore": [path]}]


def test_the_template_is_restored() -> None:
    assert without_root(with_root(template(), "/a", ["x"]), 0) == template()


_comments = st.sampled_from(["# one\n", "# [[roots]]\n", "\n", "\n\n", "  # path = '/no'\n", ""])
_gaps = st.lists(_comments, max_size=3).map("".join)
_ends = st.sampled_from(["", " ", " # end", "\t# ] }"])
_inside = st.sampled_from(["", "\n", "# inside\n"])
_paths = st.integers(0, 99).map(lambda number: f"'/{number}'")
_ignores = st.sampled_from([None, "[]", "['a', \"b\"]", "[\n  'x', # ]\n  # in\n]"])


@st.composite
def _root_tables(draw: st.DrawFn) -> str:
    pairs = [f"path = {draw(_paths)}{draw(_ends)}\n"]
    ignore = draw(_ignores)
    if ignore is not None:
        pairs.insert(draw(st.integers(0, 1)), f"ignore = {ignore}{draw(_ends)}\n")
    return f"[[roots]]{draw(_ends)}\n{draw(_inside).join(pairs)}"


_others = st.sampled_from(["[log]\nlevel = 'info' # l\n", "[index]\n", "[power]\n# p\nyield_to_load = true\n"])


@st.composite
def _texts_with_tables(draw: st.DrawFn) -> str:
    others = draw(st.lists(_others, unique=True, max_size=2))
    roots = draw(st.lists(_root_tables(), max_size=4))
    parts = draw(st.permutations([*others, *roots]))
    return draw(_gaps) + "".join(part + draw(_gaps) for part in parts)


@st.composite
def _texts_with_an_array(draw: st.DrawFn) -> str:
    gap = st.sampled_from(["", " ", "\n", "\n  ", " # c, ]\n", "\n # c\n "])
    paths = draw(st.lists(_paths, max_size=4))
    elements = [f"{draw(gap)}{{ path = {path} }}{draw(gap)}" for path in paths]
    trailing = draw(st.sampled_from(["", ","])) if elements else ""
    array = f"roots = [{','.join(elements)}{trailing}{draw(gap)}]{draw(_ends)}\n"
    return draw(_gaps) + array + draw(_gaps) + "".join(draw(st.lists(_others, unique=True, max_size=2)))


_texts = st.builds(
    lambda text, newline, ends: text.replace("\n", newline) if ends else text.replace("\n", newline).rstrip("\r\n"),
    _texts_with_tables() | _texts_with_an_array(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)


def is_subsequence(few: list[str], many: list[str]) -> bool:
    left = iter(many)
    return all(line in left for line in few)


def comments_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("#")]


@given(_texts, st.lists(st.sampled_from(["*.tmp", "!x", 'q"'])))
def test_adding_keeps_every_line_and_the_ends_of_lines(text: str, ignore: list[str]) -> None:
    changed = with_root(text, "/new", ignore)
    entry = {"path": "/new", **({"ignore": ignore} if ignore else {})}
    assert tomllib.loads(changed) == {**tomllib.loads(text), "roots": [*roots_of(text), entry]}
    # A comma or the new element may be added to a line; characters are never removed.
    assert is_subsequence(list(text.rstrip(" ")), list(changed))
    assert is_subsequence(comments_of(text), comments_of(changed))
    assert ("\r\n" in text and changed.count("\r\n") == changed.count("\n")) or "\r" not in changed


@given(_texts, st.data())
def test_removing_takes_nothing_else(text: str, data: st.DataObject) -> None:
    roots = roots_of(text)
    if not roots:
        return
    number = data.draw(st.integers(0, len(roots) - 1))
    changed = without_root(text, number)
    assert roots_of(changed) == roots[:number] + roots[number + 1 :]
    assert is_subsequence(list(changed), list(text))
    # Lines outside the root stay, except those between its own lines.
    assert is_subsequence(outside(text), outside(changed))


def outside(text: str) -> list[str]:
    return [comment for comment in comments_of(text) if comment not in ("# inside", "# in")]


@given(_texts_with_tables())
def test_adding_and_removing_restores_tables(text: str) -> None:
    changed = with_root(text, "/new", [])
    restored = without_root(changed, len(roots_of(changed)) - 1)
    assert tomllib.loads(restored) == tomllib.loads(text)
    assert [line for line in restored.splitlines() if line.strip()] == [
        line for line in text.splitlines() if line.strip()
    ]
