"""Reads a word as a path: a folder and a name, which the index has in two columns.

Invariant: what it returns is valid FTS5.
"""

from __future__ import annotations

from livedex_indexing.store.read_pool import Reader
from livedex_indexing.text.path_words import path_text


def as_path(reader: Reader, word: str, match: str) -> tuple[str, frozenset[str]]:
    """Return the expression that finds the files at a path, and the stems of its last part. No phrase reaches from the
    folder, which is a column of its own, into the name."""
    folder, _, name = (part.encode("utf-8", "replace") for part in word.rpartition("/"))
    above = " ".join([token for _, _, token in reader.words(folder)])
    stems = frozenset(stem for _, _, stem in reader.stems(path_text(name).encode()))
    if not above or not stems:
        return "", frozenset()
    last = match[1:].removeprefix(above).lstrip()  # with the star of a prefix
    return f'({match} OR (folder : "{above}" AND name : "{last}))', stems
