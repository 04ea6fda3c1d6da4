"""The files behind an answer, read once each: no text of a file is served unless the file is as it was indexed.

Invariant: bytes given out are those whose hash the content carries, or of a file whose size, times and inode are as
they were when that hash was taken.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from livedex_indexing import relpath
from livedex_indexing.disk import tree
from livedex_indexing.model import FileState
from livedex_indexing.store.file_rows import to_unsigned

HASH_BYTES: Final = 16
PART_FROM: Final = 32 << 10  # bytes: from a larger file only the part around a chunk is read
MARGIN: Final = 4 << 10  # bytes before and after the chunk: the line it begins in, and lines of context
_KEPT_BYTES: Final = 16 << 20  # of files, cached until the answer is built
_KEPT_PARTS: Final = 64
_TRIED: Final = 3  # copies of one content to try, in case the first has changed


class Stale(dict[tuple[int, bytes], bool]):
    """The files found changed, to be inspected again: (root id, path) to whether the file still contains the indexed
    bytes (a log that grew, or a file that was only touched). ``unreadable``: those that could not be read: the errno.
    """

    def __init__(self) -> None:
        super().__init__()
        self.unreadable: dict[tuple[int, bytes], int] = {}

    def merge(self, other: Stale) -> None:
        self.update(other)
        self.unreadable |= other.unreadable


COPY = "d.id, d.root_id, d.folder, d.name, d.size, d.mtime_ns, d.ctime_ns, d.ino, d.settled"


class FileCopy(NamedTuple):
    """One file with a given content. ``path`` is relative to its root."""

    file_id: int
    root_id: int
    path: bytes
    state: FileState
    settled: bool


def file_copy(values: Sequence[Any]) -> FileCopy:
    """Make the copy of a row selected as ``COPY``."""
    file_id, root_id, folder, name, size, mtime, ctime, ino, settled = values
    path = relpath.join(folder, name)
    return FileCopy(file_id, root_id, path, FileState(size, mtime, ctime, to_unsigned(ino)), settled == 1)


class Part(NamedTuple):
    """Some bytes of a file of ``size`` bytes, from ``start`` on."""

    data: bytes
    start: int
    size: int


class LiveFiles:
    """Reads files for one answer. ``stale`` collects the files found changed or unreadable."""

    def __init__(self, roots: Mapping[int, bytes]) -> None:
        self.stale = Stale()
        self.roots = roots
        self._kept: OrderedDict[int, tuple[FileCopy, bytes] | None] = OrderedDict()
        self._parts: dict[
            tuple[int, int, int, int], Part
        ] = {}  # by content, file, start and end: a name's are hits, too

    def read(self, content_id: int, content_hash: bytes, copies: Sequence[FileCopy]) -> tuple[FileCopy, bytes] | None:
        """Return the bytes of a content and their source, the first of ``copies`` that still has them; None if none
        of the first few has."""
        kept = self._kept.get(content_id)
        # An earlier reader may have preferred another copy: the hit names the one that was read.
        if content_id not in self._kept or (kept is not None and copies and kept[0].file_id != copies[0].file_id):
            self._keep(content_id, self._first_of(content_hash, copies))
        return self._kept[content_id]

    def part(
        self, content_id: int, content_hash: bytes, copies: Sequence[FileCopy], start: int, end: int
    ) -> tuple[FileCopy, Part] | None:
        """Like ``read``, for at least the bytes from ``start`` to ``end``."""
        first = copies[0] if copies else None
        if content_id not in self._kept and first is not None and first.settled and first.state.size > PART_FROM:
            key = (content_id, first.file_id, start, end)
            part = self._parts.get(key) or self._read_part(first, start, end)
            if part is not None:
                if len(self._parts) < _KEPT_PARTS:
                    self._parts[key] = part
                return first, part
        found = self.read(content_id, content_hash, copies)
        return None if found is None else (found[0], Part(found[1], 0, len(found[1])))

    def _read_part(self, copy: FileCopy, start: int, end: int) -> Part | None:
        low, high = max(0, start - MARGIN), min(copy.state.size, end + MARGIN)
        data = tree.read_if_unchanged(self.roots[copy.root_id], copy.path, copy.state, (low, high))
        return None if data is None else Part(data, low, copy.state.size)

    def _first_of(self, content_hash: bytes, copies: Sequence[FileCopy]) -> tuple[FileCopy, bytes] | None:
        for copy in copies[:_TRIED]:
            data = self.read_one(copy, content_hash)
            if data is not None:
                return copy, data
        return None

    def read_one(self, copy: FileCopy, content_hash: bytes) -> bytes | None:
        """Read a content from one copy; None if the copy has other bytes now."""
        root, key = self.roots[copy.root_id], (copy.root_id, copy.path)
        data = tree.read_if_unchanged(root, copy.path, copy.state)
        if data is not None and copy.settled:
            return data
        changed = data is None
        if data is None:
            try:
                # A touched file still has the same bytes, and a file that grew begins with them.
                data = tree.read_head(root, copy.path, copy.state.size).data
            except tree.TreeError as fault:
                data = b""
                if isinstance(fault, tree.Denied | tree.ReadFailed):
                    self.stale.unreadable[key] = fault.errno
        matches = (
            len(data) == copy.state.size and hashlib.blake2b(data, digest_size=HASH_BYTES).digest() == content_hash
        )
        if changed or not matches:
            self.stale[key] = self.stale.get(key, True) and matches
        return data if matches else None

    def _keep(self, content_id: int, found: tuple[FileCopy, bytes] | None) -> None:
        self._kept[content_id] = found
        kept_bytes = sum(len(entry[1]) for entry in self._kept.values() if entry is not None)
        while kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            kept_bytes -= len(dropped[1]) if dropped is not None else 0
