"""Keep the readers of the index and the searcher over them as one pair.

Invariant: a searcher's caches belong to the file that its readers read; when the file is replaced, so are both.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple

import apsw

from livedex_indexing.model import Counts
from livedex_indexing.search.meaning import Semantics
from livedex_indexing.search.path_finder import PathFinder
from livedex_indexing.search.searcher import Searcher
from livedex_indexing.store import counts
from livedex_indexing.store.read_pool import ReadPool
from livedex_ipc.errors import Unavailable


class ReadHandle(NamedTuple):
    """The reading side of one index file."""

    readers: ReadPool
    searcher: Searcher
    paths: PathFinder


class IndexReaders:
    """Call from any thread; a call that begins with one handle ends with it."""

    def __init__(self, path: str, wake: threading.Event) -> None:
        """``wake``: wakes the worker, which checks the reported file."""
        self._path = path
        self._wake = wake
        self._reported: tuple[ReadHandle, Exception] | None = None
        self.semantics: Semantics | None = None  # the vectors that searches of the current file use
        self.current = self._open()

    def _open(self) -> ReadHandle:
        readers = ReadPool(self._path)
        return ReadHandle(readers, Searcher(readers), PathFinder())

    def renew(self) -> None:
        """Read the new file from now on: the former one was replaced."""
        former, self.current = self.current, self._open()
        former.readers.close()

    def report(self, handle: ReadHandle, error: Exception) -> None:
        """Have the worker check the index file, because reading by ``handle`` failed with ``error``."""
        if handle is not self.current:  # else it would take the place of a report about the present file
            return
        self._reported = handle, error
        self._wake.set()

    def take_report(self) -> Exception | None:
        """Return the last reported error, once; None without one, or when its file was replaced in the meantime."""
        reported, self._reported = self._reported, None
        return reported[1] if reported is not None and reported[0] is self.current else None

    def has_content(self, content_hash: bytes, signature: bytes) -> bool:
        """Return whether the index has the content; False also when the read fails: chunking again is always safe."""
        try:
            return counts.has_content(self.current.readers, content_hash, signature)
        except (Unavailable, apsw.Error):
            return False

    def counts(self) -> Counts:
        return counts.counts(self.current.readers)

    def pending_among(self, keys: Iterable[tuple[int, bytes]]) -> set[tuple[int, bytes]]:
        return counts.pending_among(self.current.readers, keys)

    def chunks_of(self, root_ids: Iterable[int]) -> int:
        return counts.chunks_of(self.current.readers, root_ids)

    def release_memory(self) -> None:
        self.current.readers.release_memory()
        self.current.searcher.release_memory()
        self.current.paths.release_memory()

    def close(self) -> None:
        self.current.readers.close()
