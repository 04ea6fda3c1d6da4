"""Tell from a row of the index alone whether the file must be chunked again: for another plan, or by other code.

Invariant: it reads no file, and its answer depends only on the row, the settings and the running code.
"""

from __future__ import annotations

from livedex_indexing.child.code_version import failure_signature
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import FileRow


class PlanCheck:
    """Tell from a row alone whether its content is chunked as the settings ask; remember the answer by suffix."""

    def __init__(self, settings: ChunkSettings) -> None:
        self._settings = settings
        self._possible: dict[bytes, frozenset[bytes]] = {}

    def __call__(self, row: FileRow) -> bool:
        if row.status == "skipped":
            return not chunk_plan.suffix_of(row.path.rpartition(b"/")[2], self._settings)  # no document had a parser
        return row.signature in self._signatures(row.path)

    def is_outdated(self, row: FileRow) -> bool:
        """Return True when a file failed under another plan, or in another version of livedex: it may not fail now."""
        if row.content_hash is None:
            return False  # it was not read, so no plan failed
        return row.signature not in {failure_signature(signature) for signature in self._signatures(row.path)}

    def _signatures(self, path: bytes) -> frozenset[bytes]:
        name = path.rpartition(b"/")[2]
        stem, dot, suffix = name.rpartition(b".")
        kind = dot + suffix if stem and b"." not in stem else name
        possible = self._possible.get(kind)
        if possible is None:
            possible = self._possible[kind] = chunk_plan.possible(name, self._settings)
        return possible
