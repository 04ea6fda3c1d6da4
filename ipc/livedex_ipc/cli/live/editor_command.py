"""The command that opens a file at a line in the user's editor.

Invariant: the path is one word of the command, whatever it contains, and never an option: it is absolute.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_WITH_COLUMN = frozenset(("hx", "helix", "subl", "zed", "micro"))  # PATH:LINE:COLUMN
_WITH_GOTO = frozenset(("code", "code-insiders", "codium", "vscodium", "cursor"))  # --goto PATH:LINE:COLUMN


def column_in(text: str, column: int) -> int:
    """Return a column as editors count: in characters of the line ``text``. The daemon's ``column`` counts bytes.

    Of a very long line ``text`` is a part: of what lies behind that, each byte counts.
    """
    before = text.encode("utf-8", "replace")[: column - 1]
    return column - len(before) + len(before.decode("utf-8", "replace"))


def editor_command(environ: Mapping[str, str], path: str, line: int, column: int) -> list[str]:
    """Return the words of the command. ``column``: of characters, from 1. Raises ValueError if there is no command."""
    import shlex

    setting = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    words = shlex.split(setting)
    if not words:
        raise ValueError(f"{setting!r} is no command: set VISUAL or EDITOR")
    name = os.path.basename(words[0])
    if name in _WITH_GOTO:
        return [*words, "--goto", f"{path}:{line}:{column}"]
    if name in _WITH_COLUMN:
        return [*words, f"{path}:{line}:{column}"]
    if name == "nano":
        return [*words, f"+{line},{column}", path]
    if name.startswith("emacs"):
        return [*words, f"+{line}:{column}", path]
    return [*words, f"+{line}", path]
