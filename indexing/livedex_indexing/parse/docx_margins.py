"""The text above and below the pages of a DOCX, which markitdown leaves out.

Invariant: each line once, however many sections, and first or even pages, repeat it. Runs in the child only.
"""

from __future__ import annotations

import io
import re
import zipfile
from importlib import import_module
from typing import Any, Final

_PART: Final = re.compile(r"word/(?:header|footer)\d*\.xml")
_WORD: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BLANKS: Final = (f"{_WORD}tab", f"{_WORD}br")


def with_margins(text: str, data: bytes) -> str:
    """Return a document's text with its headers and footers behind it. Raises what zipfile and lxml raise."""
    lines: dict[str, None] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in sorted(filter(_PART.fullmatch, archive.namelist())):
            lines.update(dict.fromkeys(_lines(archive.read(name))))
    return "\n\n".join([text, *lines]) if lines else text


def _lines(part: bytes) -> list[str]:
    etree: Any = import_module("lxml.etree")
    root = etree.fromstring(part, etree.XMLParser(resolve_entities=False))
    texts = ("".join(map(_piece, paragraph.iter())) for paragraph in root.iter(f"{_WORD}p"))
    return [line for text in texts if (line := " ".join(text.split()))]


def _piece(element: Any) -> str:
    if element.tag in _BLANKS:
        return " "
    return element.text or "" if element.tag == f"{_WORD}t" else ""
