"""Detect code that is nested too deeply for its grammar, before it is parsed.

Invariant: no function here recurses, makes more than a few passes over the text, or reports ordinary code as too deep.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import accumulate

MAX_DEPTH = 1_000  # brackets inside brackets, elements inside elements

_NOT_BRACKETS = bytes(set(range(256)) - set(b"()[]{}"))
_PAIRS = (b"()", b"[]", b"{}")
# YAML's scanner stores the column of each open block in 1,024 bytes, 4 each, and writes past their end. A nested block
# is indented further, so N nested blocks need a line that begins with N of these characters.
_COLUMNS = 240
_YAML_COLUMNS = re.compile(rb"(?<![ \t?:-])(?:[ \t]|[?:-](?=[ \t])){%d}" % _COLUMNS)
_YAML_SIGNS = bytes(0x20 if code in b" \t?:-" else 0x78 for code in range(256))
# HTML's scanner goes through all open elements for each token. Elements that need no end tag are not counted.
_HTML_TAGS = re.compile(
    rb"<(?!(?:area|base|body|br|col|colgroup|dd|dt|embed|head|hr|html|img|input|li|link|meta|optgroup|option|p|param|"
    rb"rp|rt|source|tbody|td|tfoot|th|thead|tr|track|wbr)[\s/>])[a-z]|</|/>",
    re.IGNORECASE,
)
_HTML_ENDS = frozenset((b"</", b"/>"))
# Java's parser tries each ``<`` both as less-than and as the beginning of type arguments: 20,000 nested take 3.5 GB.
_NOT_ANGLES = bytes(set(range(256)) - set(b"<>"))


def too_deep(language: str, data: bytes, limit: int, *, watched: bool) -> bool:
    """Tell whether the code is nested in more than about ``limit`` levels.

    Check constructs that only slow a parser down if its work is ``watched``, in all but small files.
    """
    # A search for a run of this many signs is twenty times as fast as one for their exact positions.
    if language == "yaml" and b" " * _COLUMNS in data.translate(_YAML_SIGNS) and _YAML_COLUMNS.search(data):
        return True
    if language == "java" and _rise(angle == ord("<") for angle in data.translate(None, _NOT_ANGLES)) > limit:
        return True
    if not watched:
        return False
    if language == "html" and _rise(tag not in _HTML_ENDS for tag in _HTML_TAGS.findall(data)) > limit:
        return True
    return bracket_depth(data) > limit


def bracket_depth(data: bytes) -> int:
    """Return roughly how deep brackets are nested; brackets in strings count too.

    Empty pairs are removed until none is left; ordinary code is gone after a dozen rounds.
    """
    brackets = data.translate(None, _NOT_BRACKETS)
    rounds = 0
    while brackets and rounds < MAX_DEPTH:
        left = brackets
        for pair in _PAIRS:
            left = left.replace(pair, b"")
        if len(left) == len(brackets):
            break
        brackets = left
        rounds += 1
    steps = accumulate(1 if bracket in b"([{" else -1 for bracket in brackets)
    return rounds + max(steps, default=0)


def _rise(openings: Iterable[bool]) -> int:
    """Return the greatest excess of openings (True) over closings (False) between any two positions."""
    depth = deepest = 0
    for opening in openings:
        depth = depth + 1 if opening else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
