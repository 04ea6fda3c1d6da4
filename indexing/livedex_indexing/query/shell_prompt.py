"""Takes the prompt of a shell off a command that was copied with it.

Invariant: pure; what is left is the end of the text.
"""

from __future__ import annotations

import re
from typing import Final

_USER: Final = r"(?:\([\w.-]+\) ?)?\[?[\w.-]+@[\w.-]+(?:[ :][^\s$#%>]+)? ?\]? ?[$#%>]"
# $    user@host:~/lamp$    [root@host lamp]#    (venv) user@host:~$    PS C:\lamp>    C:\lamp>    In [3]:
_PROMPT: Final = re.compile(rf"(?:[$%]\s|{_USER}|(?:PS )?[A-Za-z]:\\[^\s>]*>|In \[\d+\]:)\s*(?=\S)")


def without_prompt(text: str) -> str:
    """Return the command behind a prompt, any other text as it is: ``#`` and ``>`` alone also begin headings and
    quotations."""
    found = _PROMPT.match(text.lstrip())
    return text if found is None else text.lstrip()[found.end() :]
