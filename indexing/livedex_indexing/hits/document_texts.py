"""The converted text of documents, as one reader of the index sees it.

Invariant: it only reads. Whoever serves a text checks first that the document's file is as it was converted.
"""

from __future__ import annotations

import json
import zlib

from livedex_indexing.model import DocumentText
from livedex_indexing.store.read_pool import Reader

_ANY = "SELECT EXISTS (SELECT 1 FROM documents)"
_DOCUMENT = "SELECT d.text, t.pages FROM documents d JOIN contents t ON t.id = d.content_id WHERE d.content_id = ?"
_TEXT = "SELECT text FROM documents WHERE content_id = ?"


def document_text(reader: Reader, content_id: int | None, parser: str) -> DocumentText | None:
    """Return the stored conversion of a content; None if it is gone or makes no sense."""
    found = reader.rows(_DOCUMENT, (content_id,))
    try:
        return DocumentText(parser, zlib.decompress(found[0][0]), json.loads(found[0][1] or "[]")) if found else None
    except (zlib.error, ValueError):
        return None


class DocumentTexts:
    """Call it with the id of a content: its text in UTF-8, None if it is no document. Keeps the last one."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._has_any: bool | None = None
        self._kept: tuple[int, bytes | None] = (0, None)

    def __call__(self, content_id: int) -> bytes | None:
        if self._kept[0] == content_id:
            return self._kept[1]
        with self._reader.without_deadline():
            if self._has_any is None:
                self._has_any = bool(self._reader.one(_ANY))
            found = self._reader.rows(_TEXT, (content_id,)) if self._has_any else []
        self._kept = (content_id, zlib.decompress(found[0][0]) if found else None)
        return self._kept[1]
