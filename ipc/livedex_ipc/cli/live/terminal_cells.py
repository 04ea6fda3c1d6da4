"""Measures and cuts text by the cells of a terminal.

Invariant: what comes out has no character that a terminal obeys or hides, and never takes more cells than allowed.
"""

from __future__ import annotations

from livedex_ipc.cli.render.terminal_text import visible

TAB = "    "
_NOTHING = frozenset(("Mn", "Me", "Cf"))


def shown(text: str) -> str:
    """Return ``text`` with control characters escaped, and tabs as blanks."""
    return visible(text.replace("\t", TAB) if "\t" in text else text)


def width(text: str) -> int:
    """Return how many cells ``text`` takes, as it was returned by ``shown``."""
    return len(text) if text.isascii() else sum(map(_cells, text))


def clip(text: str, cells: int) -> str:
    """Return the beginning of ``text`` that fits; ``…`` at its end if there is more."""
    if cells <= 0:
        return ""
    if len(text) * 2 <= cells or width(text) <= cells:
        return text
    return _beginning(text, cells - 1) + "…"


def clip_left(text: str, cells: int) -> str:
    """Return the end of ``text`` that fits; ``…`` at its beginning if there is more."""
    if cells <= 0:
        return ""
    if width(text) <= cells:
        return text
    taken = used = 0
    for character in reversed(text):
        used += _cells(character)
        if used > cells - 1:
            break
        taken += 1
    return "…" + text[len(text) - taken :]


def _beginning(text: str, cells: int) -> str:
    used = 0
    for index, character in enumerate(text):
        used += _cells(character)
        if used > cells:
            return text[:index]
    return text


def _cells(character: str) -> int:
    if character.isascii():
        return 1
    from unicodedata import category, east_asian_width

    if category(character) in _NOTHING:
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
