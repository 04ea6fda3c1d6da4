"""Keeps the text of an answer within the limit of the request.

Invariant: the snippets of the hits that fit, with the lines around them, are together no longer than the limit.
"""

from __future__ import annotations

import msgspec

from livedex_indexing.hits.hit import Hit


class TextBudget:
    """The text that an answer may still take: ``chars`` characters, None for no limit."""

    def __init__(self, chars: int | None) -> None:
        self._left = chars
        self._empty = True

    def snippet_chars(self, wanted: int) -> int:
        """Return the maximum length of one snippet: ``wanted``, or less, so that one snippet alone fits."""
        return wanted if self._left is None else min(wanted, self._left)

    def take(self, hit: Hit) -> Hit | None:
        """Return the hit and deduct its text and the lines around it; None if it does not fit.

        The first hit always fits: if necessary, without the lines around its snippet.
        """
        if self._left is None:
            return hit
        if hit.text_chars > self._left and self._empty and hit.context_before is not None:
            hit = msgspec.structs.replace(hit, context_before="", context_after="")
        if hit.text_chars > self._left:
            return None
        self._left -= hit.text_chars
        self._empty = False
        return hit
