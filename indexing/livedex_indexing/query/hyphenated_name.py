"""Recognises a name with hyphens, as Lisp, CMake and style sheets have it, alone or in a call.

Invariant: pure; whether something defines the name is for the index and the live file to say.
"""

from __future__ import annotations

import re
from typing import Final

from livedex_indexing.query.typed_name import TypedName

_NAME: Final = r"([*+%]{0,2}[^\W\d]\w*(?:(?:-{1,2}>?|->|[/:]{1,2})\w+)+[*+?!]{0,2})"
_FORMS: Final = (re.compile(rf"['`#]*{_NAME}"), re.compile(rf"\({_NAME}(?:\s[^\n]{{0,80}})?\)?"))


def hyphenated_name(text: str) -> TypedName | None:
    """Return the name that a whole text is, or that is called in it, as in ``(open-lock gate)``; None for any other."""
    for form in _FORMS:
        found = form.fullmatch(text.strip())
        if found is not None and "-" in found[1]:
            return TypedName(found[1])
    return None
