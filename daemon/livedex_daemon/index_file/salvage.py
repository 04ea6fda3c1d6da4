"""Answer searches from the remains of a damaged index while a new one is built.

Invariant: it serves a hit only if the roots, the rules and the marks of forgotten files admit its file now, and, as
always, only after checking that the file is the one that was indexed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

import apsw

from livedex_daemon.index_file.index_readers import ReadHandle
from livedex_daemon.watch.root_table import Root, Roots
from livedex_indexing.disk.tree_errors import ReadFailed
from livedex_indexing.hits.hit import Hit
from livedex_indexing.search.path_finder import PathFinder
from livedex_indexing.search.search_answer import SearchAnswer
from livedex_indexing.search.searcher import Searcher
from livedex_indexing.store.database import IndexDamaged, IndexUnwritable, translated
from livedex_indexing.store.forgotten_files import ForgottenFiles
from livedex_indexing.store.read_pool import PoolClosed, ReadPool

log = logging.getLogger(__name__)


class Salvage:
    """``handle`` is None while there are no remains to read. Call from any thread."""

    def __init__(self, roots: Roots, forgotten: ForgottenFiles) -> None:
        self.handle: ReadHandle | None = None
        self._roots = roots
        self._forgotten = forgotten

    def open(self, path: str) -> None:
        """Open the remains. ``path``: the present path of the damaged file."""
        self.close()
        readers = ReadPool(path)
        self.handle = ReadHandle(readers, Searcher(readers), PathFinder())

    def close(self) -> None:
        handle, self.handle = self.handle, None
        if handle is not None:
            handle.readers.close()

    def search(self, search: Callable[[ReadHandle], SearchAnswer]) -> SearchAnswer | None:
        """Return the answer of ``search`` from the remains; None without hits, or when the damage prevents reading."""
        handle = self.handle
        if handle is None:
            return None
        try:
            with translated(handle.readers.path):
                answer = search(handle)
        except (IndexDamaged, IndexUnwritable, PoolClosed, apsw.Error) as error:
            log.info("remains_unreadable", extra={"error": type(error).__name__})
            self.close()
            return None
        hits = [hit for hit in answer.hits if self._admits(hit)]
        return answer._replace(hits=hits) if hits else None

    def _admits(self, hit: Hit) -> bool:
        found = self._roots.locate(hit.path_bytes)
        if found is None:
            return False
        root, relative = found
        try:
            return self._is_served(root, relative)
        except ReadFailed:
            return False  # a rule may exclude it

    def _is_served(self, root: Root, relative: bytes) -> bool:
        return root.rules.explain(relative, False) is None and not self._forgotten.has_path(root.path, relative)
