"""A walk: what it watches, lists and compares, and what work it finds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fakes import FakeRows
from livedex_daemon.config.settings import RootConfig
from livedex_daemon.watch.backlog import Entry
from livedex_daemon.watch.root_table import Root
from livedex_daemon.watch.unreadable import UnreadablePaths
from livedex_daemon.write.changes import Changes
from livedex_daemon.write.policy import Policy
from livedex_daemon.write.walk import TreeWalk, WalkTools
from livedex_indexing.chunk.chunk_plan import ChunkSettings
from livedex_indexing.ignore.rules import RuleTree
from livedex_indexing.model import RootRow

POLICY = Policy(ChunkSettings(), 1 << 20, True)


@pytest.fixture
def root(tmp_path: Path) -> Root:
    folder = tmp_path / "root"
    folder.mkdir()
    path = os.fsencode(folder.resolve())
    return Root(RootRow(1, path, 1, 1, None, False, None), RootConfig(str(folder), str(folder), (), 1), RuleTree(path))


def walked(root: Root, watch: Callable[[Root, bytes], None]) -> tuple[TreeWalk, Changes]:
    """A complete walk of a root that is not indexed yet."""
    changes = Changes()
    walk = TreeWalk(WalkTools(FakeRows(), watch, POLICY, UnreadablePaths()), root, b"", Entry((1, b""), 1, 0.0))
    assert walk.step(lambda: False, changes)
    return walk, changes


def test_a_folder_is_watched_before_it_is_listed(root: Root) -> None:
    """A change between the two is either listed or reported; in the other order it would be neither."""
    os.mkdir(root.absolute(b"d"))

    def watch(_root: Root, path: bytes) -> None:
        with open(root.absolute(path + b"/late.txt" if path else b"late.txt"), "w") as file:
            file.write("latest\n")

    walk, _changes = walked(root, watch)
    assert {work.path for work in walk.works} == {b"late.txt", b"d/late.txt"}


def test_what_the_rules_shut_out_is_neither_watched_nor_entered(root: Root) -> None:
    for name in (b"seen", b"node_modules", b"node_modules/deep"):
        os.mkdir(root.absolute(name))
    Path(os.fsdecode(root.absolute(b"node_modules/a.txt"))).touch()
    Path(os.fsdecode(root.absolute(b"seen/a.txt"))).touch()
    watched: list[bytes] = []
    walk, _changes = walked(root, lambda _root, path: watched.append(path))
    assert sorted(watched) == [b"", b"seen"]
    assert [work.path for work in walk.works] == [b"seen/a.txt"]
