"""A file with several names, written by one of them and searched for by another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

from helpers.support import Daemon, Tree, add_root, found

if TYPE_CHECKING:
    from livedex_ipc.client import Client

ROUNDS = 8
UNUSED = 0  # of a path that is absolute; without it Python follows no link
_numbers = count()

pytestmark = pytest.mark.shares_daemon


@pytest.fixture
def client(daemon: Daemon, tree: Tree) -> Iterator[Client]:
    tree.write("one/h.txt", "lynx\n")
    tree.mkdir("two")
    os.link(tree / "one/h.txt", tree / "two/h.txt")
    other = Tree(tree.path.parent / "other")
    os.link(tree / "one/h.txt", other / "b.txt")
    with daemon.client() as client:
        add_root(client, tree)
        add_root(client, other.path)
        yield client


def append(tree: Tree, name: str) -> str:
    word = f"gazelle{next(_numbers)}x"
    with (tree / name).open("a") as file:
        file.write(f"{word}\n")
    return word


def test_it_is_found_in_another_folder(client: Client, tree: Tree) -> None:
    for _ in range(ROUNDS):
        assert found(client, append(tree, "one/h.txt"), path=str(tree / "two")) == ["two/h.txt"]
        assert found(client, append(tree, "two/h.txt"), path=str(tree / "one/h.txt")) == ["one/h.txt"]


def test_it_is_found_in_another_root(client: Client, tree: Tree) -> None:
    other = Tree(tree.path.parent / "other")
    for _ in range(ROUNDS):
        assert found(client, append(tree, "one/h.txt"), roots=[str(other)]) == ["b.txt"]
        assert found(client, append(other, "b.txt"), path=str(tree / "two")) == ["two/h.txt"]


def test_all_its_names_are_found(client: Client, tree: Tree) -> None:
    for _ in range(ROUNDS):
        answer = client.call("search", {"query": append(tree, "one/h.txt"), "timeout_ms": 20_000})
        names = {path for hit in answer["hits"] for path in (hit["path"], *hit.get("also_at", ()))}
        assert answer["fresh"]
        assert names == {f"{tree}/one/h.txt", f"{tree}/two/h.txt", f"{tree.path.parent}/other/b.txt"}


def test_a_retrieved_file_has_what_was_written_by_another_name(client: Client, tree: Tree) -> None:
    for _ in range(ROUNDS):
        word = append(tree, "one/h.txt")
        kept = client.call("files/retrieve", {"path": str(tree / "two/h.txt"), "timeout_ms": 20_000})
        assert kept["fresh"]
        assert any(word in chunk["text"] for chunk in kept["chunks"])


@pytest.mark.parametrize("replaces", [False, True])
def test_what_is_written_by_a_name_that_was_just_linked_is_found_by_the_other(
    client: Client, tree: Tree, replaces: bool
) -> None:
    """The kernel reports the link and the write by the new name alone, which the index does not know yet."""
    for number in range(3):
        first, new = f"first{number}.txt", f"new{number}.txt"
        tree.write(first, "some words\n")
        if replaces:
            tree.write(new, "other words\n")
        assert first in found(client, "some")
        (tree / new).unlink(missing_ok=True)
        os.link(tree / first, tree / new)
        word = append(tree, new)
        answer = client.call("search", {"query": word, "timeout_ms": 20_000})
        (hit,) = answer["hits"]
        assert answer["fresh"] and {hit["path"], *hit.get("also_at", ())} == {str(tree / first), str(tree / new)}


def test_what_was_written_by_a_name_that_is_gone_is_found_by_the_other(client: Client, tree: Tree) -> None:
    for number in range(ROUNDS):
        left, gone = f"left{number}.txt", f"gone{number}.txt"
        tree.write(left, f"pangolin{number}\n")
        os.link(tree / left, tree / gone)
        assert len(found(client, f"pangolin{number}")) == 1  # one hit, which names both
        word = append(tree, gone)
        tree.remove(gone)
        assert found(client, word) == [left]


def test_what_was_written_by_a_name_in_a_folder_that_is_gone_is_found_by_the_other(client: Client, tree: Tree) -> None:
    for number in range(ROUNDS):
        left, gone = f"left{number}.txt", f"gone{number}/deep/name.txt"
        tree.write(left, f"pangolin{number}\n")
        tree.mkdir(f"gone{number}/deep")
        os.link(tree / left, tree / gone)
        assert len(found(client, f"pangolin{number}")) == 1
        word = append(tree, gone)
        tree.remove(f"gone{number}")
        assert found(client, word) == [left]


@pytest.mark.parametrize("name", [".gitignore", ".livedexignore"])
@pytest.mark.parametrize("where", ["same root", "other root"])
def test_an_ignore_file_that_is_written_by_another_name(client: Client, tree: Tree, name: str, where: str) -> None:
    folder = tree if where == "same root" else Tree(tree.path.parent / "other")
    tree.write_all({f"sub/{name}": "*.tmp\n", "sub/a.tmp": "puma\n", "sub/a.log": "puma\n"})
    assert found(client, "puma") == ["sub/a.log"]
    os.link(tree / f"sub/{name}", folder / "rules.txt")
    assert found(client, "puma") == ["sub/a.log"]
    for kept, shut in (("tmp", "log"), ("log", "tmp")):
        (folder / "rules.txt").write_text(f"*.{shut}\n")
        assert found(client, "puma") == [f"sub/a.{kept}"]
    (folder / "rules.txt").write_text("")
    (folder / "rules.txt").unlink()
    assert sorted(found(client, "puma")) == ["sub/a.log", "sub/a.tmp"]


@pytest.mark.parametrize("name", [".gitignore", "rules.txt"])
def test_what_is_written_by_an_ignore_file_that_has_another_name(client: Client, tree: Tree, name: str) -> None:
    tree.write_all({"sub/.gitignore": "*.tmp\n", "a.tmp": "puma\n", "a.log": "puma\n"})
    os.link(tree / "sub/.gitignore", tree / name)
    known = "a.log" if name == ".gitignore" else "a.tmp"
    assert known in found(client, "puma")
    for _ in range(ROUNDS):
        for kept, shut in (("tmp", "log"), ("log", "tmp")):
            tree.write("sub/.gitignore", f"*.{shut}\n# okapi{shut}\n")
            if name == ".gitignore":
                assert found(client, "puma") == [f"a.{kept}"]
            else:
                assert found(client, f"okapi{shut}") == [name]


@pytest.mark.parametrize("name", [".gitignore", "rules.txt"])
def test_an_ignore_file_in_the_scope_that_is_written_by_a_name_outside_it(
    client: Client, tree: Tree, name: str
) -> None:
    tree.write_all({"sub/.gitignore": "*.tmp\n", "sub/a.tmp": "puma\n", "sub/a.log": "puma\n"})
    assert found(client, "puma") == ["sub/a.log"]
    os.link(tree / "sub/.gitignore", tree / "two" / name)
    for _ in range(ROUNDS):
        for kept, shut in (("tmp", "log"), ("log", "tmp")):
            tree.write(f"two/{name}", f"*.{shut}\n")
            assert found(client, "puma", path=str(tree / f"sub/a.{kept}")) == [f"sub/a.{kept}"]


@pytest.mark.parametrize("indexed", [True, False])
def test_a_name_in_the_scope_has_what_was_written_by_one_just_linked_outside_it(
    client: Client, tree: Tree, indexed: bool
) -> None:
    for number in range(ROUNDS):
        name, new = f"two/in{number}.txt", f"one/out{number}.txt"
        tree.write(name, f"pangolin{number}\n")
        if indexed:
            assert found(client, f"pangolin{number}") == [name]
        os.link(tree / name, tree / new)
        assert found(client, append(tree, new), path=str(tree / "two")) == [name]
        tree.write(new, f"okapi{number}\n")
        moved = f"one/moved{number}.txt"
        word = append(tree, new)
        (tree / new).rename(tree / moved)
        assert found(client, word, path=str(tree / name)) == [name]


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="only Linux makes files without a name")
@pytest.mark.parametrize("made_in", ["", "two"], ids=["its folder", "another folder"])
@pytest.mark.parametrize("within", ["the root", "the file"])
def test_a_file_made_without_a_name_is_written_on_by_its_descriptor(
    client: Client, tree: Tree, made_in: str, within: str
) -> None:
    """The kernel reports each write as one to ``#INODE``, a name that never was."""
    limit = {"path": str(tree / "log.txt")} if within == "the file" else {}
    try:
        descriptor = os.open(tree / made_in, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:
        pytest.skip("this file system makes no files without a name")
    with os.fdopen(descriptor, "w") as file:
        os.link(f"/proc/self/fd/{descriptor}", tree / "log.txt", dst_dir_fd=UNUSED, follow_symlinks=True)
        for number in range(ROUNDS):
            word = f"impala{next(_numbers)}x"
            file.write(f"{word}\n")
            file.flush()
            assert found(client, word, mode="keyword", **limit) == ["log.txt"], number
