"""Keeps an answer within the limit of the request in characters, and within a fixed one in bytes.

Invariant: the snippets of the hits that fit, with the lines around them, are together no longer than the limit, and
all hits but the first take at most ``ANSWER_BYTES``, in memory and on the wire.
"""

from __future__ import annotations

import json
import sys
from typing import Final

import msgspec

from livedex_indexing.hits.hit import Hit
from livedex_indexing.text.json_bytes import json_bytes

ANSWER_BYTES: Final = 12 << 20  # the peak while it is encoded is about five times as much


class TextBudget:
    """The text that an answer may still take: ``chars`` characters, None for no limit."""

    def __init__(self, chars: int | None) -> None:
        self._left = chars
        self._bytes_left = ANSWER_BYTES
        self._empty = True

    def snippet_chars(self, wanted: int) -> int:
        """Return the maximum length of one snippet: ``wanted``, or less, so that one snippet alone fits."""
        return wanted if self._left is None else min(wanted, self._left)

    def take(self, hit: Hit) -> Hit | None:
        """Return the hit and deduct its text and the lines around it; None if it does not fit.

        The first hit always fits: if necessary, without the lines around its snippet.
        """
        if self._left is not None:
            if hit.text_chars > self._left and self._empty and hit.context_before is not None:
                hit = msgspec.structs.replace(hit, context_before="", context_after="", context_cut=None)
            if hit.text_chars > self._left:
                return None
        size = _size(hit)
        if size > self._bytes_left and not self._empty:
            return None
        self._bytes_left -= size
        if self._left is not None:
            self._left -= hit.text_chars
        self._empty = False
        return hit


def _size(hit: Hit) -> int:
    """Return the bytes that a hit takes: on the wire, or its text in memory if that is more (a single emoji makes each
    character of a text take four bytes)."""
    try:
        wire = len(json_bytes(hit))
    except UnicodeEncodeError:  # half of a surrogate pair, from an escape in frontmatter
        wire = len(json.dumps(msgspec.to_builtins(hit)))
    texts = (hit.snippet, hit.context_before, hit.context_after)
    return max(wire, sum(sys.getsizeof(text) for text in texts if text is not None))
