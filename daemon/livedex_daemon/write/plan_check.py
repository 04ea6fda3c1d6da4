"""Tell from a row of the index alone whether the file must be chunked again: for another plan, or by other code.

Invariant: it reads no file, and its answer depends only on the row, the settings and the running code.
"""

from __future__ import annotations

from collections.abc import Callable

from livedex_indexing.child.code_version import failure_signature
from livedex_indexing.chunk import chunk_plan
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.model import FileRow


class PlanCheck:
    """Tell from a row alone whether its content is chunked as the settings ask; remember the answer by suffix.

    ``settings_of`` returns the settings for the file of a row.
    """

    def __init__(self, settings_of: Callable[[FileRow], ChunkSettings]) -> None:
        self._settings_of = settings_of
        self._possible: dict[tuple[bytes, str], frozenset[bytes]] = {}

    def __call__(self, row: FileRow) -> bool:
        if row.status == "skipped":
            return not chunk_plan.suffix_of(
                row.path.rpartition(b"/")[2], self._settings_of(row)
            )  # no document had a parser
        return row.signature in self._signatures(row)

    def is_outdated(self, row: FileRow) -> bool:
        """Return True when a file failed under another plan, or in another version of livedex: it may not fail now."""
        if row.content_hash is None:
            return False  # it was not read, so no plan failed
        return row.signature not in {failure_signature(signature) for signature in self._signatures(row)}

    def _signatures(self, row: FileRow) -> frozenset[bytes]:
        name, settings = row.path.rpartition(b"/")[2], self._settings_of(row)
        stem, dot, suffix = name.rpartition(b".")
        kind = dot + suffix if stem and b"." not in stem else name
        possible = self._possible.get((kind, settings.encoding))
        if possible is None:
            possible = self._possible[kind, settings.encoding] = chunk_plan.possible(name, settings)
        return possible
