"""Keys under which the index finds a name by the beginnings of its parts: their first letters (``TPE`` for
``ThreadPoolExecutor``), and the first two of each (``ThPoEx``).

Invariant: a key begins with a letter that nobody types, so no query for a word finds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from livedex_indexing.text.terms import name_words, parts_of_all

MARK: Final = "ǂ"
_PARTS: Final = range(2, 8)  # of a name with keys
_LETTERS: Final = 2  # of each part, in the longer key
_LEAST_INITIALS: Final = 3  # two are those of very many names
_LONGEST_CUT: Final = 4  # letters of a part that is not the last, typed without a sign between the parts
_MOST_CUT: Final = 4  # parts typed so
_MOST_KEYS: Final = 16  # that are looked up


def split_name(name: str) -> list[str]:
    """Return the parts of a name, in lower case: those of each piece in mixed case; a piece in one case is one."""
    pieces = [piece for piece in name.split("_") if piece]
    if name.islower() and all(map(str.isalpha, pieces)):
        return pieces  # what the rule gives, in a third of its time
    return [part.lower() for part in (parts_of_all(pieces) if not name.isupper() else pieces)]


def has_beginnings(word: str, parts: Sequence[str]) -> bool:
    """Whether a word is made of beginnings of all parts, each of two letters at least."""
    ends = {0}
    for part in parts:
        ends = {end + size for end in ends for size in range(2, len(part) + 1) if word.startswith(part[:size], end)}
    return len(word) in ends


def has_letters(word: str, whole: str) -> bool:
    """Whether a word has only letters of another one, in their order."""
    rest = iter(whole)
    return all(letter in rest for letter in word)


def outline_words(names: Sequence[str]) -> str:
    """Return the names that a chunk defines, their parts and their keys, as the index has them."""
    return " ".join([name_words(names), *_keys_of_all(names)])


def _keys_of_all(names: Iterable[str]) -> Iterable[str]:
    last = dict.fromkeys(name.rpartition(".")[2] for name in names)
    return dict.fromkeys(key for name in last for key in keys_of(name))


def keys_of(name: str) -> list[str]:
    """Return the keys of a defined name; none for one of a single part or of more than seven, for one in capitals, and
    for ``test_`` with more: constants and test functions would have most of the keys."""
    if not name.isascii() or name.isupper() or (name.isalpha() and name.islower()):
        return []
    parts = split_name(name)
    if len(parts) not in _PARTS or (parts[0] == "test" and name[0] == "t"):
        return []
    return [key for key in (_key(parts, 1), _key(parts, _LETTERS)) if key]


def keys_of_beginnings(parts: Sequence[str]) -> list[str]:
    """Return the key of the names whose parts begin with ``parts``; none for two parts of which one is a letter."""
    if len(parts) not in _PARTS or not all(parts):
        return []
    key = _key(parts, _LETTERS if all(len(part) >= _LETTERS for part in parts) else 1)
    return [key] if key else []


def keys_of_joined(word: str) -> list[str]:
    """Return the keys of the names that a word in lower case may shorten: as their first letters, or as beginnings of
    two to four letters, of which the last may be longer. Those of beginnings of one length come first."""
    cut = sorted((parts for parts in _cut(word, _MOST_CUT) if len(parts) > 1), key=_unevenness)
    initials = _key(word, 1) if len(word) in _PARTS else ""
    keys = dict.fromkeys([initials, MARK + word, *(_key(parts, _LETTERS) for parts in cut)])
    return [key for key in keys if key][:_MOST_KEYS]


def _unevenness(parts: Sequence[str]) -> int:
    *first, _ = map(len, parts)
    return max(first) - min(first)


def _key(parts: Sequence[str], letters: int) -> str:
    if letters == 1 and len(parts) < _LEAST_INITIALS:
        return ""
    return MARK + "".join([part[:letters] for part in parts])


def _cut(word: str, most: int) -> Iterator[list[str]]:
    """Yield the ways to cut a word into beginnings."""
    if len(word) >= _LETTERS:
        yield [word]
    for end in range(_LETTERS, min(_LONGEST_CUT, len(word) - _LETTERS) + 1) if most > 1 else ():
        for rest in _cut(word[end:], most - 1):
            yield [word[:end], *rest]
