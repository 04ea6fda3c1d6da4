"""Letters that people type as others where a keyboard lacks them, or without their marks: ß as ss, ł as l, ά as α, ё as
е, أ as ا. Both ways of writing a word are the same word in the index.

Invariant: texts are folded here before the tokenizer sees them, when they are stored and when they are looked up, so
that both agree. The tokenizer itself folds case and the diacritics of Latin letters, which a letter here has none of.

To the tokenizer, marks of other scripts part words. Here, those that are left out at will (the vowels of Arabic and
Hebrew) go; the vowel signs of Indic scripts become the letters of these vowels, and the sign of a nasal becomes N.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

_USUAL: Final = {
    "ß": "ss", "ẞ": "SS", "ı": "i", "ĸ": "k", "ŉ": "n",
    "ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "ŧ": "t", "Ŧ": "T",
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH",
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
    "ё": "е", "Ё": "Е", "ѐ": "е", "Ѐ": "Е", "ѝ": "и", "Ѝ": "И",
    "آ": "ا", "أ": "ا", "إ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه", "ۀ": "ه", "ە": "ه",
    "\u0dcf": "ආ", "\u0dd0": "ඇ", "\u0dd1": "ඈ", "\u0dd2": "ඉ", "\u0dd3": "ඊ", "\u0dd4": "උ", "\u0dd6": "ඌ",
    "\u0dd8": "ඍ", "\u0dd9": "එ", "\u0dda": "ඒ", "\u0ddb": "ඓ", "\u0ddc": "ඔ", "\u0ddd": "ඕ", "\u0dde": "ඖ",
}  # fmt: skip
_GREEK: Final = (*range(0x370, 0x400), *range(0x1F00, 0x2000))
_INDIC: Final = range(0x900, 0xE00)
_NASALS: Final = ("ANUSVARA", "ANUSVARAYA", "CANDRABINDU", "BINDI", "TIPPI")
# Vowels, accents and long joints of Arabic and Hebrew; a soft hyphen, joiners, and marks of the direction, which a copy
# of a page has inside words.
_LEFT_OUT: Final = (
    "\xad\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u200d-\u200f\u2060\ufeff"
)
_WITH_MARKS: Final = (*range(0xAD, 0x700), *range(0x200D, 0x2061), 0xFEFF)
NON_JOINER: Final = "\u200c"  # inside a word of an Indic script; between the words or parts of one elsewhere
_MARKS: Final = re.compile(f"[{_LEFT_OUT}]")


@cache
def _usual() -> dict[str, str]:
    """Return what each letter becomes. Made at the first use: it takes a millisecond."""
    made = dict(_USUAL)
    made.update(dict.fromkeys(filter(_MARKS.match, map(chr, _WITH_MARKS)), ""))
    for code in _GREEK:
        letter = unicodedata.normalize("NFD", chr(code))[0]
        if letter != chr(code) and letter.isalpha():
            made[chr(code)] = letter
    made = {**dict(_of_indic_scripts()), **made, NON_JOINER: ""}
    for code in range(0x660, 0xE00):
        if (value := unicodedata.decimal(chr(code), None)) is not None:
            made[chr(code)] = str(value)
    return made


def _of_indic_scripts() -> Iterator[tuple[str, str]]:
    for mark in map(chr, _INDIC):
        if unicodedata.category(mark)[0] != "M":
            continue
        name = unicodedata.name(mark)
        script = name.partition(" ")[0]
        vowel = f"{script} LETTER {name.partition(' VOWEL SIGN ')[2]}"
        letter = f"{script} LETTER NA" if name.endswith(_NASALS) else vowel
        try:
            yield mark, unicodedata.lookup(letter)
        except KeyError:
            yield mark, ""


@cache
def _signs() -> tuple[re.Pattern[str], dict[str, str]]:
    """Return what finds a vowel behind a consonant of an Indic script, and the sign of each vowel."""
    signs = {letter: sign for sign, letter in _of_indic_scripts() if letter and " VOWEL " in unicodedata.name(sign)}
    return re.compile(f"(?<=[\u0900-\u0dff])(?<![{''.join(signs)}])[{''.join(signs)}]"), signs


def with_vowel_signs(word: str) -> str:
    """Return a folded word of an Indic script with the signs of its vowels; any other word as it is."""
    if word.isascii():
        return word
    pattern, signs = _signs()
    return pattern.sub(lambda match: signs[match[0]], word)


@cache
def _letters() -> re.Pattern[str]:
    letters = "".join(_usual()).replace(NON_JOINER, "")
    return re.compile(f"[{letters}]|(?<=[\u0900-\u0dff]){NON_JOINER}")


def fold_letters(text: str) -> str:
    """Return a text with these letters as they are typed otherwise."""
    if text.isascii():
        return text
    usual = _usual()
    return _letters().sub(lambda match: usual[match[0]], text)


def fold_bytes(data: bytes) -> tuple[bytes, Callable[[int], int] | None]:
    """Fold UTF-8. Also return what gives the offset in ``data`` of an offset in the result, of one that is not inside
    the new letters for one; None if nothing was folded."""
    if data.isascii():
        return data, None
    text = data.decode("utf-8", "surrogateescape")
    pieces: list[bytes] = []
    ends: list[int] = []  # offsets in the result …
    shifts = [0]  # … from which on so much is added
    at = length = 0
    for match in _letters().finditer(text):
        before, usual = text[at : match.start()].encode("utf-8", "surrogateescape"), _usual()[match[0]].encode()
        pieces += (before, usual)
        length += len(before) + len(usual)
        at = match.end()
        ends.append(length)
        shifts.append(shifts[-1] + len(match[0].encode()) - len(usual))
    if not ends:
        return data, None
    pieces.append(text[at:].encode("utf-8", "surrogateescape"))
    return b"".join(pieces), lambda offset: offset + shifts[bisect_right(ends, offset)]


# Characters of which a letter of ASCII may be left in the index, or nothing at all: those above, letters with
# diacritics, marks, signs that are letters in another form.
_LOST: Final = re.compile(
    "[\xaa\xad\xb2\xb3\xb5\xb9\xba\xc0-\u02ff\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u0670\u06d6-\u06ed"
    "\u06f0-\u06f9\u07c0-\u07c9\u0900-\u0dff\u1ab0-\u1aff\u1d00-\u1fff\u200b-\u200f\u2060-\u209f\u20d0-\u218f"
    "\u2460-\u24ff\u2c60-\u2c7f\ua720-\ua7ff\uab30-\uab6f\ufb00-\ufb06\ufe00-\ufe2f\ufeff\uff00-\uff5e"
    "\U0001d400-\U0001d7ff\U0001f100-\U0001f1ff]"
)


def loses_letters(text: str) -> bool:
    """Return False if each word of ASCII letters that the index has of a text is written in it, in some case."""
    return not text.isascii() and _LOST.search(text) is not None
