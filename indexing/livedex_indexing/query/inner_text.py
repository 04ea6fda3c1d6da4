"""Takes off a text what was put around it: a report around a message, the words of a question around what it is about.

Invariant: pure; what is returned is a part of the typed text.
"""

from __future__ import annotations

import re
from typing import Final

_LEVEL: Final = r"(?:critical|debug|error|fatal|fatal error|info|notice|panic|trace|warn|warning)"
_OF_REPORT: Final = re.compile(
    "|".join(
        (
            r"\[?\s*(?=\d+[:.,/-]\d)[\d:.,/TZ+-]+(?:\s+\d+:[\d:.,Z+]*)?\]?:?\s+",  # [ 1.23]    2026-01-02 03:04:05
            r"[a-z]{3}\s+\d{1,2}\s\d+:\d\d:\d\d\s+(?:\S+\s+(?=\S+:\s))?",  # Jan 02 03:04:05 host
            rf"{_LEVEL}(?:\[\w+\])?:\s+",
            rf"[\[<(]{_LEVEL}[\])>]:?\s+",
            rf"{_LEVEL}:[\w.]+:",  # INFO:root:
            rf"{_LEVEL}\s+(?=\S+:\s)",  # ERROR main:
            rf"{_LEVEL}\s+\[[^\]]*\]\s+\S+\s+-\s+",  # WARN  [main] a.b.C -
            r"[iwef]\d{4}\s[\d:.]+\s+\d+\s+\S+\]\s+",  # E0102 03:04:05.678901 123 a.cc:12]
            r"(?:[\w$]+(?:\.|::|\\))*\w*(?:error|exception|warning)(?:\s*\[[\w-]+\])?:\s+",
            r"exception in thread \"[^\"]*\"\s+",
            r"thread '[^']*'(?: \(\d+\))? panicked at\s+",
            r"(?:caused by|uncaught|unhandled exception):?\s+",
            r"\w[\w./-]*(?:\[\d+\])?:\s+",  # sshd[12]:
        )
    ),
    re.IGNORECASE,
)
_OF_QUESTION: Final = re.compile(
    r"(?:\w+\s+){0,4}?(?:class|code|function|helper|method|place|test)\s+(?:that|to|which)\s+|"  # find the code that
    r"(?:how (?:can|do|does|to)|what|where|which function)\s+(?:(?:i|it|one|that|we|you)\s+)?",
    re.IGNORECASE,
)
_QUOTED: Final = re.compile(r"(['\"`])(.*)\1(?:, [^\s:]+:\d+(?::\d+)?)?")
_LONGEST: Final = 1_000  # characters: a longer text is a log or a page
_LEAST: Final = 3  # words of what is inside
_FRONTS: Final = 8  # that are taken off, at most
_LEAST_CUT: Final = 6  # words of a text that may begin or end with a value
_MOST_CUT: Final = 24
_MOST: Final = 3  # texts that one may have inside


def messages_inside(text: str) -> list[str]:
    """Return the messages that a line may report, the longest first; none where it looks like no report."""
    return _inside(text, _OF_REPORT)


def texts_inside(text: str) -> list[str]:
    """Return the messages that a line may report, else what a question is about, the longest first; then the text
    without its last and without its first word, which may be values."""
    inner = text.strip()
    words = inner.split() if "\n" not in inner else []
    is_cut = _LEAST_CUT <= len(words) <= _MOST_CUT
    cut = [inner[: -len(words[-1])].rstrip(), inner[len(words[0]) :].lstrip()] if is_cut else []
    return [*(messages_inside(text) or _inside(text, _OF_QUESTION)), *cut]


def _inside(text: str, front: re.Pattern[str]) -> list[str]:
    inner = text.strip()
    found: list[str] = []
    if len(inner) > _LONGEST or "\n" in inner:
        return found
    while len(found) <= _FRONTS and len(inner.split()) >= _LEAST:
        found.append(inner)
        quoted, before = _QUOTED.fullmatch(inner), front.match(inner)
        if quoted is not None:
            inner = quoted[2]
        elif before is not None:
            inner = inner[before.end() :]
        elif len(found) > 1 and inner[-1] in ".?":
            inner = inner[:-1]
        else:
            break
    return found[1:][-_MOST:]
