"""Reads the keys of a configuration, each with all keys and tables that it is below.

Invariant: pure; the lines of a text are read once, by their indentation, as people write them. What is on one line with
another key is not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import Final

# key: value    "key": value    key = value    - key: value    [table]    [[table.of.tables]]
_LINE: Final = re.compile(
    r"^([ \t]*+)(?:\[\[?([^\[\]\n]+)\]|((?:- +)*+)[\"']?([\w@$/+-][\w@$./+-]*+)[\"']?[ \t]*+(?:=|:(?![^\s\"\[{]))|\S)",
    re.MULTILINE,
)
KEY_LANGUAGES: Final = ("ini", "java properties", "json", "json with comments", "json5", "toml", "yaml")
_PATH: Final = r"([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])+)"
_OF_HELM: Final = tuple(
    re.compile(pattern)
    for pattern in (
        # {{ .Values.image.tag | quote }}    {{- if .Values.ingress.enabled }}    $.Values.image.tag
        rf"(?:\{{\{{-?\s*(?:[\w( ]*\s)?)?\$?\.Values\.{_PATH}[\s)]*(?:\|[^{{}}]*|[^{{}}|]*)?(?:-?\}}\}})?",
        # --set image.tag=1    helm upgrade web ./web --set-string image.tag=1
        rf"(?:helm\s.*\s)?--set(?:-string|-json|-file)?[ =][\"']?{_PATH}=.*",
    )
)
_INDEX: Final = re.compile(r"\[(?:\d+|\*|)\]|\.\d+(?=\.)")  # items[0].name    items.0.name
_QUOTES: Final = str.maketrans("", "", "\"' ")


def values_path(text: str) -> str:
    """Return the path of keys that a template of Helm reads, or that its command sets; empty for any other text."""
    found = next((found for pattern in _OF_HELM if (found := pattern.fullmatch(text.strip())) is not None), None)
    return "" if found is None else found[1]


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


def key_at(text: str, typed: str) -> tuple[int, int] | None:
    """Return where a text, which may be any part of a file, sets the last key of a typed path, with most of the keys
    above it; None where it does not."""
    wanted = typed.split(".")[::-1]
    found: list[tuple[int, int]] = []
    for start, path in keys(text):
        pairs = zip(wanted, path.split(".")[::-1], strict=False)
        alike = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        if alike:
            found.append((-alike, start))
    if not found:
        return None
    at = text.find(wanted[0], min(found)[1])
    return at, at + len(wanted[0])


def is_below(path: str, typed: str) -> bool:
    """Whether a path ends in the typed one."""
    return path == typed or path.endswith(f".{typed}")
