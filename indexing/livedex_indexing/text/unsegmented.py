"""Scripts without spaces between words: their text is indexed and queried by pairs of adjacent characters (bigrams).

Invariant: characters are adjacent in a text exactly where their bigrams are adjacent in the index. So a phrase of
bigrams is found exactly where the characters are.

A run ``日本語`` is indexed as the words ``日本 本語 語``. The single last character separates a run from the next;
a query for one character finds it as a prefix. Korean has spaces, but its words carry endings, so it is indexed by
bigrams too. Variants of a character are folded: full-width letters and digits, half-width Katakana, compatibility
ideographs, and decomposed Hangul or Kana (NFD).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from operator import add
from typing import Final

from livedex_indexing.text.letters import fold_letters

_THAI_LAO: Final = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"
_TIBETAN: Final = "\u0f00\u0f18\u0f19\u0f20-\u0f33\u0f35\u0f37\u0f39\u0f40-\u0f6c\u0f71-\u0f84\u0f86-\u0fbc"
_BURMESE: Final = "\u1000-\u1049\u1050-\u109d\ua9e0-\ua9fe\uaa60-\uaa76\uaa7a-\uaa7f"
_KHMER: Final = "\u1780-\u17d3\u17d7\u17dc\u17dd\u17e0-\u17e9"
_TAI: Final = "\u1950-\u1974\u1980-\u19da\u1a20-\u1a7c\u1a80-\u1a89\u1a90-\u1a99\uaa80-\uaac2\uaadb-\uaadd"
# Ideographs and Kana with their marks and signs of repetition, Bopomofo, Yi.
_HAN_KANA: Final = (
    "\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0002ebe0\U0002f800-\U0002fa1f\U00030000-\U0003134a"
)
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7c6\ud7cb-\ud7fb\uffa0-\uffdc"
# The tokenizer treats the vowel signs and tone marks of these scripts as separators. They are mapped to characters of
# private use, which it treats as letters; whole scripts, so that the result depends on no version of Unicode.
_WITH_MARKS: Final = _THAI_LAO + _TIBETAN + _BURMESE + _KHMER + _TAI + "\u302a-\u302f\u3099\u309a"
_PRIVATE: Final = 0xF2000  # added to the code point

UNSEGMENTED: Final = _WITH_MARKS + _HAN_KANA + _HANGUL
RUN: Final = re.compile(f"[{UNSEGMENTED}]+")
_MARKED: Final = re.compile(f"[{_WITH_MARKS}]")
_BLOCKS: Final = (
    *range(0x0E00, 0x1AA0),
    *range(0x302A, 0x309B),
    *range(0xA9E0, 0xAAE0),
)  # the blocks that contain them
_TO_PRIVATE: Final = {code: chr(_PRIVATE + code) for code in _BLOCKS if _MARKED.match(chr(code))}
_BEYOND: Final = re.compile("[^\0-\u0dff\u1ad0-\u2eff]")  # ten times as fast as a search for the scripts
# Characters that are folded, each with its combining parts.
_FOLDED: Final = re.compile(
    "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]+|[\uff66-\uff9d][\uff9e\uff9f]?|[\u3041-\u30ff][\u3099\u309a]"
    "|[\u1100-\u115f\ua960-\ua97c](?:[\u1160-\u11a7\ud7b0-\ud7c6][\u11a8-\u11ff\ud7cb-\ud7fb]?)"
    "|[\uac00-\ud7a3][\u11a8-\u11ff]|[\u2f00-\u2fd5\uf900-\ufaff\U0002f800-\U0002fa1f]"
)
_LETTER: Final = f"[^\\W_{UNSEGMENTED}]"  # of a script with blanks
_GAP: Final = f"(?:[^\\w{UNSEGMENTED}]|_)"


@cache
def _letter() -> re.Pattern[str]:
    """Compiled at the first use: a class of so many scripts takes 2 ms, which most starts need not spend."""
    return re.compile(_LETTER)


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(f"[{UNSEGMENTED}]+|{_LETTER}+")


def folded(text: str) -> tuple[str, Sequence[int] | None]:
    """Replace variants of a character by the usual one. Also return the offset in ``text`` of each character of the
    result, and last the end; None if no offset changed."""
    if text.isascii() or _BEYOND.search(text) is None:
        return text, None
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for match in _FOLDED.finditer(text):
        start, end = match.span()
        usual = unicodedata.normalize("NFKC", match[0])
        pieces += (text[at:start], usual)
        places += range(at, start)
        # One for one, or several characters that became one; never more.
        places += range(start, end) if len(usual) == end - start else [start] * len(usual)
        at = end
    if not at:
        return text, None
    pieces.append(text[at:])
    places += range(at, len(text) + 1)
    return "".join(pieces), places


def to_bigrams(text: str) -> str:
    """Return the text as it is indexed: each run as its bigrams, and letters that are typed as others as those."""
    if text.isascii():
        return text
    text = fold_letters(text)
    if _BEYOND.search(text) is None:
        return text
    return _kept(RUN.sub(_pairs, folded(text)[0]))


def query_bigrams(word: str) -> tuple[str, bool]:
    """Return a query word as bigrams; the text may go on after a run at its end. Also return whether the last word is
    a prefix, because the run is a single character."""
    plain = folded(word)[0]
    *_, last = RUN.finditer(plain)
    if _letter().search(plain, last.end()):
        return _kept(RUN.sub(_pairs, plain)), False
    run = last[0]
    open_ended = " ".join(map(add, run, run[1:])) or run
    return _kept(f"{RUN.sub(_pairs, plain[: last.start()])} {open_ended}"), len(run) == 1


def pieces_of(word: str) -> list[str]:
    """Split a word into runs and the letters between them."""
    return _piece().findall(folded(word)[0])


def mask_runs(text: str) -> str:
    """Replace each character of a run by a NUL, so that the tokenizer finds the words next to it as the index has
    them."""
    if text.isascii() or _BEYOND.search(text) is None:
        return text
    return RUN.sub(lambda match: "\0" * len(match[0]), text)


def finder(word: str, *, prefix: bool) -> re.Pattern[str]:
    """Match in a folded text what the index finds for a word with a run: its pieces, whatever separates them."""
    pieces = pieces_of(word)
    parts = [_inside(pieces[0])]
    for left, right in pairwise(pieces):
        alike = bool(RUN.match(left)) == bool(RUN.match(right))
        parts += (f"{_GAP}{'+' if alike else '*'}", _inside(right))
    return re.compile(_bounded(pieces[0], "".join(parts), "" if prefix else pieces[-1]))


def phrase_finder(text: str) -> re.Pattern[str]:
    """Match a phrase in a folded text character by character, without case; a blank matches any blanks."""
    words = folded(text)[0].split()
    if not words:
        return re.compile("(?!)")
    return re.compile(_bounded(words[0], r"\s+".join(map(_inside, words)), words[-1]))


def _kept(text: str) -> str:
    return text.translate(_TO_PRIVATE) if _MARKED.search(text) else text


def _pairs(match: re.Match[str]) -> str:
    run = match[0]
    return f" {' '.join(map(add, run, run[1:]))} {run[-1]} "


def _inside(piece: str) -> str:
    return f"(?i:{re.escape(piece)})"  # not the whole pattern: compiling the classes without case takes long


def _bounded(first: str, pattern: str, last: str) -> str:
    """Keep a pattern from matching part of a word in a script with spaces."""
    before = f"(?<!{_LETTER})" if _letter().match(first) else ""
    after = f"(?!{_LETTER})" if last and _letter().match(last[-1]) else ""
    return f"{before}{pattern}{after}"
