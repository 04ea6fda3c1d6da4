"""Letters that people type as others where a keyboard lacks them: ß as ss, ł as l, æ as ae. Both ways of writing a word
are the same word in the index.

Invariant: texts are folded here before the tokenizer sees them, when they are stored and when they are looked up, so
that both agree. The tokenizer itself folds case and diacritics, which a letter here has none of.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Final

_USUAL: Final = {
    "ß": "ss", "ẞ": "SS", "ı": "i", "ĸ": "k", "ŉ": "n",
    "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH",
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
}  # fmt: skip
_LETTERS: Final = re.compile(f"[{''.join(_USUAL)}]")
_BYTES: Final = {letter.encode(): usual.encode() for letter, usual in _USUAL.items()}
_IN_BYTES: Final = re.compile(b"|".join(_BYTES))


def fold_letters(text: str) -> str:
    """Return a text with these letters as they are typed otherwise."""
    if text.isascii():
        return text
    return _LETTERS.sub(lambda match: _USUAL[match[0]], text)


def fold_bytes(data: bytes) -> tuple[bytes, Callable[[int], int] | None]:
    """Fold UTF-8. Also return what gives the offset in ``data`` of an offset in the result, of one that is not inside
    the new letters for one; None if nothing was folded."""
    if data.isascii() or _IN_BYTES.search(data) is None:
        return data, None
    pieces: list[bytes] = []
    ends: list[int] = []  # offsets in the result …
    shifts = [0]  # … from which on so much is added
    at = length = 0
    for match in _IN_BYTES.finditer(data):
        usual = _BYTES[match[0]]
        pieces += (data[at : match.start()], usual)
        length += match.start() - at + len(usual)
        at = match.end()
        ends.append(length)
        shifts.append(at - length)
    pieces.append(data[at:])
    return b"".join(pieces), lambda offset: offset + shifts[bisect_right(ends, offset)]


# Characters of which a letter of ASCII may be left in the index, or nothing at all: those above, letters with
# diacritics, marks, signs that are letters in another form.
_LOST: Final = re.compile(
    "[\xaa\xad\xb2\xb3\xb5\xb9\xba\xc0-\u02ff\u0300-\u036f\u1ab0-\u1aff\u1d00-\u1fff\u200b-\u200f\u2060-\u209f\u20d0-\u218f"
    "\u2460-\u24ff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\ufb00-\ufb06\ufe00-\ufe2f\uff00-\uff5e\U0001d400-\U0001d7ff"
    "\U0001f100-\U0001f1ff]"
)


def loses_letters(text: str) -> bool:
    """Return False if each word of ASCII letters that the index has of a text is written in it, in some case."""
    return not text.isascii() and _LOST.search(text) is not None
