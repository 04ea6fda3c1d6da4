"""Tells which files are called as it was typed: a place, a name as words, or a joined name among other words.

Invariant: pure, and cheap: asked for a hundred files a search.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import Final

from livedex_indexing.query.typed_place import TypedPlace

_OTHER_CASE: Final = 0.9
_NAMESAKE: Final = 0.1  # … for a name with a capital that is defined: walk.rs for `Walk`
_SUFFIXES: Final = re.compile(rb"(?:\.[a-z]+){2}")  # edit.html.erb, walk.d.ts
_OF_SUFFIXES: Final = 0.8  # of the part `called`, for a file with two of them that were not typed
_ANOTHER_SUFFIX: Final = 0.9  # … with one more behind the typed one: walk.js.map
_SIGNS: Final = b"._"  # before a name: .gitignore, _form.html
_OF_SIGNS: Final = 0.6  # of the part `called`, for a file with such a sign that was not typed: less than a definition
_MENTIONED: Final = 0.4  # of the part `called`, for a file whose path is among other words
ELSEWHERE: Final = 0.7  # … for a file of which none of the typed folders is known
_LESS_ALIKE: Final = 0.2  # … for one with fewer of them above it than another
SPELT: Final = 0.5  # for a file with the very name that was typed as words
AMONG_WORDS: Final = 0.3  # … that is one of the words
# walk-tree in: fix walk-tree on macOS; not in --walk-tree, a/walk-tree, walk-tree.md, walk_tree(), __walk_tree
_JOINED: Final = re.compile(r"(?<![\w./:-])[^\W_]+(?:[-_][^\W_]+)+(?![\w/(-]|[.:]+\w)")
_WORDS: Final = range(2, 9)  # typed words that may be a name
_BETWEEN: Final = b" _-./+"  # signs and blanks between the words of a name


class CalledFiles:
    """The files that are called like a text, or like the ``place`` that it names. ``is_sentence``: it has words with
    hyphens that name nothing."""

    def __init__(self, text: str, place: TypedPlace | None, *, is_sentence: bool) -> None:
        self._place = place
        self._spelt = as_spelt(text)
        self._joined = frozenset[bytes]() if is_sentence else joined_words(text)

    def rate(self, folder: bytes, name: bytes, *, has_words: bool, has_text: bool, is_defined: bool) -> float:
        """Return up to 1 for a file. ``has_words``: its name has some of the text; ``has_text``: some file has all of
        it as typed, or ``is_defined`` says that one defines it."""
        if self._place is not None:
            return called_by(self._place, folder, name, has_text=has_text, is_defined=is_defined)
        if not has_words or has_text:
            return 0.0
        if self._spelt and is_spelt(self._spelt, folder, name):
            return SPELT
        return AMONG_WORDS if self._joined and not is_defined and is_one_of(self._joined, name) else 0.0


def called_by(
    place: TypedPlace, folder: bytes, name: bytes, *, has_text: bool = False, is_defined: bool = False
) -> float:
    """Return up to 1 for a file that a place names: a path without a line among other words must be the file's own, and
    counts only where no file ``has_text``, all of it as typed. ``is_defined``: a line defines the name as typed."""
    called = _called_as(place, folder, name, _NAMESAKE if is_defined else _OTHER_CASE)
    if place.line or place.heading or place.is_whole:
        return called
    return _MENTIONED if called == 1 and not has_text else 0.0


def as_spelt(text: str) -> bytes:
    """Return a text of a few words as a name may spell it, without what is between them; empty for any other text."""
    return text.lower().encode("utf-8", "replace").translate(None, _BETWEEN) if len(text.split()) in _WORDS else b""


def joined_words(text: str) -> frozenset[bytes]:
    """Return the words with hyphens or underscores among others, as names of files may spell them (`as_spelt`)."""
    found = _JOINED.findall(text) if len(text.split()) > 1 else []
    return frozenset(word.lower().encode("utf-8", "replace").translate(None, _BETWEEN) for word in found)


def is_one_of(words: frozenset[bytes], name: bytes) -> bool:
    """Whether a word of `joined_words` is the name of a file without its suffix."""
    return (name.rpartition(b".")[0] or name).lower().translate(None, _BETWEEN) in words


def is_spelt(words: bytes, folder: bytes, name: bytes) -> bool:
    """Whether the name of a file, with or without its suffix and the folders right above it, has all the ``words`` and
    no others."""
    base = name.lower()
    return any(
        words.endswith(last) and _are_above(words.removesuffix(last), folder)
        for last in (each.translate(None, _BETWEEN) for each in (base, base.rpartition(b".")[0]))
        if last
    )


def _are_above(words: bytes, folder: bytes) -> bool:
    """Whether words, without what is between them, are the last folders of a path."""
    for part in reversed(folder.lower().split(b"/") if words else []):
        above = part.translate(None, _BETWEEN)
        if not words or not words.endswith(above):
            break
        words = words.removesuffix(above)
    return not words


def folders_above(path: str, folder: bytes) -> int:
    """Return how many folders of a typed path are those above a file, from the innermost on."""
    pairs = zip(reversed(_parts(path)[:-1]), reversed(folder.split(b"/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _called_as(place: TypedPlace, folder: bytes, name: bytes, of_namesake: float) -> float:
    """Return up to 1 for a file with the very name that was typed, with or without its suffix: less in another case,
    ``of_namesake`` where capitals were typed, with one more suffix behind the typed one, or where not all of the typed
    folders are above it, and little if more of them are above another; 0 for any other name."""
    *above, last = _parts(place.path)
    own = name if last[:1] in _SIGNS else name.lstrip(_SIGNS)
    if not own.lower().startswith(last.lower()):  # the usual case, for a hundred names a search
        return 0.0
    names = (own, own.rpartition(b".")[0] or own)
    value = 1.0 if last in names else _OTHER_CASE if last.islower() else of_namesake
    if last.lower() not in (names[0].lower(), names[1].lower()):
        if not (last.islower() and _SUFFIXES.fullmatch(own[len(last) :])):
            return 0.0
        value = _OF_SUFFIXES
    if b"." in last and len(last) < len(own):
        value *= _ANOTHER_SUFFIX
    if len(own) < len(name):
        value *= _OF_SIGNS
    if not above:
        return value
    same = folders_above(place.path, folder)
    if same < place.folders:
        return value * _LESS_ALIKE
    if not same and "://" in place.path and not place.line:  # rather a page that texts name
        return 0.0
    return value * (ELSEWHERE + (1 - ELSEWHERE) * same / len(above))


def _parts(path: str) -> list[bytes]:
    return path.strip("/").encode("utf-8", "replace").split(b"/")
