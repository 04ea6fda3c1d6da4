r"""Reads a regular expression, as people write it for grep, as the text that it looks for: ``\brun\b``, ``def run\(``.

Invariant: pure, in time linear in the text; what is found has only words and signs of the expression.
"""

from __future__ import annotations

import re
from typing import Final

_EDGE: Final = re.compile(r"\\[bBAZz<>]")
_ANY: Final = re.compile(r"(?:\\[sSwWdD]|\[\^?(?:\\.|[^\[\]\\])+\])(?:[*+?]+|\{\d*,?\d*\})?|(?<!\\)\.[*+?]+")
_ESCAPED: Final = re.compile(r"\\([^\w\s])")
_ENDS: Final = re.compile(r"\A\^|\$\Z")
# \b beside a word and at an end of the text or a sign    \s+    \w*    \( or \.    .* between words    ^def
_IS_PATTERN: Final = re.compile(
    r"(?<=\w)\\b(?!\w)|\\[sSwWdD][*+?]|\w\\[(\[.](?!\w*\\)|\\[(\[]\Z|(?<=[\w\s\\(\[])\.[*+](?=[\w\s\\(])|"
    r"\A\^\s*(?:\w|\\s)"
)
_OTHER: Final = re.compile(r"(?<![.\]\\sSwWdD)}])[*+]|://|\A[A-Za-z]:\\")  # globs, addresses, paths


def text_of_pattern(text: str) -> str:
    """Return what a regular expression looks for, with blanks for what may be anything; empty for any other text."""
    pattern = text.strip()
    if "\n" in pattern or _OTHER.search(pattern) or not _IS_PATTERN.search(pattern):
        return ""
    bare = _EDGE.sub("", _ENDS.sub("", pattern))
    return " ".join(_ESCAPED.sub(r"\1", _ANY.sub(" ", bare)).split())
