"""The words of a path, as they are indexed and searched.

Invariant: pure; the same path always gives the same words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from livedex_indexing.text.terms import parts_of
from livedex_indexing.text.unsegmented import to_bigrams

_WORD: Final = re.compile(r"[A-Za-z0-9]+")


def with_parts(text: str) -> str:
    """Return ``text``, followed by the parts of each word in mixed case."""
    parts = [part for word in _WORD.findall(text) for part in parts_of(word)]
    return f"{text} {' '.join(parts)}" if parts else text


@lru_cache(maxsize=64)  # the files of a folder come one after the other
def path_text(path: bytes) -> str:
    """Return a path as its words are indexed: bytes that are not UTF-8 become replacement characters."""
    return to_bigrams(with_parts(path.decode("utf-8", "replace")))
