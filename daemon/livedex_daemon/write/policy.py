"""The settings by which files are read and cut, as one value.

Invariant: it never changes; a new configuration makes another.
"""

from __future__ import annotations

from typing import NamedTuple

from livedex_daemon.write.file_encodings import FileEncodings
from livedex_indexing.chunk.chunk_plan import ChunkSettings


class Policy(NamedTuple):
    """The settings for reading and chunking. Replaced as a whole when the configuration changes. Sizes are bytes."""

    chunking: ChunkSettings
    max_file_size: int
    yield_to_load: bool
    encodings: FileEncodings = FileEncodings()

    def settings_of(self, root: bytes, path: bytes) -> ChunkSettings:
        """Return the settings for one file, by its path relative to its root."""
        return self.encodings.settings(self.chunking, root, path)
