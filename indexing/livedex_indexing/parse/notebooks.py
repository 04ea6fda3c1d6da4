"""Notebooks to Markdown: the text of their cells, code in fences of its language, and the text that code put out.

Invariant: a notebook whose cells cannot be found is an error, never an empty text; no output is longer than
``MOST_OUTPUT``. Runs in the child only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

MOST_OUTPUT: Final = 8192  # characters of the outputs of one cell
_COLOURS: Final = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
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
    text = _text(cell.get("source", cell.get("input", "")))
    if kind == "code":
        code = _fenced(text, str(cell.get("language") or language))
        shown = "\n".join(each.rstrip("\n") for each in _outputs(cell) if each.strip())
        return f"{code}\n\n{_fenced(_cut(shown), '')}" if shown else code
    if kind == "raw":
        return _fenced(text, "")
    return f"{'#' * min(6, int(cell.get('level', 1)))} {text}" if kind == "heading" else text


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a cell's outputs: what was printed, results, tracebacks. Pictures and HTML have none."""
    for output in cell.get("outputs") or []:
        if output.get("output_type") in ("error", "pyerr"):
            text = "\n".join(output.get("traceback") or [f"{output.get('ename')}: {output.get('evalue')}"])
        else:
            made = output.get("data", output)  # those of before 2015 are directly in it
            text = _text(made.get("text/plain", output.get("text", "")))
        yield _COLOURS.sub("", text)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_OUTPUT else f"{text[:MOST_OUTPUT]}\n…"


def _text(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else "".join(lines)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCE.findall(text))])
    return f"{fence}{language}\n{text}\n{fence}"


def _language(metadata: Mapping[str, Any]) -> str:
    named = (metadata.get(place) or {} for place in ("language_info", "kernelspec"))
    found = [each.get(key) for each, key in zip(named, ("name", "language"), strict=True)]
    name = next((each for each in found if isinstance(each, str) and _LANGUAGE.fullmatch(each)), "python")
    return name.lower()
