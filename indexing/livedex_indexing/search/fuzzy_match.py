"""Matches the pieces of a name as fzf does: the letters in order, best at borders, together, and in the base name.

Invariant: a piece matches a text exactly if its characters occur in it in this order. The time that a score takes grows
with the length of the text times that of the piece.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

_MATCH: Final = 16
_GAP: Final = 3  # before the first character that is left out between two matches
_NEXT_GAP: Final = 1
_TOGETHER: Final = 4
_IN_NAME: Final = 20  # all of it is in the base name
_FIRST_TIMES: Final = 2  # the border before the first character counts so often
_FOLDER_BORDER, _WORD_BORDER, _CAMEL_BORDER = 10, 8, 7
_NOWHERE: Final = -(1 << 30)
# Letters that are no base letter with a mark, each as people type it in one letter.
_SINGLE: Final = str.maketrans("ßłøđıþðħŧ", "slodithht")


def plain(text: str) -> str:
    """Return a text without case and diacritics, character for character."""
    if text.isascii():
        return text.lower()
    return "".join(map(_plain_character, text))


def _plain_character(character: str) -> str:
    lower = character.lower()
    base = unicodedata.normalize("NFD", lower)[:1].translate(_SINGLE)
    return base if len(lower) == 1 and base else character


class Piece:
    """A blank-separated part of what was typed. An upper-case letter in it makes case count, as in fzf."""

    def __init__(self, typed: str) -> None:
        self.typed = typed
        self.has_case = typed != typed.lower()
        self.text = typed if self.has_case else plain(typed)
        first, *rest = [re.escape(character) for character in self.text]
        self.find = re.compile(first + "".join(f"[^{each}]*{each}" for each in rest)).search
        self.find_initials = re.compile(r"[\W_]" + first + "".join(f"(?:.*?[\\W_])?{each}" for each in rest)).search
        self.of_path = "/" in self.text

    def rough(self, path: str, name_at: int) -> int:
        """Return how badly a path matches that is known to match, roughly and fast: 0 is best. A path has a folder."""
        at = path.rfind(self.text, name_at)
        if at >= 0:
            return 0 if at == name_at else 3 if path[at - 1].isalnum() else 1
        if self.find_initials(path, name_at - 1) is not None:
            return 2
        found = self.find(path, name_at)
        if found is not None:
            return 4 + found.end() - found.start()
        found = self.find(path)
        return 0 if found is None else 100 + found.end() - found.start() - (50 if self.text in path else 0)

    def score(self, path: str, name_at: int, borders: Sequence[int]) -> int:
        """Return how well a path matches, more is better; far below 0 if it does not. ``borders`` are those of
        `borders_of`, ``name_at`` is where the base name begins."""
        in_name = _NOWHERE if self.of_path else self._best(path, name_at, borders)
        if in_name > _NOWHERE:
            return in_name + _IN_NAME
        return self._best(path, 0, borders)

    def _best(self, path: str, start: int, borders: Sequence[int]) -> int:
        """Return the best score of all ways to find the characters in ``path[start:]``."""
        # (place, score with this character there, border that the run of characters up to here began at)
        row = [(at, _MATCH + _FIRST_TIMES * borders[at], borders[at]) for at in _places(path, self.text[0], start)]
        for character in self.text[1:]:
            row = _next_row(row, _places(path, character, start), borders)
            if not row:
                return _NOWHERE
        return max((score for _, score, _ in row), default=_NOWHERE)


def _next_row(
    row: Sequence[tuple[int, int, int]], places: Iterator[int], borders: Sequence[int]
) -> list[tuple[int, int, int]]:
    found = []
    known, far = 0, _NOWHERE  # of ``row``; the best of those that leave a gap, with its place
    for at in places:
        while known < len(row) and row[known][0] < at - 1:
            far = max(far, row[known][1] + _NEXT_GAP * row[known][0])
            known += 1
        score, run = far - _GAP - _NEXT_GAP * (at - 2) + borders[at] if far > _NOWHERE else _NOWHERE, borders[at]
        if known < len(row) and row[known][0] == at - 1:
            began = max(row[known][2], borders[at])
            together = row[known][1] + max(began, _TOGETHER)
            if together >= score:
                score, run = together, began
        if score > _NOWHERE:
            found.append((at, score + _MATCH, run))
    return found


def _places(text: str, character: str, start: int) -> Iterator[int]:
    at = text.find(character, start)
    while at >= 0:
        yield at
        at = text.find(character, at + 1)


def borders_of(path: str) -> bytes:
    """Return for each character of a path as written what a match there gains: words, folders and capitals begin."""
    borders, before = [], "/"
    for character in path:
        if before == "/":
            borders.append(_FOLDER_BORDER)
        elif not before.isalnum():
            borders.append(_WORD_BORDER if character.isalnum() else 0)
        elif (before.islower() and character.isupper()) or (character.isdigit() and not before.isdigit()):
            borders.append(_CAMEL_BORDER)
        else:
            borders.append(0)
        before = character
    return bytes(borders)
