"""An index for a program that uses the library without the daemon: index folders, search, list, retrieve.

Invariant: a file is stored with the one state in which it was read, and no text is served of a file that changed since.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from livedex_indexing import relpath
from livedex_indexing.chunk.chunk_plan import HEAD_BYTES, ChunkSettings, choose
from livedex_indexing.chunk.chunker import chunk_content
from livedex_indexing.disk import tree
from livedex_indexing.disk.settled import is_settled
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import FileRow, FileState, Stat
from livedex_indexing.query.scope import places
from livedex_indexing.search import listing
from livedex_indexing.search.listing import FileChunks, FileList, ListRequest
from livedex_indexing.search.search_answer import SearchAnswer
from livedex_indexing.search.search_request import SearchRequest
from livedex_indexing.search.searcher import Searcher
from livedex_indexing.store.index_store import Store
from livedex_indexing.store.read_pool import ReadPool
from livedex_indexing.text.decoder import is_binary

MAX_FILE_SIZE: Final = 8 << 20  # bytes: larger files are skipped
_HASH_BYTES: Final = 16
_BATCH: Final = 500  # files per transaction

Path = str | bytes | os.PathLike[str]


class AddedFiles(NamedTuple):
    """The result of ``Index.add``: files read, files that were up to date, and files removed from the index."""

    read: int
    unchanged: int
    removed: int


class Index:
    """One index file, opened for reading and writing. Close it, or use it in a ``with`` block.

    Searches may run in several threads; ``add`` and ``close`` belong to one. A program must not open the index file
    of a running daemon.
    """

    def __init__(self, path: Path) -> None:
        """Open the index at ``path``, or create it. Raises IndexNewer, IndexDamaged or IndexUnwritable."""
        self._store = Store.open(os.fsdecode(path))
        self._readers = ReadPool(os.fsdecode(path))
        self._searcher = Searcher(self._readers)
        self._settings = ChunkSettings()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._readers.close()
        self._store.close()

    @property
    def roots(self) -> dict[int, bytes]:
        """Return the real paths of the folders that were added, by id."""
        return {root.id: root.path for root in self._store.roots()}

    def add(self, folder: Path, *, ignore: Sequence[str] = ()) -> AddedFiles:
        """Index a folder and all below it, or bring it up to date.

        Ignore files apply as in the daemon; ``ignore`` are gitignore patterns that rank above them. Files that are
        binary or larger than ``MAX_FILE_SIZE`` are listed as skipped, files that cannot be read as failed. Raises
        NotADirectoryError if ``folder`` is not a folder.
        """
        root = os.path.realpath(os.fsencode(folder))
        if not os.path.isdir(root):
            raise NotADirectoryError(os.fsdecode(root))
        found = os.stat(root)
        root_id = self._store.put_root(root, found.st_dev, found.st_ino)
        known = self._store.all_states(root_id, 1 << 62) or {}
        old = {relpath.join(above, name): states for above, names in known.items() for name, states in names.items()}
        new = dict(_walk(root, RuleTree(root, ignore)))
        changed = [path for path, stat in new.items() if old.get(path) != (*stat.state, 1)]
        gone = [path for path in old if path not in new]
        for start in range(0, len(changed), _BATCH):
            with self._store.transaction():
                self._store.put_files([self._row(root_id, root, path) for path in changed[start : start + _BATCH]])
        with self._store.transaction():
            self._store.remove_files(root_id, gone)
        return AddedFiles(len(changed), len(new) - len(changed), len(gone))

    def search(self, query: str | SearchRequest, *, path: Path | None = None, **fields: Any) -> SearchAnswer:
        """Search for words, phrases and terms, or with ``mode`` ``exact`` or ``regex`` for lines.

        ``fields`` are those of ``SearchRequest``; ``path`` limits the search to a file or folder. Raises OutsideRoots
        for a path in no folder that was added, InvalidParams for a glob or pattern that cannot be read.
        """
        roots = self.roots
        request = query
        if isinstance(request, str):
            inside = None if path is None else tuple(places(_absolute(path), roots))
            request = SearchRequest(request, places=inside, **fields)
        return self._searcher.search(request, roots)

    def files(self, path: Path | None = None, **fields: Any) -> FileList:
        """List files by path: those at or below ``path``, or all. ``fields`` are those of ``ListRequest``.

        Raises OutsideRoots for a path in no folder that was added, InvalidParams for a glob that cannot be read.
        """
        roots = self.roots
        inside = None if path is None else tuple(places(_absolute(path), roots))
        with self._readers.connection() as reader:
            return listing.list_files(reader, ListRequest(places=inside, **fields), roots)

    def retrieve(self, path: Path, *, start_line: int = 1, end_line: int | None = None) -> FileChunks | None:
        """Return the chunks of one file that touch these lines (1-based, inclusive; ``end_line`` None: to the end).

        Return None if the file has changed since it was indexed. Raises OutsideRoots, and NotFound for a file that is
        not indexed.
        """
        roots = self.roots
        place = places(_absolute(path), roots)[0]
        with self._readers.connection() as reader:
            return listing.retrieve(reader, place, roots, start_line=start_line, end_line=end_line)[0]

    def _row(self, root_id: int, root: bytes, path: bytes) -> FileRow:
        """Read a file and store its content. Must run inside a transaction."""
        since = time.time()
        try:
            data, stat = tree.read_file(root, path, MAX_FILE_SIZE)
        except tree.TooLarge as fault:
            return _bare(root_id, path, fault.stat, "too_large", since)
        except tree.TreeError as fault:
            state, why = FileState(0, 0, 0, 0), f"read: {fault}"
            return FileRow(root_id, path, state, "failed", why, None, None, None, None, since, settled=False)
        if is_binary(data[:HEAD_BYTES]):
            return _bare(root_id, path, stat, "binary", since)
        name = path.rpartition(b"/")[2]
        plan = choose(name, data[:HEAD_BYTES], self._settings)
        digest = hashlib.blake2b(data, digest_size=_HASH_BYTES).digest()
        content_id = self._store.find_content(digest, plan.signature)
        if content_id is None:
            content = chunk_content(data, name, self._settings)
            content_id = self._store.add_content(digest, plan.signature, len(data), content)
        now = time.time()
        settled = is_settled(stat, now, since)
        return FileRow(
            root_id, path, stat.state, "indexed", None, content_id, digest, plan.signature, plan.language, now, settled
        )


def _walk(root: bytes, rules: RuleTree) -> Iterator[tuple[bytes, Stat]]:
    """Yield the regular files that the rules admit, with their state. Do not follow links."""
    left = [b""]
    while left:
        above = left.pop()
        try:
            entries = dict(tree.scan(root, above))
        except tree.TreeError:
            continue
        decide = rules.rules(above, entries).decide
        for name, stat in entries.items():
            if decide(name, stat.kind == "folder") is not None:
                continue
            if stat.kind == "folder":
                left.append(relpath.join(above, name))
            elif stat.kind == "file":
                yield relpath.join(above, name), stat


def _bare(root_id: int, path: bytes, stat: Stat, reason: str, since: float) -> FileRow:
    now = time.time()
    settled = is_settled(stat, now, since)
    return FileRow(root_id, path, stat.state, "skipped", reason, None, None, None, None, now, settled)


def _absolute(path: Path) -> bytes:
    return os.path.abspath(os.fsencode(path))
