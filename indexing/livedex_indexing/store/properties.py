"""Frontmatter as searches see it: one row of the content for each name with each of its values.

Invariant: names and values are compared as text, without case and in one Unicode form; the cost of a term is bounded by
the number of files with frontmatter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from livedex_indexing.store.sql import any_true

# The value of a name without text of its own (a mapping or a list). No text equals it.
PRESENT: Final = b""
# The name of all tags. In YAML a name with a line feed must be quoted.
TAGS: Final = "\ntags"
_TAG_NAMES: Final = frozenset(("tags", "tag"))
_LONGEST_NAME: Final = 256  # characters: a name that repeats below a long one must not grow without bounds
_MOST_BORDERS: Final = 4  # places to split a term into name and value
_PARTED: Final = re.compile(r"[,\s]+")

_OF_VALUE = "name = ? AND value = ?"
_OF_NAME = "name = ?"
_CONTENTS_WITH = "d.content_id {}IN (SELECT content_id FROM properties WHERE {})"


class Row(NamedTuple):
    """One name with one of its values, both folded; the names of a mapping inside a mapping are joined by dots."""

    name: str
    value: str | bytes


def rows_of(frontmatter: Mapping[str, Any]) -> list[Row]:
    """Return all rows of a frontmatter (strings, lists and mappings of strings), each once, in order."""
    found: dict[Row, None] = {}
    _add("", frontmatter, found)
    for name, value in frontmatter.items():
        if folded(name) in _TAG_NAMES:
            found.update((Row(TAGS, tag), None) for tag in _tags(value))
    return list(found)


def folded(text: str) -> str:
    """Return the text without case and in one Unicode form."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def meta_condition(terms: Iterable[str], *, excluded: bool) -> tuple[str, tuple[str, ...]]:
    """Return a condition on ``files d``: any of the terms ``KEY=VALUE`` or ``KEY``. Either side may contain ``=``."""
    tests: list[str] = []
    values: list[str] = []
    for term in terms:
        borders = [place for place, char in enumerate(term) if char == "="]
        if not borders:
            tests.append(_OF_NAME)
            values.append(folded(term)[:_LONGEST_NAME])
        for border in borders[:_MOST_BORDERS]:
            tests.append(_OF_VALUE)
            values += (folded(term[:border])[:_LONGEST_NAME], folded(term[border + 1 :]))
    return _contents_with(tests, excluded), tuple(values)


def tag_condition(tags: Iterable[str], *, excluded: bool) -> tuple[str, tuple[str, ...]]:
    """Return a condition on ``files d``: the file has one of the tags, written with or without ``#``."""
    values = [value for tag in tags for value in (TAGS, folded(tag.removeprefix("#")))]
    return _contents_with([_OF_VALUE] * (len(values) // 2), excluded), tuple(values)


def _contents_with(tests: list[str], excluded: bool) -> str:
    return _CONTENTS_WITH.format("NOT " if excluded else "", any_true(tests))


def _add(name: str, value: Any, found: dict[Row, None]) -> None:
    """Add the rows of a value. The recursion is no deeper than frontmatter may be nested."""
    if isinstance(value, str):
        found[Row(name, folded(value))] = None
        return
    if name:
        found[Row(name, PRESENT)] = None
    if isinstance(value, list):
        for item in value:
            _add(name, item, found)
    else:
        for key, inner in value.items():
            _add((f"{name}.{folded(key)}" if name else folded(key))[:_LONGEST_NAME], inner, found)


def _tags(value: Any) -> Iterable[str]:
    """Return the tags of a list, or of one text with commas or blanks between them, without a leading ``#``."""
    if isinstance(value, str):
        text = folded(value)
        return (tag.removeprefix("#") for tag in (text, *_PARTED.split(text)) if tag)
    if isinstance(value, list):
        return (folded(item).removeprefix("#") for item in value if isinstance(item, str))
    return ()
