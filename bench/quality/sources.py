"""The sources of a Python library, parsed, and what a docstring says first."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_NOT_READ: Final = frozenset({"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "__pycache__"})
_SENTENCE: Final = re.compile(r"\s*(.+?)(?:\.\s|\.?\Z|\n\s*\n)", re.DOTALL)
_LEAST_WORDS: Final = 5


def modules(library: Path) -> Iterator[tuple[Path, str, ast.Module]]:
    """The path of each module below ``library``, its source and what it parses to; tests and the like are left out."""
    for file in sorted(library.rglob("*.py")):
        relative = file.relative_to(library)
        if _NOT_READ.isdisjoint(relative.parts):
            source = file.read_text(encoding="utf-8", errors="replace")
            with suppress(SyntaxError):  # the library holds files that are wrong on purpose
                yield relative, source, ast.parse(source)


def first_sentence(docstring: str) -> tuple[str | None, str]:
    """The first sentence and the text after it; None and the whole where it says too little to ask by."""
    found = _SENTENCE.match(docstring)
    words = found[1].split() if found is not None else []
    if found is None or len(words) < _LEAST_WORDS:
        return None, docstring
    return " ".join(words), docstring[found.end(1) :].removeprefix(".").lstrip()
