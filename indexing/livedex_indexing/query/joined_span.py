"""Finds the names in a text whose parts are those of a typed one, or plain words that were typed, however joined.

Invariant: pure; time is linear in the text for a given query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from livedex_indexing.query.typed_name import TypedName, in_words

_HEADING: Final = r"^[ \t]*(?:#{1,6}|={1,6}|\*+)?[ \t]*"
_SEPARATOR: Final = r"(?:_|-(?=\w)|)"
_LONGEST: Final = 20  # words of a name: of a test, for instance


def joined_name(text: str, names: Iterable[TypedName]) -> JoinedName | None:
    """Return what finds the first of the names that a text may be, else a long name of which it has the words; None
    where it is none."""
    words = text.split()
    name = next(iter(names), None)
    if name is None and 1 < len(words) <= _LONGEST and all(map(str.isalnum, words)):
        name = TypedName(" ".join(words))
    return None if name is None else JoinedName(name)


class JoinedName:
    """The words of a name, as ``log severity`` has those of ``LogSeverity`` and ``log_severity``."""

    def __init__(self, name: TypedName) -> None:
        in_parts = name if name.is_words else in_words(name.name)
        words = [] if in_parts is None else in_parts.name.split()
        self._typed = "" if name.is_words else name.name
        self._pattern = self._title = None
        if words:
            escaped = [*map(re.escape, words)]
            self._pattern = re.compile(rf"(?<![\w-])_*{_SEPARATOR.join(escaped)}_*(?![\w-])", re.IGNORECASE)
            self._title = re.compile(rf"{_HEADING}{'[ ]+'.join(escaped)}[=# \t:]*$", re.IGNORECASE | re.MULTILINE)

    def names(self, text: str) -> list[str]:
        """Return the names as a text has them, each once; none where it has the typed one, or the words as a line."""
        if self._pattern is None or self._title is None:
            return []
        found = list(dict.fromkeys(self._pattern.findall(text)))
        if not found or self._typed in found or self._title.search(text):
            return []
        return found
