"""Notebooks to Markdown: the text of their cells, code in fences of its language. Outputs are left out.

Invariant: a notebook whose cells cannot be found is an error, never an empty text. Runs in the child only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]+")


def notebook_text(text: str) -> str:
    """Return a notebook as Markdown. Raises ValueError, TypeError or AttributeError if it is none."""
    notebook = json.loads(text)
    language = _language(notebook.get("metadata") or {})
    cells = notebook.get("cells")
    if cells is None:  # those of before 2015
        cells = [cell for sheet in notebook["worksheets"] for cell in sheet["cells"]]
    return "\n\n".join(_cell(cell, language) for cell in cells)


def _cell(cell: Mapping[str, Any], language: str) -> str:
    kind = cell.get("cell_type")
    source = cell.get("source", cell.get("input", ""))
    text = source if isinstance(source, str) else "".join(source)
    if kind == "code":
        return _fenced(text, str(cell.get("language") or language))
    if kind == "raw":
        return _fenced(text, "")
    return f"{'#' * min(6, int(cell.get('level', 1)))} {text}" if kind == "heading" else text


def _fenced(text: str, language: str) -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    return f"{fence}{language}\n{text}\n{fence}"


def _language(metadata: Mapping[str, Any]) -> str:
    named = (metadata.get(place) or {} for place in ("language_info", "kernelspec"))
    found = [each.get(key) for each, key in zip(named, ("name", "language"), strict=True)]
    name = next((each for each in found if isinstance(each, str) and _LANGUAGE.fullmatch(each)), "python")
    return name.lower()
