"""Guesses the encoding of text that is neither UTF-8 nor marked. The guess rests on the first 64 KiB alone.

Invariant: only codecs without state are named, so that a slice of a file decodes by itself.

Statistics need a few hundred bytes. A short text is looked at by its form: Latin letters with accents stand alone
between ASCII letters, and the characters of Chinese, Japanese and Korean are pairs of high bytes.
"""

from __future__ import annotations

import re
from typing import Final

SAMPLE: Final = 64 * 1024  # bytes
# Shift states, or wide characters that only a mark may announce.
REFUSED: Final = ("utf_7", "utf_8", "utf_16", "utf_32", "hz", "iso2022", "punycode", "idna")
_FEW: Final = 100  # high bytes: with as many, statistics tell more than the form
_RUN: Final = re.compile(rb"[\x80-\xff]+")
_TYPOGRAPHY: Final = frozenset("€‚„…‘’“”•–—™\xa0¡¢£¥§¨©ª«®°±²³´µ¶·º»¼½¾¿×÷")
_IN_WORDS: Final = frozenset("’\xadªº·")  # signs that may stand between two letters
_HANGUL: Final = range(0xB0, 0xC9)  # first bytes, in EUC-KR
_HANZI: Final = range(0xB0, 0xF8)  # first bytes, in GB2312 …
_RARE_HANZI: Final = range(0xD8, 0xF8)  # … and of those that are rare
_KANA: Final = (0xA4, 0xA5)  # first bytes, in EUC-JP


def detect(body: bytes) -> str | None:
    """A codec name for the bytes, or None where nothing fits well enough."""
    sample = body[:SAMPLE]
    if len(body) > SAMPLE:  # a character cut in two would rule out the right answer
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    runs = _RUN.findall(sample)
    if sum(map(len, runs)) < _FEW:
        by_form = _western(sample, runs) or _eastern(runs)
        if by_form is not None:
            return by_form
    # Imported late: most files never come here, and the import stays in memory.
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None:
        return None
    return None if best.encoding.startswith(REFUSED) else best.encoding


def _western(sample: bytes, runs: list[bytes]) -> str | None:
    """Return cp1252 if the text looks like a language of Western Europe: its high bytes are letters inside words, few
    of them next to each other, or signs around words."""
    if sum(len(run) > 1 for run in runs) * 4 > len(runs):
        return None
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return None
    for at, character in enumerate(text):
        if character.isascii() or (character.isalpha() and character not in "ªºƒ"):
            continue
        inside = text[at - 1 : at].isalpha() and text[at + 1 : at + 2].isalpha()
        if character not in (_IN_WORDS if inside else _TYPOGRAPHY):
            return None
    return "cp1252"


def _eastern(runs: list[bytes]) -> str | None:
    """Return the encoding of text whose characters are all pairs of high bytes; None if they are not."""
    if not runs or any(len(run) % 2 for run in runs):
        return None
    pairs = [(run[at], run[at + 1]) for run in runs for at in range(0, len(run), 2)]
    firsts = [first for first, _ in pairs if first in _HANZI]
    if any(min(pair) < 0xA1 for pair in pairs) or all(min(pair) >= 0xC0 for pair in pairs):
        return None  # the latter: Cyrillic letters
    if sum(first in _KANA for first, _ in pairs) * 5 > len(pairs):
        return "euc_jp"
    if not firsts or sum(first in _RARE_HANZI for first in firsts) * 3 > len(firsts):
        return None
    return "euc_kr" if all(first in _HANGUL for first in firsts) else "gb18030"
