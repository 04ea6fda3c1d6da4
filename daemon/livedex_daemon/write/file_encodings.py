"""The encodings that the configuration names, of a root or of files that match a glob.

Invariant: equal configurations give equal objects, so that a change of one is seen. An encoding is that of text which
is neither UTF-8 nor marked; where it does not decode, livedex finds out the encoding as without it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.globs import GlobFilter


class FileEncodings(NamedTuple):
    """``by_root``: a root's path and its encoding; ``by_glob``: globs as ripgrep's ``-g``, relative to each root, and
    the encoding of what they match: the last that matches ranks above the root's."""

    by_root: tuple[tuple[bytes, str], ...] = ()
    by_glob: tuple[tuple[str, str], ...] = ()

    def of(self, root: bytes, path: bytes) -> str:
        """Return the encoding of a file, by its path relative to its root; "" if none is named for it."""
        for glob, encoding in reversed(self.by_glob):
            if _filter(glob).admits(path):
                return encoding
        return next((encoding for known, encoding in self.by_root if known == root), "")

    def settings(self, chunking: ChunkSettings, root: bytes, path: bytes) -> ChunkSettings:
        """Return the settings for one file."""
        if not chunking.encodings:
            return chunking
        return msgspec.structs.replace(chunking, encodings=(), encoding=self.of(root, path))

    def as_settings(self) -> tuple[tuple[str, str], ...]:
        """Return what `ChunkSettings` remembers of all rules."""
        return (*((f"root {root.hex()}", encoding) for root, encoding in self.by_root), *self.by_glob)


@lru_cache(maxsize=256)
def _filter(glob: str) -> GlobFilter:
    return GlobFilter([glob])
