"""Reads the keys of a configuration, each with all keys and tables that it is below.

Invariant: pure; the lines of a text are read once, by their indentation, as people write them. What is on one line with
another key is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# key: value    "key": value    key = value    - key: value    [table]    [[table.of.tables]]
_LINE: Final = re.compile(
    r"^([ \t]*+)(?:\[\[?([^\[\]\n]+)\]|((?:- +)*+)[\"']?([\w@$/+-][\w@$./+-]*+)[\"']?[ \t]*+(?:=|:(?![^\s\"\[{]))|\S)",
    re.MULTILINE,
)
_INDEX: Final = re.compile(r"\[(?:\d+|\*|)\]|\.\d+(?=\.)")  # items[0].name    items.0.name
_QUOTES: Final = str.maketrans("", "", "\"' ")


def key_path(typed: str) -> str:
    """Return a typed path of keys without the places of lists, and the dot that it may begin with."""
    return _INDEX.sub("", typed).strip(".").translate(_QUOTES)


def keys(text: str) -> Iterator[tuple[int, str]]:
    """Yield each key and each table, in order: where its line begins, and its path, joined by dots."""
    table = ""
    above: list[tuple[int, str]] = []  # columns and paths of the keys that the next one may be below
    for found in _LINE.finditer(text):
        indent, named, dashes, key = found.groups()
        if named is not None:
            table, above = named.translate(_QUOTES), []
            yield found.start(), table
        elif key is not None:
            column = len(indent) + len(dashes)
            while above and above[-1][0] >= column:
                above.pop()
            parent = above[-1][1] if above else table
            path = f"{parent}.{key}" if parent else key
            above.append((column, path))
            yield found.start(), path


def is_below(path: str, typed: str) -> bool:
    """Whether a path ends in the typed one."""
    return path == typed or path.endswith(f".{typed}")
