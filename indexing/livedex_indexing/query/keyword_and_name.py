"""Recognises the beginning of a definition, as in ``struct walk`` or ``class Walk {``, and finds the definition: in C,
each use of such a type has the same words.

Invariant: pure; time is linear in the text.
"""

from __future__ import annotations

import re
from typing import Final

from livedex_indexing.query.query_terms import STOP_WORDS

_OF_TYPES: Final = "class|enum|struct|union"  # of which variables are declared by the same words
_KEYWORD: Final = (
    rf"#[ \t]*define|def|fn|fun|func|function|interface|macro|module|object|protocol|record|trait|type|{_OF_TYPES}"
)
_MODIFIERS: Final = (
    "abstract|async|const|data|default|export|final|inline|internal|open|partial|private|protected|pub|public|sealed|"
    "static|typedef|unsafe"
)
_NAME: Final = r"[^\W\d]\w+[!?]?"
_TYPED: Final = re.compile(
    rf"(?:(?:{_MODIFIERS})\s+)*(?:(?P<keyword>{_KEYWORD})\s+(?P<name>{_NAME})|(?P<before>{_NAME})\s+(?P<behind>{_OF_TYPES}))"
    r"\s*[({:;]?"
)
_OF_VARIABLE: Final = r"[ \t]+\w+[ \t]*[;=,()\[]"  # struct walk first;


class KeywordAndName:
    """A ``name`` behind the keyword that begins its definition."""

    def __init__(self, keyword: str, name: str) -> None:
        self.keyword, self.name = keyword, name
        behind = rf"[ \t]*[*&;,)>]|{_OF_VARIABLE}" if re.fullmatch(_OF_TYPES, keyword) else r"[ \t]*;"
        begin = r"#[ \t]*define" if keyword.startswith("#") else keyword
        self._line = re.compile(
            rf"^[ \t]*(?:[\w()]+[ \t]+){{0,4}}(?P<both>{begin}[ \t]+{re.escape(name)})(?!\w)(?!{behind})", re.MULTILINE
        )

    def place(self, text: str) -> tuple[int, int] | None:
        """Return where a line of the text defines the name so, from the keyword on; None where none does."""
        found = self._line.search(text)
        return None if found is None else found.span("both")


def keyword_and_name(text: str) -> KeywordAndName | None:
    """Return the keyword and the name that a text is; None for any other text."""
    found = _TYPED.fullmatch(text.strip())
    name = "" if found is None else found["name"] or found["before"]
    if found is None or name.lower() in STOP_WORDS:
        return None
    return KeywordAndName(found["keyword"] or found["behind"], name)
