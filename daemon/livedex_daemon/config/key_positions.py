"""Finds the position of each key and value in a TOML text, which no TOML library reports.

Invariant: the text is valid TOML, because it was parsed before; nothing is checked here. A path names keys as text
and positions in arrays (and in arrays of tables) as numbers: ``("roots", 1, "path")``.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)+")  # comments count as blank: they may come between any two elements
_INLINE_BLANK = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = r'"(?:[^"\\\n]|\\.)*"'
_LITERAL = r"'[^'\n]*'"
_QUOTED_KEY = re.compile(f"{_BASIC}|{_LITERAL}")
# A multi-line string may end in one or two quotes of its own, so up to five quotes close it.
_STRING = re.compile(rf'"""(?:\\.|[^\\])*?"{{3,5}}|\'\'\'.*?\'{{3,5}}|{_BASIC}|{_LITERAL}', re.DOTALL)
_SCALAR = re.compile(r"[^,\]}#\r\n]+")  # a number, a boolean or a date: up to what can follow a value


class Position(NamedTuple):
    """A position for users. Lines are 1-based, columns are 1-based bytes, as everywhere in livedex."""

    line: int
    column: int


class Span(NamedTuple):
    """Half-open code point offsets into the text."""

    start: int
    end: int


class Statement(NamedTuple):
    """One header or one ``key = value``. ``path`` is that of the table or the value; ``span`` excludes comments."""

    path: Path
    span: Span


class Layout:
    """The positions in one valid TOML text.

    ``keys`` has the span of each key's name (for an array's element, of the element), ``values`` that of each value,
    ``statements`` all headers and pairs in order. ``keys`` includes tables implied by longer headers and dotted keys.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.keys: dict[Path, Span] = {}
        self.values: dict[Path, Span] = {}
        self.statements: list[Statement] = []
        self._line_starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
        _Follower(self).follow()

    def position(self, offset: int) -> Position:
        line = bisect_right(self._line_starts, offset)
        before = self.text[self._line_starts[line - 1] : offset]
        return Position(line, len(before.encode()) + 1)

    def key(self, path: Path) -> Position | None:
        """Return the position of the key's name, or None if it is not in the text."""
        span = self.keys.get(path)
        return None if span is None else self.position(span.start)

    def value(self, path: Path) -> Position | None:
        """Return the start of the value; for a table, the position of its name. None if it is not in the text."""
        span = self.values.get(path) or self.keys.get(path)
        return None if span is None else self.position(span.start)

    def line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """Return the offset after the line's newline, or the end of the text."""
        newline = self.text.find("\n", offset)
        return len(self.text) if newline < 0 else newline + 1


class _Follower:
    """Scans the text once from start to end and records positions."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._text = layout.text
        self._at = 0
        self._lengths: dict[Path, int] = {}  # how many elements each array of tables has so far

    def follow(self) -> None:
        table: Path = ()
        while self._skip_blank():
            start = self._at
            if self._text[start] == "[":
                table = self._header(start)
            else:
                path = self._pair(table)
                self._layout.statements.append(Statement(path, Span(start, self._at)))

    def _skip_blank(self) -> bool:
        match = _BLANK.match(self._text, self._at)
        if match:
            self._at = match.end()
        return self._at < len(self._text)

    def _header(self, start: int) -> Path:
        is_array = self._text.startswith("[[", start)
        self._at += 2 if is_array else 1
        names = self._dotted_key()
        self._at = self._text.index("]", self._at) + (2 if is_array else 1)
        path: Path = ()
        for index, (name, span) in enumerate(names):
            path = (*path, name)
            self._layout.keys.setdefault(path, span)
            if is_array and index == len(names) - 1:
                self._lengths[path] = self._lengths.get(path, 0) + 1
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
                self._layout.keys.setdefault(path, span)
        # A table may come after one of its own subtables: then this header is the better position.
        self._layout.keys[path] = names[-1][1]
        self._layout.statements.append(Statement(path, Span(start, self._at)))
        return path

    def _pair(self, table: Path) -> Path:
        path = table
        for name, span in self._dotted_key():
            path = (*path, name)
            self._layout.keys.setdefault(path, span)
        self._at = self._text.index("=", self._at) + 1
        self._at = _end(_INLINE_BLANK, self._text, self._at)
        self._value(path)
        return path

    def _dotted_key(self) -> list[tuple[str, Span]]:
        names = []
        while True:
            start = self._at = _end(_INLINE_BLANK, self._text, self._at)
            match = _BARE_KEY.match(self._text, start)
            if match:
                name, self._at = match[0], match.end()
            else:
                self._at = _end(_QUOTED_KEY, self._text, start)
                name = tomllib.loads("key = " + self._text[start : self._at])["key"]
            names.append((name, Span(start, self._at)))
            behind = _end(_INLINE_BLANK, self._text, self._at)
            if not self._text.startswith(".", behind):
                return names
            self._at = behind + 1

    def _value(self, path: Path) -> None:
        start = self._at
        opening = self._text[start]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        elif opening in "\"'":
            self._at = _end(_STRING, self._text, start)
        else:
            scalar = self._text[start : _end(_SCALAR, self._text, start)]
            self._at = start + len(scalar.rstrip())
        self._layout.values[path] = Span(start, self._at)

    def _array(self, path: Path) -> None:
        index = 0
        while not self._closed_by("]"):
            element = (*path, index)
            start = self._at
            self._value(element)
            self._layout.keys[element] = Span(start, self._at)
            index += 1

    def _inline_table(self, path: Path) -> None:
        while not self._closed_by("}"):
            self._pair(path)

    def _closed_by(self, bracket: str) -> bool:
        """Skip the opening bracket or the comma. Return True, and skip the closing bracket, if that comes next."""
        if self._text[self._at] in "[{":
            self._at += 1
        self._skip_blank()
        if self._text[self._at] == ",":
            self._at += 1
            self._skip_blank()
        if self._text[self._at] != bracket:
            return False
        self._at += 1
        return True


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    if match is None:  # the text is valid TOML: only a bug in this module can lead here
        raise AssertionError(f"no {pattern.pattern} at offset {start}")
    return match.end()
