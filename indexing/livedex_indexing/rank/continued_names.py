"""Finds the words with which an unfinished name may go on.

Invariant: only some chunks are read, however many have the first words of the name.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from livedex_indexing.rank.index_view import IndexView
from livedex_indexing.rank.postings import phrase

_READ: Final = 64  # chunks with the first words of a name that are read: with its definition, and with its use


def find_continued(view: IndexView, typed: str) -> list[str]:
    """Return the words that begin as the last word of a name, where they follow its other words: see
    `FoundNames.continued`."""
    *before, begun = view.reader.tokens(typed)
    first = phrase(before)
    found = [
        chunk_id for match in (f"symbols : {first}", f"body : {first}") for chunk_id in view.proposed(match, _READ)
    ]
    words = r"[\W_]+".join((*before, begun))
    pattern = re.compile(rf"(?<![^\W_]){words}[^\W_]*", re.IGNORECASE)
    names = Counter(name for text in view.texts(set(found)).values() for name in pattern.findall(text))
    times = Counter[str]()
    joined: set[str] = set()
    for name, count in names.items():
        word = view.reader.tokens(name)[-1]
        times[word] += count
        if name.lower().startswith(typed.lower()):
            joined.add(word)
    return sorted(times, key=lambda word: (word not in joined, -times[word], word))
