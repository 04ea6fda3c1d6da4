"""`files + skipped + failed` equals what is on disk, entry by entry, also while entries change their type."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from helpers.disk_inventory import LARGEST, account
from helpers.support import CHECKOUT, Tree, add_root, wait_converted

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


def check(client: Client, tree: Tree) -> None:
    wait_converted(client)
    found = account(client, tree.path)
    assert found.unexplained == []
    status = client.call("status")
    assert status["pending"] == 0
    assert status["files"] + status["skipped"] + status["failed"] == len(found.listed)
    assert len(found.listed) + sum(found.ignored.values()) == found.entries


def fill(tree: Tree) -> None:
    """Something of every kind that is treated differently."""
    shutil.copytree(CHECKOUT / "ipc", tree / "ipc", ignore=shutil.ignore_patterns("__pycache__"))
    tree.write_all({"text.txt": "words\n", "empty.md": "", "wide.txt": "wide".encode("utf-16"), "nul.dat": b"a\x00b"})
    tree.write_all({"nul-late.txt": b"a" * 9000 + b"\x00", "nul-at-end.txt": b"a" * 8191 + b"\x00"})
    tree.write_all({"largest.txt": b"x" * LARGEST, "too-large.txt": b"x" * (LARGEST + 1), "large.bin": b"\x00"})
    tree.write_all({".env": "SECRET=1", ".env.example": "SECRET=", "key.pem": "a key", "node_modules/a/b.js": "x"})
    tree.write_all({"a/.gitignore": "*.log\n!keep.log\n/x/\n", "a/one.log": "1", "a/keep.log": "2", "a/x/y.txt": "3"})
    tree.write_all({"a/.livedexignore": "!one.log\n", "b/.gitignore": "*", "b/gone.txt": "4", "c/d/e/f/g.txt": "5"})
    tree.write_all({"two\nlines.txt": "6", "ümläut.txt": "7", "\udcff.txt": "8", " blank ": "9", "-rf": "10"})
    (tree / "link.txt").symlink_to("text.txt")
    (tree / "link-to-folder").symlink_to("ipc")
    (tree / "dangling").symlink_to("nowhere")
    os.mkfifo(tree / "pipe")
    tree.mkdir("empty folder/and another")


def test_every_entry_is_accounted_for(client: Client, tree: Tree) -> None:
    fill(tree)
    add_root(client, tree)
    check(client, tree)


def test_entries_that_change_what_they_are(client: Client, tree: Tree) -> None:
    fill(tree)
    add_root(client, tree)
    tree.write_all({"text.txt": b"\x00", "nul.dat": "text now", "too-large.txt": "small now"})
    tree.write("empty.md", b"x" * (LARGEST + 1))
    tree.remove("link.txt")
    tree.write("link.txt", "a file now")
    tree.remove("pipe")
    tree.mkdir("pipe")
    tree.write("pipe/inner.txt", "inner")
    tree.remove("ipc")
    (tree / "ipc").symlink_to("a")
    check(client, tree)
    tree.rename("c", "node_modules/c")
    tree.rename("node_modules/a", "from_there")
    tree.rename(".env", "env.txt")
    tree.write("a/.gitignore", "/keep.log\n")
    tree.remove("a/.livedexignore")
    tree.write("b/.gitignore", "")
    check(client, tree)
