"""Recognises a question for what is derived from a type: ``subclasses of Shape``, ``extends Shape``, ``who implements
Shape``; and tells which lines derive one.

Invariant: pure. Time is linear in the text.
"""

from __future__ import annotations

import re
from typing import Final

_OF: Final = (
    r"(?:(?:all|the|find|list|direct) )*(?:sub-?class(?:es)?|sub-?types?|children|derived classes|implementations?|"
    r"implement[eo]rs?) of "
)
_VERB: Final = (
    r"(?:extends?|implements?|inherits? from|derives? from|extending|implementing|inheriting from|derived from|"
    r"subclasses|subclassing) "
)
_WHO: Final = r"(?:(?:(?:all|the|find|list) )*(?:class(?:es)?|types?|structs?) (?:that |which )?|what |who )?"
_QUESTION: Final = re.compile(
    rf"(?:{_OF}|{_WHO}{_VERB})(?:(?:the|class|interface|trait) )*[`'\"]?(?P<name>[^\W\d]\w*)[`'\"]?\s*\?*",
    re.IGNORECASE,
)


def base_type(text: str) -> str:
    """Return the type that a text asks for the derived ones of; empty for any other text."""
    found = _QUESTION.fullmatch(text)
    return "" if found is None else found["name"]


def deriving(name: str) -> str:
    """Return the pattern of a line that derives a type from the named one, from the line's first sign on."""
    own = rf"(?<!\w){re.escape(name)}(?!\w)"
    words = r"(?:class|struct|interface|trait|object|enum|record|protocol|extension)"
    return (
        rf"[ \t]*(?:[\w@]+[ \t]+){{0,6}}?{words}[ \t]+[^\n;{{}}=]*?"
        rf"(?:\b(?:extends|implements)\b[^\n;{{}}]*?|\([^\n()]*?|(?<!:):(?!:)[^\n;{{}}]*?|<[ \t]*(?:\w+::)*){own}"
        rf"|[ \t]*(?:unsafe[ \t]+)?impl\b[^\n;{{}}]*?{own}[^\n;{{}}]*?\bfor\b"
    )
