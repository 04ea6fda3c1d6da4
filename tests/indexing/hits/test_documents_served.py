"""What is served of a document: its converted text, as long as its file is the one that was converted."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from livedex_indexing.disk import tree
from livedex_indexing.hits.live_files import FileCopy, LiveFiles

TEXT = b"the converted text"


def test_the_text_is_served_while_the_file_is_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1")
    found = tree.stat(os.fsencode(tmp_path), b"a.pdf")
    assert found is not None
    digest = hashlib.blake2b(b"%PDF-1", digest_size=16).digest()
    for settled in (True, False):
        copy = FileCopy(1, 7, b"a.pdf", found.state, settled)
        live = LiveFiles({7: os.fsencode(tmp_path)}, lambda _content: TEXT)
        assert live.read(3, digest, [copy]) == (copy, TEXT)
        assert live.part(3, digest, [copy], 4, 9) == (copy, (TEXT, 0, len(TEXT)))
    path.write_bytes(b"%PDF-2")
    for settled in (True, False):
        copy = FileCopy(1, 7, b"a.pdf", found.state, settled)
        live = LiveFiles({7: os.fsencode(tmp_path)}, lambda _content: TEXT)
        assert live.read(3, digest, [copy]) is None
        assert (7, b"a.pdf") in live.stale
