"""The files behind an answer, read once each: no text of a file is served unless the file is as it was indexed.

Invariant: bytes given out are those whose hash the content carries, or of a file whose size, times and inode are as
they were when that hash was taken.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
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
    """Reads files for one answer. ``stale`` collects the files found changed or unreadable.

    Of a document, the bytes given out are those of its converted text, as long as the file is as it was converted.
    """

    def __init__(self, roots: Mapping[int, bytes], texts: Callable[[int], bytes | None] = lambda _: None) -> None:
        """``texts`` returns the converted text of a content; None if it is no document."""
        self._texts = texts
        self.stale = Stale()
        self.roots = roots
        self._kept: OrderedDict[int, tuple[FileCopy, bytes] | None] = OrderedDict()
        self._kept_bytes = 0
        self._parts: dict[
            tuple[int, int, int, int], Part
        ] = {}  # by content, file, start and end: a name's are hits, too

    def read(self, content_id: int, content_hash: bytes, copies: Sequence[FileCopy]) -> tuple[FileCopy, bytes] | None:
        """Return the bytes of a content and their source, the first of ``copies`` that still has them; None if none
        of the first few has."""
        kept = self._kept.get(content_id)
        # An earlier reader may have preferred another copy: the hit names the one that was read.
        if content_id not in self._kept or (kept is not None and copies and kept[0].file_id != copies[0].file_id):
            self._keep(content_id, self._first_of(content_id, content_hash, copies))
        return self._kept[content_id]

    def part(
        self, content_id: int, content_hash: bytes, copies: Sequence[FileCopy], start: int, end: int
    ) -> tuple[FileCopy, Part] | None:
        """Like ``read``, for at least the bytes from ``start`` to ``end``."""
        first = copies[0] if copies else None
        if content_id not in self._kept and first is not None and first.settled and first.state.size > PART_FROM:
            key = (content_id, first.file_id, start, end)
            part = self._parts.get(key) or self._read_part(content_id, first, start, end)
            if part is not None:
                if len(self._parts) < _KEPT_PARTS:
                    self._parts[key] = part
                return first, part
        found = self.read(content_id, content_hash, copies)
        return None if found is None else (found[0], Part(found[1], 0, len(found[1])))

    def _read_part(self, content_id: int, copy: FileCopy, start: int, end: int) -> Part | None:
        if self._texts(content_id) is not None:
            return None  # it is kept as a whole
        low, high = max(0, start - MARGIN), min(copy.state.size, end + MARGIN)
        data = tree.read_if_unchanged(self.roots[copy.root_id], copy.path, copy.state, (low, high))
        return None if data is None else Part(data, low, copy.state.size)

    def _first_of(
        self, content_id: int, content_hash: bytes, copies: Sequence[FileCopy]
    ) -> tuple[FileCopy, bytes] | None:
        for copy in copies[:_TRIED]:
            data = self.read_one(content_id, content_hash, copy)
            if data is not None:
                return copy, data
        return None

    def read_one(self, content_id: int, content_hash: bytes, copy: FileCopy) -> bytes | None:
        """Return what the places in a content count in, from one copy; None if the copy has other bytes now."""
        text = self._texts(content_id)
        if text is not None and copy.settled and self._is_in_state(copy):
            return text
        data = self._bytes_of(copy, content_hash)
        return data if text is None or data is None else text

    def _is_in_state(self, copy: FileCopy) -> bool:
        return tree.read_if_unchanged(self.roots[copy.root_id], copy.path, copy.state, (0, 0)) is not None

    def _bytes_of(self, copy: FileCopy, content_hash: bytes) -> bytes | None:
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
        self._kept_bytes += _size(found) - _size(self._kept.get(content_id))
        self._kept[content_id] = found
        while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            self._kept_bytes -= _size(self._kept.popitem(last=False)[1])


def _size(kept: tuple[FileCopy, bytes] | None) -> int:
    return 0 if kept is None else len(kept[1])
