"""Keeps an answer as short as it was asked to be.

Invariant: the snippets of the hits that found room, with the lines around them, are no longer together than allowed.
"""

from __future__ import annotations

from typing import Any, Final

_TEXTS: Final = ("snippet", "context_before", "context_after")  # of a hit, counted for `max_chars`


class Room:
    """How much text an answer may still hold: ``max_chars``, None where there is no end to it."""

    def __init__(self, chars: int | None) -> None:
        self._left = chars
        self._empty = True

    def least(self, snippet: int) -> int:
        """The length of one snippet, which alone must fit."""
        return snippet if self._left is None else min(snippet, self._left)

    def holds(self, hit: dict[str, Any]) -> bool:
        """Whether a hit still fits, with the lines around its snippet; the first is served without them if need be."""
        if self._left is None:
            return True
        taken = sum(len(hit.get(name, "")) for name in _TEXTS)
        if taken > self._left and self._empty:
            hit.update({name: "" for name in _TEXTS[1:] if name in hit})
            taken = len(hit["snippet"])
        if taken > self._left:
            return False
        self._left -= taken
        self._empty = False
        return True
