"""What helps against a syntax error in the configuration, read off the line where TOML's own parser gave up.

Invariant: it only adds to the parser's message; where it knows nothing better, the message stays alone.
"""

from __future__ import annotations

import re

_PAIR = re.compile(r"\s*([A-Za-z0-9_.\"-]+)\s*=\s*(.*?)\s*(?:#.*)?$")
_HEADER = re.compile(r"\s*\[+\s*([^\[\]]+?)\s*\]+")
_PLAIN = re.compile(r"[A-Za-z~/$.][^\"'\[\]{},]*$")
_TRUE, _FALSE = {"true", "yes", "on"}, {"false", "no", "off"}


def remedy(lines: list[str], line: int, column: int, reason: str) -> str:
    """Return what helps against ``reason``, the parser's words, at a 1-based line and character; empty: unknown."""
    text = lines[line - 1]
    pair = _PAIR.match(text)
    character = text[column - 1 : column]
    if character and character not in "\t\r" and not character.isprintable():
        return f"delete the character U+{ord(character):04X}, which cannot be seen"
    if pair and "overwrite" in reason:
        return f"{pair[1]} is there twice (lines {_places(lines, line, pair[1])}): keep one"
    # `info` begins like `inf`, a number: then the value is read, and what follows is no end of a statement.
    if pair and ("Invalid value" in reason or "statement" in reason) and _PLAIN.match(pair[2]):
        return f"write {pair[1]} = {_as_value(pair[2])}"
    if "'\\n'" in reason or "Unterminated" in reason:
        return "close the quote in its line"
    if "statement" in reason or "after a key" in reason:
        return 'write a table, as [index], or a setting, as max_file_size = "8MiB"'
    return ""


def _as_value(value: str) -> str:
    """Return what was meant by a value that is none: text without quotes, or another language's true."""
    word = value.lower()
    return "true" if word in _TRUE else "false" if word in _FALSE else '"' + value + '"'


def _start(lines: list[str], line: int) -> int:
    """Return the line number of the table's header above a line; 0 if there is none."""
    return next((number for number in range(line - 1, 0, -1) if _HEADER.match(lines[number - 1])), 0)


def _places(lines: list[str], line: int, name: str) -> str:
    numbers = range(_start(lines, line) + 1, line + 1)
    return ", ".join(str(number) for number in numbers if (pair := _PAIR.match(lines[number - 1])) and pair[1] == name)
