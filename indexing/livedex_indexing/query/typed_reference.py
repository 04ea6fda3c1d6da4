"""Recognises what a reference in a text with marks names: a label, an anchor, an entry of a bibliography.

Invariant: pure; whether there is such a label is for the index to say.
"""

from __future__ import annotations

import re
from typing import Final

# \ref{sec:name}    \cite[p. 3]{key}    :ref:`name`    :ref:`text <name>`
# <<name,text>>    xref:name[]    [@key, p. 3]    @key:1999    [key]_
_REFERENCE: Final = re.compile(
    r"\\\w*(?:cite|ref)\w*\*?(?:\[[^\[\]]*\])*\{([^{},]+)[^{}]*\}|:(?:\w+:)?\w+:`(?:[^`<]+<)?([^`<>]+)>?`|"
    r"<<([^<>,]+)(?:,[^<>]*)?>>|xref:#?([\w-]+)\[[^\[\]]*\]|\[-?@([\w:.-]+)(?:,[^\[\]]*)?\]|@(\w*[:\d][\w:-]*\w)|"
    r"\[([^\[\]]+)\]_"
)


def referred(text: str) -> str:
    """Return what a text refers to that is a reference and nothing else, "" for any other text."""
    found = _REFERENCE.fullmatch(text.strip())
    return "" if found is None else next(filter(None, found.groups())).strip()
