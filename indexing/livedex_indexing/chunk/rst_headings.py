"""Find the underlined headings of reStructuredText and of plain text in the same style.

Invariant: a heading has text, an underline at least as long, and only its overline, a blank line or the heading before
above it. Styles get their levels in the order of their first appearance, as in docutils.
"""

from __future__ import annotations

import re

from livedex_indexing.chunk.markdown import Heading

LANGUAGES = frozenset({"restructuredtext", "text"})
_HEADING_CHARS = 200
_UNDERLINE = re.compile(r"^([=\-~^\"'#*+:._`])\1{2,}[ \t]*\r?$", re.MULTILINE)


def headings(text: str) -> list[Heading]:
    """Return the headings of a text, in order."""
    found: list[Heading] = []
    styles: list[tuple[str, bool]] = []
    above: list[str] = []
    below = 0  # where the line below the last heading begins
    for match in _UNDERLINE.finditer(text):
        head = _title(text, match, below)
        if head is None:
            continue
        below = match.end() + 1
        start, title, over = head
        style = (match[1], over)
        if style not in styles:
            styles.append(style)
        level = styles.index(style) + 1
        above = [*above[: level - 1], title]
        found.append(Heading(start, level, title, " > ".join(above)))
    return found


def _title(text: str, under: re.Match[str], below: int) -> tuple[int, str, bool] | None:
    """Return start, title and presence of an overline for the heading above an underline; None if it is no heading.
    ``below``: where the line below the heading before begins."""
    end = under.start() - 1
    if end <= 0:
        return None
    start = text.rfind("\n", max(0, end - _HEADING_CHARS - 2), end) + 1
    if start == 0 and end > _HEADING_CHARS:
        return None
    line = text[start:end].rstrip()
    title = line.strip()
    rule = under[0].rstrip()
    if not title or len(title) > len(rule) or (title == title[0] * len(title) and not title[0].isalnum()):
        return None
    if start == 0:
        return (0, title, False) if line == title else None
    before = text.rfind("\n", 0, start - 1) + 1
    above = text[before : start - 1].rstrip()
    if above == rule:
        return before, title, True
    return (start, title, False) if (not above or start == below) and line == title else None
