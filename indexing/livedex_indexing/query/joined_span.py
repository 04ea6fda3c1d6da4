"""Finds the names in a text whose parts are those of a typed one, or plain words that were typed, however joined.

Invariant: pure; time is linear in the text for a given query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from livedex_indexing.query.typed_name import TypedName, in_words, word_place
from livedex_indexing.text.terms import parts_of_all

_HEADING: Final = r"^[ \t]*(?:#{1,6}|={1,6}|\*+)?[ \t]*"
_SEPARATOR: Final = r"(?:_|-(?=\w)|)"
_WITHOUT_SEPARATORS: Final = str.maketrans("", "", "_-")
_NAME: Final = re.compile(r"[^\W\d]\w{3,80}")
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
        self._words = [] if in_parts is None else in_parts.name.split()
        self._run = "".join(self._words).lower()
        self._typed = "" if name.is_words else name.name

    def names(self, text: str, low: str) -> list[str]:
        """Return the names as a text has them, each once; none where it has the typed one, or the words as a line.

        ``low``: the text in lower case.
        """
        if not self._run or self._run not in low.translate(_WITHOUT_SEPARATORS):
            return []
        if self._typed and word_place(text, self._typed, "-") >= 0:
            return []
        found = list(dict.fromkeys(self._pattern.findall(text)))
        return [] if not found or self._title.search(text) else found

    def longer(self, text: str, low: str) -> list[str]:
        """Return the names in a text that have all words as parts, in their order, and others. ``low``: as above."""
        words = [word.lower() for word in self._words]
        if len(words) < 2 or not all(word in low for word in words):
            return []
        names = [name for name in dict.fromkeys(_NAME.findall(text)) if words[0] in name.lower()]
        return [name for name in names if _has_in_order(name, words)]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        row = _SEPARATOR.join(map(re.escape, self._words))
        return re.compile(rf"(?<![\w-])_*{row}_*(?![\w-])", re.IGNORECASE)

    @cached_property
    def _title(self) -> re.Pattern[str]:
        row = "[ ]+".join(map(re.escape, self._words))
        return re.compile(rf"{_HEADING}{row}[=# \t:]*$", re.IGNORECASE | re.MULTILINE)


def _has_in_order(name: str, words: Iterable[str]) -> bool:
    parts = iter([part.lower() for part in parts_of_all(filter(None, name.split("_")))])
    return all(word in parts for word in words)
