"""Ignore files that the system cannot read count neither as missing nor as empty."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from helpers.ignore_verdicts import Rules, shut_out
from helpers.support import Tree
from livedex_indexing.disk import tree as disk_tree
from livedex_indexing.disk.tree_errors import Denied, ReadFailed
from livedex_indexing.model import Stat


@contextmanager
def failing(name: bytes, code: int) -> Iterator[None]:
    """Opening a file of this name fails."""
    real = os.open

    def fail(path: bytes, *args: int, **named: int) -> int:
        if path == name:
            raise OSError(code, os.strerror(code))
        return real(path, *args, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", fail)
        yield


@pytest.mark.parametrize("name", [".gitignore", ".livedexignore"])
def test_what_it_excludes_is_not_known(tree: Tree, rules: Rules, name: str) -> None:
    tree.write(f"d/{name}", "*.log\n")
    given = rules()
    with failing(name.encode(), errno.EIO):
        for _ in range(2):
            with pytest.raises(ReadFailed):
                given.explain(b"d/x.log", False)
    assert shut_out(given, "d/x.log", "d/x.txt") == ["d/x.log"]


def test_permission_may_return_without_an_event(tree: Tree, rules: Rules) -> None:
    tree.write("d/.gitignore", "*.log\n")
    given = rules()
    marked: list[tuple[bytes, bool]] = []

    def mark(folder: bytes) -> None:
        marked.append((folder, bool(given.faults())))

    with failing(b".gitignore", errno.EACCES):
        assert shut_out(given, "d/x.log") == [] and list(given.faults()) == [str(tree / "d/.gitignore")]
        given.allow_again(mark)
        assert not marked
    given.allow_again(mark)
    assert marked == [(b"d", True)] and not given.faults(), "marked while it is still said"
    assert shut_out(given, "d/x.log") == ["d/x.log"]
    given.allow_again(mark)
    assert len(marked) == 1


@pytest.mark.parametrize("name", ["x.log", "target"])
def test_a_denial_is_no_absence(tree: Tree, rules: Rules, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The permission may be back when the file itself is opened."""
    tree.write_all({"d/.gitignore": "*.log\n", "d/Cargo.toml": "[package]\n", "d/target/x.rs": "text\n"})
    given = rules()
    given.explain(b"d/other", False)
    if name == "x.log":
        given.invalidate()

    def deny(_root: bytes, folder: bytes, _names: object) -> dict[bytes, Stat]:
        if folder == b"d":
            raise Denied(PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
        return {}

    with monkeypatch.context() as patch:
        patch.setattr(disk_tree, "stat_names", deny)
        for _ in range(2):
            with pytest.raises(ReadFailed) as caught:
                given.explain(b"d/" + name.encode(), name == "target")
            assert caught.value.errno == errno.EACCES
    assert given.explain(b"d/" + name.encode(), name == "target") is not None


def test_folders_are_marked_before_their_rules_change(tree: Tree, rules: Rules) -> None:
    """A caller that gets no more fault learns that the files must be compared again."""
    tree.mkdir("d/.git/info")
    exclude = tree.write("d/.git/info/exclude", b"*.log\n" + bytes(1))
    given = rules()
    assert given.explain(b"d/x.txt", False) is None
    before = given.outside_version
    exclude.write_text("*.log\n")
    versions: list[int] = []
    assert given.outside_changed(mark=lambda _folder: versions.append(given.outside_version)) == {b"d"}
    assert versions == [before] and given.outside_version != before
