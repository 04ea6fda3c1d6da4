"""Chooses the entries that an agent should have before it asks: those used last and most.

Invariant: the text is never longer than asked. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

HALF_LIFE_S: Final = 7 * 86_400.0  # after a week without use, an entry counts half


class Candidate(NamedTuple):
    """An entry. ``age_s``: since its last use, or since it was added if it was never used."""

    heading: str | None
    content: str
    uses: int
    age_s: float

    @property
    def heat(self) -> float:
        return float((1 + self.uses) * 0.5 ** (max(0.0, self.age_s) / HALF_LIFE_S))

    @property
    def text(self) -> str:
        return f"{self.heading}\n{self.content}" if self.heading else self.content


def hot_text(candidates: Iterable[Candidate], max_chars: int) -> str:
    """Return the hottest entries, an empty line between them. An entry that does not fit is passed over.

    The hottest is cut if it alone is too long.
    """
    ordered = sorted(candidates, key=lambda each: -each.heat)
    chosen: list[str] = []
    left = max_chars
    for each in ordered:
        length = len(each.text) + (2 if chosen else 0)
        if length <= left:
            chosen.append(each.text)
            left -= length
    if not chosen and ordered:
        return ordered[0].text[:max_chars]
    return "\n\n".join(chosen)
