"""Builds the hits of a standing query: one file at a time, even if several files have the same content.

Invariant: as in a search, text is cut from the file after the check that it is still as it was indexed; a changed file
has no hits now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice

from livedex_indexing import relpath
from livedex_indexing.hits.document_texts import DocumentTexts
from livedex_indexing.hits.hit import Hit
from livedex_indexing.hits.hit_builder import HitMaker, Rows, Style
from livedex_indexing.hits.live_files import LiveFiles, Stale
from livedex_indexing.model import KINDS
from livedex_indexing.path_text import path_fields
from livedex_indexing.query.highlight import Highlighter, WrittenPhrase
from livedex_indexing.rank.placed import Placed
from livedex_indexing.search.standing_query import Found, StandingQuery
from livedex_indexing.store.read_pool import Reader
from livedex_indexing.store.row_types import ChunkRow
from livedex_ipc.wire_results import RemovedHit

_SCORE = 1.0  # a standing query only matches: no hit is better than another


def _never(_hit: Hit) -> bool:
    return False


class StandingHits:
    """Builds the hits of one query with one reader. ``stale`` collects the files found changed or unreadable."""

    def __init__(self, reader: Reader, query: StandingQuery, roots: Mapping[int, bytes], style: Style) -> None:
        compiled = query.compiled(reader)
        phrases = [WrittenPhrase(phrase.text, reader.words) for phrase in compiled.phrases]
        self._highlighter = Highlighter(compiled.terms, phrases, reader.stems, query.typed())
        self._roots = roots
        self._texts = DocumentTexts(reader)
        self._style = style
        self.stale = Stale()

    def of(self, found: Found, skipped: int = 0, is_enough: Callable[[Hit], bool] = _never) -> list[Hit] | None:
        """Return the hits of one file, in file order; None if it is not as it was indexed.

        ``skipped``: without the first ones; ``is_enough`` is called with each hit, and none follows the one for which
        it is true.
        """
        live = LiveFiles(self._roots, self._texts)
        content = found.content
        chunks: dict[int, ChunkRow] = {chunk.id: chunk for chunk in found.chunks}
        rows = Rows({content.id: content}, chunks, {}, {content.id: [found.copy]}, {content.id: found.matches})
        maker = HitMaker(rows, self._roots, live, self._highlighter, self._style)
        hits: list[Hit] = []
        is_whole = True
        for chunk_id in islice(chunks, skipped, None):
            hit = maker.make(Placed(content.id, found.copy.file_id, chunk_id, _SCORE, ()))
            if hit is None:
                is_whole = False
                break
            hits.append(hit)
            if is_enough(hit):
                break
        self.stale.merge(live.stale)
        return hits if is_whole else None


def removed_hit(root: bytes, path: bytes, content_hash: bytes, kind: int, start_line: int, end_line: int) -> RemovedHit:
    """Return the notice of a removed hit. ``path`` is relative to ``root``, ``kind`` an index into ``KINDS``."""
    whole = relpath.absolute(root, path)
    return {
        **path_fields(whole),
        "root": path_fields(root)["path"],
        "relative_path": path_fields(path)["path"],
        "kind": KINDS[kind],
        "start_line": start_line,
        "end_line": end_line,
        "content_hash": content_hash.hex(),
    }
