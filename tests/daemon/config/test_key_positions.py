"""The positions of keys and values: compared with the TOML parser, on generated and on difficult texts."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedex_daemon.config.key_positions import Layout, Path

NASTY = '''\
# comment = "no"   [no]
top = 1 # = [x]
"quoted.key" . 'lit # eral' = "a # b ] } = c"
"\\u00e9\\n" = 1979-05-27 07:32:00
a.b.c = { x = [1, { y = "}" }], z.w = ',]' } # tail
multi = """
key = "not a key"
[[not_a_table]]
four quotes at the end """""
raw = \'\'\'
'' # no comment
\'\'\'\'
escaped = "\\" # still text"
list = [ # first
  "a,b", # ] not the end
  [ [], ["x"] ],
  { p = 1 }, # last
] # behind

[ table . "sub" ]
é_is_quoted = 0
[x.deep.er]
[x]
v=true
[[arr]]
[[arr]]
k = 1
[arr.in]
k = 2
[[arr.nested]]
k = 3
[[arr.nested]]
k = 4
[[arr]]
k = 5
'''.replace("é_is_quoted", '"é"')


def paths_of(data: Any, path: Path = ()) -> dict[Path, Any]:
    """Yield every path in parsed TOML with its value, except the root itself."""
    items: list[tuple[str | int, Any]] = []
    if isinstance(data, dict):
        items = list(data.items())
    elif isinstance(data, list):
        items = list(enumerate(data))
    found = {path: data} if path else {}
    for key, value in items:
        found |= paths_of(value, (*path, key))
    return found


def check_against_parser(text: str) -> Layout:
    """The position of each key has its name, that of each value its value; none is missing and none is invented."""
    layout = Layout(text)
    truth = paths_of(tomllib.loads(text))
    assert set(layout.keys) == set(truth)
    assert set(layout.values) <= set(truth)
    for path, span in layout.values.items():
        assert tomllib.loads("value = " + text[span.start : span.end]) == {"value": truth[path]}
    for path, span in layout.keys.items():
        name = text[span.start : span.end]
        if isinstance(path[-1], str):
            assert tomllib.loads(f"{name} = 0") == {path[-1]: 0}
    scalars = {path for path, value in truth.items() if not isinstance(value, dict | list)}
    assert scalars <= set(layout.values)
    return layout


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_nasty_text(newline: str) -> None:
    text = NASTY.replace("\n", newline)
    layout = check_against_parser(text)
    lines = text.split("\n")
    for path, line, column in [
        (("top",), 2, 1),
        (("quoted.key", "lit # eral"), 3, 16),
        (("a", "b", "c", "x", 1, "y"), 5, 21),
        (("multi",), 6, 1),
        (("escaped",), 13, 1),
        (("list", 1, 1, 0), 16, 10),
        (("table", "sub", "é"), 21, 1),
        (("x",), 23, 2),
        (("arr", 1, "k"), 27, 1),
        (("arr", 1, "nested", 1, "k"), 33, 1),
        (("arr", 2), 34, 3),
        (("arr", 2, "k"), 35, 1),
    ]:
        assert layout.key(path) == (line, column), (path, lines[line - 1])
    assert layout.value(("top",)) == (2, 7)
    assert layout.key(("nowhere",)) is None
    assert layout.value(("nowhere",)) is None


def test_columns_count_bytes() -> None:
    layout = Layout('"ü€" = 1\ntext = { "é" = 2, b = 3 }\n')
    assert layout.value(("ü€",)) == (1, 11)
    assert layout.key(("text", "b")) == (2, 20)


def test_text_without_statements() -> None:
    for text in ("", "\n\n", "# only a comment", "  \r\n\t# x\r\n"):
        assert Layout(text).statements == []


# Texts in every style, with the same few names many times, so that paths collide where TOML permits it.
_names = st.sampled_from(["a", "b", "k-1", '"a b"', "'c.d'", '"\\u00e9"'])
_blank = st.sampled_from(["", " ", "\t "])
_comments = st.sampled_from(["", " # c", " #] } = \" '"])
_numbers = st.sampled_from(["1", "-2.5e3", "true", "0xf", "1979-05-27", "1979-05-27 07:32:00Z"])
_short = st.sampled_from(['"x#]}"', "'\\'", '""', '"\\"\\\\"', '"é\\u20ac"'])
_long = st.sampled_from(['"""\n[a]\nb = 1 # """', '"""a"""""', "'''\n'' [[b]]'''", "''''''"])
_scalars = _numbers | _short | _long


def _arrays(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    gap = st.sampled_from(["", " ", "\n  ", " # [ c\n", "\r\n"])
    joined = st.tuples(st.lists(st.tuples(gap, inner, gap), max_size=3), gap, st.booleans())

    def write(parts: tuple[list[tuple[str, str, str]], str, bool]) -> str:
        elements, end, trailing = parts
        comma = "," if trailing and elements else ""
        return "[" + ",".join("".join(element) for element in elements) + comma + end + "]"

    return joined.map(write)


def _inline_tables(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.lists(st.tuples(_names, inner), max_size=3, unique_by=lambda pair: pair[0].strip("\"'"))
    return pairs.map(lambda found: "{ " + ", ".join(f"{name} = {value}" for name, value in found) + " }")


_values = st.recursive(_scalars, lambda inner: _arrays(inner) | _inline_tables(inner), max_leaves=5)
_keys = st.lists(_names, min_size=1, max_size=3).map(" . ".join)
_pairs = st.builds("{1}{0}{1}={1}{2}{3}".format, _keys, _blank, _values, _comments)
_headers = st.builds("{1}[{1}{0}{1}]{2}".format, _keys, _blank, _comments)
_array_headers = st.builds("{1}[[{0}{1}]]{2}".format, _keys, _blank, _comments)
_lines = st.lists(st.one_of(_pairs, _headers, _array_headers, st.sampled_from(["", "# c = 1"])), max_size=8)


@given(_lines, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_generated_texts(lines: list[str], newline: str, ends: bool) -> None:
    text = ""
    for line in lines:  # skip a line that collides with one above it
        longer = text + line + newline
        try:
            tomllib.loads(longer)
        except tomllib.TOMLDecodeError:
            continue
        text = longer
    check_against_parser(text if ends else text.removesuffix(newline))
