"""A phrase remembered for a content is forgotten when the content is written again: its rows may have been damaged."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw

from helpers.indexed_folder import Indexed, chunked


def test_a_phrase_is_found_once_the_content_is_repaired(tmp_path: Path) -> None:
    with Indexed(tmp_path) as index:
        index.write("root/a.txt", "red apple pie\n")
        with closing(apsw.Connection(index.database)) as damaged:
            damaged.execute("UPDATE chunks SET end_byte = 3")
        assert index.found('"apple pie"') == [], "the damaged row hides it"
        data = (tmp_path / "root/a.txt").read_bytes()
        row = index.store.file(1, b"a.txt")
        assert row is not None and row.content_hash is not None and row.signature is not None
        with index.store.transaction():
            index.store.add_content(row.content_hash, row.signature, len(data), chunked(data), rewrite=True)
        assert index.found('"apple pie"') == ["a.txt"]
