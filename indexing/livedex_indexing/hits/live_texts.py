"""The live text of chunks and of contents, for the checks that ranking makes.

Invariant: as for all live files: of a file that has changed there is no text.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from livedex_indexing.hits.live_files import COPY, FileCopy, LiveFiles, file_copy
from livedex_indexing.query.filters import OF_CONTENT, ResolvedFilters
from livedex_indexing.rank.phrase_filter import Bytes
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import read_contents
from livedex_indexing.text.decoder import decode_slice

_PLACES_OF: Final = """SELECT c.id, c.content_id, t.hash, t.encoding, c.start_byte, c.end_byte FROM chunks c
                       JOIN contents t ON t.id = c.content_id WHERE c.id IN (SELECT value FROM json_each(?))"""
_COPIES_OF: Final = f"""SELECT d.content_id, {COPY} FROM {OF_CONTENT}
                        WHERE d.content_id IN (SELECT value FROM json_each(?)) AND {{}} ORDER BY d.id"""
_COPIES: Final = f"""SELECT {COPY} FROM files d WHERE d.content_id = ? AND {{}}
                     ORDER BY length(d.folder) + length(d.name), d.id"""


class LiveTexts:
    """Reads what files have that pass the filters of a query."""

    def __init__(self, reader: Reader, live: LiveFiles, resolved: ResolvedFilters) -> None:
        self._reader, self._live, self._resolved = reader, live, resolved

    def of_chunks(self, ids: Collection[int]) -> dict[int, str]:
        """Return the live text of chunks; without those whose file has changed."""
        places = self._reader.rows_of(_PLACES_OF, ids)
        copies_of = self._copies_of({content_id for _, content_id, *_ in places})
        texts: dict[int, str] = {}
        for chunk_id, content_id, digest, encoding, start, end in places:
            found = self._live.part(content_id, digest, copies_of.get(content_id, []), start, end)
            if found is not None:
                part = found[1]
                texts[chunk_id] = decode_slice(part.data, encoding, start - part.start, end - part.start)
        return texts

    def bytes_of(self, content_id: int) -> Bytes | None:
        """Return the live bytes of a content; None if all of its files have changed."""
        row = read_contents(self._reader, (content_id,))[content_id]
        sql, values = self._resolved.files
        copies = [file_copy(values) for values in self._reader.rows(_COPIES.format(sql), (content_id, *values))]
        found = self._live.read(content_id, row.hash, copies)
        return None if found is None else Bytes(found[1], row.encoding)

    def _copies_of(self, contents: Collection[int]) -> dict[int, list[FileCopy]]:
        """Return the files with each content, in the order in which they are to be read."""
        sql, values = self._resolved.files
        copies_of: dict[int, list[FileCopy]] = {}
        for content_id, *row in self._reader.rows_of(_COPIES_OF.format(sql), contents, values):
            copies_of.setdefault(content_id, []).append(file_copy(row))
        return copies_of
