"""Words that a full-text index misses: the parts of names in mixed case (``getHTTPResponse``), and compounds that are
written with a hyphen or as one word (``built-in``, ``builtin``).

Invariant: linear in the text, and the output is at most a small multiple of its letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, product

# A longer run of letters is data (base64, a hash, minified code), not a name.
_LONGEST_NAME = 64  # characters
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# where a number begins, and where it ends
_NUMBER = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
_MOST_NUMBERS = 2  # in a name, which gives 16 ways
_SIGNS = re.compile(r"[\W_]+")
_LONGEST_PART = 20  # letters
_HYPHEN = re.compile(r"-(?<=[A-Za-z]-)(?=[A-Za-z]{2})")  # begins with the rare character: as fast as a plain search
_BEFORE = re.compile(rf"(?<![\w-])[A-Za-z]{{1,{_LONGEST_PART}}}\Z")
_BEHIND = re.compile(rf"[A-Za-z]{{2,{_LONGEST_PART}}}(?![\w-])")


def _classes() -> bytes:
    table = bytearray(b"." * 256)
    for code in range(256):
        char = chr(code)
        if "a" <= char <= "z":
            table[code] = ord("a")
        elif "A" <= char <= "Z":
            table[code] = ord("A")
        elif "0" <= char <= "9":
            table[code] = ord("0")
    return bytes(table)


_CLASSES = _classes()


def parts_of(word: str) -> list[str]:
    """Split a name: ``getHTTPResponse`` gives get, HTTP, Response; a word of one part gives an empty list."""
    found = _PARTS.findall(word)
    return found if len(found) > 1 else []


def parts_of_all(pieces: Iterable[str]) -> list[str]:
    """Split names: a word of one part is that part."""
    return [part for piece in pieces for part in parts_of(piece) or [piece]]


def in_other_conventions(name: str) -> list[str]:
    """Return the parts of a name, joined by underscores, in each way in which another convention may split it: a number
    may belong to the letters before it, behind it, to both or to none. ``ext4XattrUser`` gives ``ext4_Xattr_User``,
    ``ext4Xattr_User``, ``ext_4_Xattr_User`` and ``ext_4Xattr_User``. The name itself is none of them."""
    if not name.isascii():
        return []
    split = "_".join(_HUMP.sub("_", piece) for piece in _SIGNS.split(name))
    first, *pieces = _NUMBER.split(split)
    places = [("", "_") if piece[0].isdigit() else ("_", "") for piece in pieces]
    chosen = product(*places) if len(places) <= 2 * _MOST_NUMBERS else zip(*places, strict=True)
    ways = ("".join(chain([first], *zip(signs, pieces, strict=True))) for signs in chosen)
    return [way for way in dict.fromkeys(ways) if "_" in way and way != name]


def mixed_case_parts(text: str) -> str:
    """Return the parts of each occurrence of a word in mixed case, joined by spaces.

    Letters become ``a``, ``A``, ``0`` or ``.`` first, so that the two kinds of boundary inside a word are found by
    substring search: ten times as fast as a regular expression.
    """
    classes = text.encode("latin-1", "replace").translate(_CLASSES)
    out: list[str] = []
    at = 0
    low, high = classes.find(b"aA"), classes.find(b"AAa")
    while low >= 0 or high >= 0:
        hit = low if high < 0 or 0 <= low < high else high
        start = classes.rfind(b".", at, hit) + 1 or at
        end = classes.find(b".", hit)
        end = len(classes) if end < 0 else end
        if end - start <= _LONGEST_NAME:
            out += _PARTS.findall(text[start:end])
        at = end
        if 0 <= low < end:
            low = classes.find(b"aA", end)
        if 0 <= high < end:
            high = classes.find(b"AAa", end)
    return " ".join(out)


def compounds(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each hyphenated word of two parts, ``built-in``: start, end, and the single word ``builtin``."""
    for hyphen in _HYPHEN.finditer(text):
        at = hyphen.start()
        before = _BEFORE.search(text, max(0, at - _LONGEST_PART), at)
        behind = _BEHIND.match(text, at + 1)
        if before is not None and behind is not None:
            yield before.start(), behind.end(), before[0] + behind[0]


def hidden_words(text: str) -> str:
    """Return the parts of each word in mixed case and each compound as one word, once per occurrence, joined by
    spaces."""
    return " ".join([mixed_case_parts(text), *(word for _, _, word in compounds(text))])


def name_words(names: Iterable[str]) -> str:
    """Return each name once, followed by its parts if it has several, joined by spaces."""
    words: list[str] = []
    for name in dict.fromkeys(names):
        words.append(name)
        words += parts_of(name) if not (name.islower() or name.isupper()) else ()
    return " ".join(words)


def is_letter(word: str) -> bool:
    """Whether a word is a single letter of an alphabet; one Chinese or Japanese character is a word."""
    return len(word) == 1 and ord(word) < 0x2E80


def is_serial(part: str) -> bool:
    """Whether a part of a name only tells it from similar names: a number or a single letter."""
    return is_letter(part) or any(character.isdigit() for character in part)
