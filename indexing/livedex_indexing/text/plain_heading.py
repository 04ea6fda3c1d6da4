"""Headings as people read them: of a link its text, of an image what stands for it.

Invariant: what is no link stays as it is in the file.
"""

from __future__ import annotations

import re
from typing import Final

# Code, or an inline link or image whose text has no brackets: of one in another, the inner comes first.
_LINK: Final = re.compile(r"`[^`]*`|!?\[([^\[\]]*)\]\([^()\s]*(?: \"[^\"]*\")?\)")
_ANCHORS: Final = frozenset("¶#§🔗")  # the texts of links to the heading itself
_DEEPEST: Final = 2  # a badge: an image in a link


def plain_heading(text: str) -> str:
    """Return a chain of headings without the targets of links."""
    for _ in range(_DEEPEST):
        if "](" not in text:
            break
        text = _LINK.sub(_shown, text)
    return text


def _shown(link: re.Match[str]) -> str:
    text: str | None = link[1]
    return link[0] if text is None else "" if text in _ANCHORS else text
