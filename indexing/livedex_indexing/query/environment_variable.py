"""Recognises a variable of the environment as programs read it: ``process.env.HOME``, ``os.getenv("HOME")``.

Invariant: pure; what is found is a part of the typed text.
"""

from __future__ import annotations

import re
from typing import Final

_READ: Final = re.compile(
    r"(?:(?:process|import\.meta)\.env\.|\$env:|"
    r"(?:os\.environ(?:\.get)?|(?:os\.|System\.)?getenv|os\.(?:Getenv|LookupEnv)|(?:std::)?env::var|ENV(?:\.fetch)?|"
    r"process\.env)[\[(][\"'])([A-Z][A-Z\d_]+)(?:[\"'][\])])?;?"
)


def variable_read(text: str) -> str:
    """Return the variable of the environment that a text reads; empty for any other text."""
    found = _READ.fullmatch(text.strip())
    return "" if found is None else found[1]
