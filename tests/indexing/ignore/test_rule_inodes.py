"""An ignore file is known by its inode, which its names share, only while it has that inode."""

from __future__ import annotations

import os
from pathlib import Path

from livedex_indexing.ignore.rules import RuleTree


def test_an_ignore_file_is_known_by_its_inode_while_it_has_it(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a/.gitignore").write_text("*.o\n")
    os.link(tmp_path / "a/.gitignore", tmp_path / "b/.livedexignore")
    rules = RuleTree(os.fsencode(tmp_path))
    found = (tmp_path / "a/.gitignore").stat()
    node = found.st_ino, found.st_dev
    assert rules.inodes.files_with(*node) == [], "nothing was read yet"
    for _ in range(2):
        assert rules.explain(b"a/x.o", is_dir=False) and rules.explain(b"b/x.o", is_dir=False)
        assert sorted(rules.inodes.files_with(*node)) == [b"a/.gitignore", b"b/.livedexignore"]
        rules.invalidate(b"a")
    assert len(rules.inodes.files_with(found.st_ino, None)) == 2, "the device is not always known"
    assert rules.inodes.files_with(found.st_ino, found.st_dev + 1) == [], "it is a file of another device"
    (tmp_path / "new").write_text("*.c\n")
    (tmp_path / "new").rename(tmp_path / "a/.gitignore")
    assert rules.inodes.files_with(*node) == [b"b/.livedexignore"], "another file may get the inode of one that is gone"
    rules.invalidate()
    assert len(rules.inodes) == 0
