"""A store with one root on a clock of the test, and short ways to fill it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from helpers.clock import Clock
from helpers.indexed_folder import SIGNATURE, chunked
from livedex_indexing.model import FileRow, FileState
from livedex_indexing.store.index_store import Store

STATE = FileState(5, 1_700_000_000_000_000_000, 1_700_000_000_000_000_001, 7)


class Rig:
    """A store with one root, and short ways to fill it."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self.clock = Clock(1_000_000.0)
        self.store = Store.open(self.path, now=self.clock)
        self.root = self.store.put_root(b"/r", 1, 2)

    def content(self, text: str) -> int:
        data = text.encode()
        digest = hashlib.blake2b(data, digest_size=16).digest()
        found = self.store.find_content(digest, SIGNATURE)
        return self.store.add_content(digest, SIGNATURE, len(data), chunked(data)) if found is None else found

    def row(self, path: bytes, text: str) -> FileRow:
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        return FileRow(
            self.root, path, STATE, "indexed", None, self.content(text), digest, SIGNATURE, None, 5.0, settled=True
        )

    def put(self, path: bytes, text: str) -> int:
        with self.store.transaction():
            row = self.row(path, text)
            self.store.put_files([row])
        assert row.content_id is not None
        return row.content_id

    def put_pending(self, path: bytes) -> None:
        """Put the row of a file that is still to be read."""
        row = FileRow(self.root, path, STATE, "pending", None, None, None, None, None, 5.0, settled=False)
        self.store.put_files([row])

    def raw(self) -> bytes:
        return b"".join(file.read_bytes() for file in Path(self.path).parent.iterdir() if file.suffix != ".copy")


class Opened:
    """Yield a store for the length of a ``with``."""

    def __init__(self, path: str) -> None:
        self.store = Store.open(path)

    def __enter__(self) -> Store:
        return self.store

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def close(self) -> None:
        self.store.close()
