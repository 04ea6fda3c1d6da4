"""Tells whether a file, or any of those found, has all words of a query.

Invariant: pure, and decided by the words' places alone, not by how rare they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Final

from livedex_indexing.rank.features import FeatureTable

_LEAST: Final = 3  # words of a query that may have other endings: of two, one is often in the path
_WORDS: Final = range(2, 4)  # words that may be spread over a file and its path; of more, a chunk has most

Written = Sequence[frozenset[int] | None]


def is_nowhere_as_typed(written: Written) -> bool:
    """Whether no content has all of three and more words as typed. ``written``: the contents with each of them
    (`FeatureTable`)."""
    known = [contents for contents in written if contents is not None] if len(written) >= _LEAST else []
    return bool(known) and not frozenset.intersection(*known)


def may_be_spread(features: FeatureTable, content_of: Mapping[int, int]) -> bool:
    """Whether a query has few words, and no chunk has all of them as typed."""
    words = len(features.written)
    return words in _WORDS and not any(
        all(row.texts[:words]) and _has_all(features.written, content_of.get(chunk_id))
        for chunk_id, row in features.rows.items()
    )


def is_spread(
    written: Written, content_id: int, counts: Sequence[Sequence[int]], in_name: Sequence[float], above: Sequence[bool]
) -> bool:
    """Whether a file has all words, some in its path and the others in its text. ``counts``: those of its chunks;
    ``in_name``, ``above``: see `Copy`."""
    in_path = [
        bool(name or folder)
        for name, folder, _ in zip(chain(in_name, repeat(0)), chain(above, repeat(False)), written, strict=False)
    ]
    return any(in_path) and all(
        here or (any(row[place] for row in counts) if contents is None else content_id in contents)
        for place, (here, contents) in enumerate(zip(in_path, written, strict=True))
    )


def _has_all(written: Written, content_id: int | None) -> bool:
    return all(contents is None or content_id in contents for contents in written)
