"""Reads what was typed as a shortened path: ``baeve`` and ``base_ev`` for ``base_events.py``, ``conc/fut`` for
``concurrent/futures``.

Invariant: a name is shortened only to letters that it has, in their order, and the first of them is its first letter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from livedex_indexing.query.spelling import distance
from livedex_indexing.text.name_beginnings import has_beginnings, has_letters, split_name

_TYPED: Final = re.compile(
    r"(?:\./)?(?P<folders>(?:[\w.,@+-]+/)*)(?P<stem>\w[\w,@+-]*?)(?:\.(?P<suffix>[A-Za-z]\w{0,7}))?"
)
_LEAST: Final = 5  # letters of a name alone
_LEAST_IN_PATH: Final = 2
_SIGNS: Final = re.compile(r"[\W_]+")
_VOWELS: Final = re.compile(r"[aeiou]")
_CONSONANTS: Final = 4  # of a name without its vowels, at least
_OTHER_LETTERS: Final = 4  # of so many letters one may be left out anywhere …
_MOST_LEFT_OUT: Final = 3  # … of a name, at most
_BEGUN, _LEFT_OUT, _MISSPELT = range(3)  # ways to type another name, the likeliest first


class ShortenedPath(NamedTuple):
    """The folders that were typed, the name without its suffix, and the suffix, empty if there is none."""

    folders: tuple[str, ...]
    stem: str
    suffix: str

    def fits(self, folders: Sequence[str], name: str) -> tuple[int, ...] | None:
        """Return how much of a path was left out, less is nearer; None if it is another path. ``name``: of a file, or
        the last folder."""
        stem, _, suffix = name.rpartition(".") if "." in name[1:] else (name, "", "")
        if self.suffix and self.suffix.lower() != suffix.lower():
            return None
        of_name, of_folders = _left_out(self.stem, stem) or self._mistake(stem), self._left_out_above(folders)
        return None if of_name is None or of_folders is None else (*of_folders, *of_name)

    def _mistake(self, stem: str) -> tuple[int, int] | None:
        """Return what comes after all that was left out, where a name was typed with its suffix and one mistake."""
        is_likely = self.suffix and len(self.stem) > _OTHER_LETTERS
        return (_MISSPELT, 0) if is_likely and distance(self.stem.lower(), stem.lower(), 1) == 1 else None

    def _left_out_above(self, folders: Sequence[str]) -> tuple[int, int] | None:
        """Return how many folders were left out behind the first typed one, and of how many a part."""
        at, cut, skipped = len(folders), 0, 0
        for typed in reversed(self.folders):
            before = at
            at -= 1
            while at >= 0 and not folders[at].lower().startswith(typed.lower()):
                at -= 1
            if at < 0:
                return None
            skipped += before - 1 - at
            cut += len(folders[at]) > len(typed)
        return skipped, cut


def shortened_path(text: str) -> ShortenedPath | None:
    """Return what was typed as a path; None for what is too short or has other signs."""
    found = _TYPED.fullmatch(text)
    if found is None:
        return None
    folders = tuple(found["folders"].split("/")[:-1])
    if len(found["stem"]) < (_LEAST_IN_PATH if folders else _LEAST) or found["stem"].isdecimal():
        return None
    return ShortenedPath(folders, found["stem"], found["suffix"] or "")


def _left_out(typed: str, stem: str) -> tuple[int, int] | None:
    """Return how a name was shortened, the likelier way first, and by how many letters; None if it is another one."""
    parts = split_name(_SIGNS.sub("_", stem))
    pieces = [piece for piece in _SIGNS.split(typed.lower()) if piece]
    word, whole = "".join(pieces), "".join(parts)
    lost = len(whole) - len(word)
    if not parts or lost < 0 or word[:1] != whole[:1]:
        return None
    begins_each = len(pieces) <= len(parts) and all(map(str.startswith, parts, pieces))
    if whole.startswith(word) or begins_each or (len(pieces) == 1 < len(parts) and has_beginnings(word, parts)):
        return _BEGUN, lost
    if not has_letters(word, whole):
        return None
    if len(parts) > 1 and lost <= min(_MOST_LEFT_OUT, len(word) // _OTHER_LETTERS):
        return _LEFT_OUT, lost
    is_without_vowels = len(word) > _CONSONANTS and word[1:] == _VOWELS.sub("", whole[1:])
    return (_LEFT_OUT, lost) if is_without_vowels else None
