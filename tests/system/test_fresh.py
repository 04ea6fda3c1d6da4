"""A search sees every write, rename and delete that came before it: real files, a real daemon, a real socket."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

import pytest

from helpers.support import Daemon, Tree, add_root, found, wait_ready, watch_count

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

ROUNDS = int(os.environ.get("LIVEDEX_ROUNDS", "300"))
_numbers = count()


def token() -> str:
    """Return a word that is in no other file."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    number, word = next(_numbers) + 26**4, ""
    while number:
        number, letter = divmod(number, 26)
        word += letters[letter]
    return f"zq{word}7zq"  # the number keeps it from looking like a misspelling of another one


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write("first.txt", "the first file\n")
    add_root(client, tree)
    yield client


def test_many_writes_renames_and_deletes(indexed: Client, tree: Tree) -> None:
    chance = random.Random(7)
    holds: dict[str, str] = {}
    for _ in range(ROUNDS):
        action = chance.choice(["write", "write", "save", "rename", "delete"])
        if action in ("write", "save") or not holds:
            name = chance.choice(["a.txt", "b.md", "d/c.py", "d/e/f.txt", "g.rst"])
            old, word = holds.get(name), token()
            (tree.save if action == "save" else tree.write)(name, f"some words and {word}\n")
            holds[name] = word
            assert found(indexed, word) == [name]
            assert old is None or found(indexed, old) == []
        elif action == "rename":
            name, new = chance.choice(list(holds)), f"moved{next(_numbers)}.txt"
            word = holds.pop(name)
            tree.rename(name, new)
            holds[new] = word
            assert found(indexed, word) == [new]
        else:
            name = chance.choice(list(holds))
            word = holds.pop(name)
            tree.remove(name)
            assert found(indexed, word) == []


def test_a_write_through_an_open_file_is_seen(indexed: Client, tree: Tree) -> None:
    with (tree / "open.log").open("w") as log:
        for _ in range(50):
            word = token()
            log.write(f"{word}\n")
            log.flush()
            assert found(indexed, word) == ["open.log"]


def test_a_leaf_of_new_folders_is_found_at_once(indexed: Client, tree: Tree) -> None:
    for number in range(100):
        word = token()
        script = f"mkdir -p n{number}/b/c/d && echo {word} > n{number}/b/c/d/f.txt"
        subprocess.run(["sh", "-c", script], cwd=tree.path, check=True)
        assert found(indexed, word) == [f"n{number}/b/c/d/f.txt"]


def test_a_folder_moved_in_and_edited_inside(indexed: Client, tree: Tree) -> None:
    for number in range(20):
        first, second = token(), token()
        outside = Tree(tree.path.parent / f"outside{number}")
        outside.write("x/y.txt", first)
        outside.path.rename(tree / f"in{number}")
        assert found(indexed, first) == [f"in{number}/x/y.txt"]
        with (tree / f"in{number}/x/y.txt").open("a") as file:
            file.write(f" {second}")
        assert found(indexed, second) == [f"in{number}/x/y.txt"]
        (tree / f"in{number}").rename(outside.path)
        assert found(indexed, first) == []


def test_swapped_folders(indexed: Client, tree: Tree) -> None:
    one, two = token(), token()
    tree.write_all({"a/f.txt": one, "b/f.txt": two})
    for _ in range(10):
        tree.rename("a", "t")
        tree.rename("b", "a")
        tree.rename("t", "b")
        one, two = two, one
        assert found(indexed, one) == ["a/f.txt"]
        assert found(indexed, two) == ["b/f.txt"]


def test_a_file_becomes_a_folder_and_back(indexed: Client, tree: Tree) -> None:
    for _ in range(10):
        word = token()
        tree.write("thing", word)
        assert found(indexed, word) == ["thing"]
        tree.remove("thing")
        inner = token()
        tree.write("thing/inner.txt", inner)
        assert found(indexed, inner) == ["thing/inner.txt"]
        assert found(indexed, word) == []
        tree.remove("thing")
        assert found(indexed, inner) == []


SAVES = {
    "vim": "cp -p f.txt f.txt~ && printf '%s' \"$W\" > f.txt && rm f.txt~",
    "vim, backupcopy=no": "mv f.txt f.txt~ && printf '%s' \"$W\" > f.txt && rm f.txt~",
    "emacs": "ln -sf user@host.1 .#f.txt && mv f.txt f.txt~ && printf '%s' \"$W\" > f.txt && rm .#f.txt",
    "temp and rename": "printf '%s' \"$W\" > .f.txt.tmp && mv .f.txt.tmp f.txt",
    "in place": "printf '%s' \"$W\" > f.txt",
    "sed -i": "printf '%s' x > f.txt && sed -i \"s/x/$W/\" f.txt",
}


def test_editors_save_sequences(indexed: Client, tree: Tree) -> None:
    tree.write("f.txt", "old")
    old = None
    for editor, script in SAVES.items():
        for _ in range(15):
            word = token()
            subprocess.run(["sh", "-c", script], cwd=tree.path, env={**os.environ, "W": word}, check=True)
            assert found(indexed, word) == ["f.txt"], editor
            assert old is None or found(indexed, old) == [], editor
            old = word


def test_the_same_size_and_times_with_other_text(indexed: Client, tree: Tree) -> None:
    for _ in range(20):
        old, new = token(), token()
        path = tree.write("same.txt", old)
        assert found(indexed, old) == ["same.txt"]
        before = path.stat()
        path.write_text(new)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert found(indexed, new) == ["same.txt"]
        assert found(indexed, old) == []


def test_an_ignore_file_works_at_once_both_ways(indexed: Client, tree: Tree) -> None:
    word = token()
    tree.write("sub/skip/me.txt", word)
    assert found(indexed, word) == ["sub/skip/me.txt"]
    tree.write("sub/.gitignore", "skip/\n")
    assert found(indexed, word) == []
    tree.write("sub/.gitignore", "other/\n")
    assert found(indexed, word) == ["sub/skip/me.txt"]
    tree.write(".livedexignore", "*.txt\n")
    assert found(indexed, word) == []
    tree.remove(".livedexignore")
    assert found(indexed, word) == ["sub/skip/me.txt"]


def test_nothing_is_chunked_again_without_need(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    tree.write_all({f"many/f{number}.txt": f"file number {number} {token()}\n" for number in range(300)})
    assert len(found(indexed, "number")) == 300
    chunked = wait_ready(indexed)["work"]["files_chunked"]
    for path in (tree / "many").iterdir():
        path.touch()
    assert len(found(indexed, "number")) == 300
    tree.rename("many", "moved")
    assert all(path.startswith("moved/") for path in found(indexed, "number"))
    shutil.copytree(tree / "moved", tree / "copy")
    assert indexed.call("search", {"query": "number", "group": "file", "limit": 1, "timeout_ms": 20_000})["fresh"]
    assert wait_ready(indexed)["work"]["files_chunked"] == chunked
    daemon.restart()
    with daemon.client() as again:
        status = wait_ready(again)
        assert status["work"]["files_chunked"] == 0
        assert status["files"] == 601


@pytest.mark.needs("git")
def test_a_checkout_there_and_back_chunks_nothing_twice(indexed: Client, tree: Tree) -> None:
    tree.git("init", "-q", "-b", "main")
    tree.write_all({f"src/f{number}.c": f"int main{number}(void);\n" for number in range(200)})
    tree.git("add", ".")
    tree.git("commit", "-qm", "one")
    tree.git("checkout", "-qb", "other")
    tree.write_all({f"src/f{number}.c": f"int other{number}(void);\n" for number in range(0, 200, 2)})
    tree.git("commit", "-qam", "two")
    assert found(indexed, "other42") == ["src/f42.c"]
    tree.git("checkout", "-q", "main")
    assert found(indexed, "main42") == ["src/f42.c"]
    chunked = wait_ready(indexed)["work"]["files_chunked"]
    for branch, word in [("other", "other42"), ("main", "main42")] * 3:
        tree.git("checkout", "-q", branch)
        assert found(indexed, word) == ["src/f42.c"]
    tree.git("worktree", "add", "-q", "tree2", "other")
    assert found(indexed, "other42") == ["tree2/src/f42.c"]
    assert wait_ready(indexed)["work"]["files_chunked"] == chunked


def test_changes_made_while_the_daemon_is_down(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    kept, gone, same = token(), token(), token()
    tree.write_all({"kept.txt": kept, "gone.txt": gone, "same.txt": same, "old/x.txt": "moved " + kept})
    assert set(found(indexed, kept)) == {"kept.txt", "old/x.txt"}
    daemon.stop()
    before = (tree / "same.txt").stat()
    other = token()
    tree.write("same.txt", other)
    os.utime(tree / "same.txt", ns=(before.st_atime_ns, before.st_mtime_ns))
    tree.remove("gone.txt")
    tree.rename("old", "new")
    new = tree.write("more/deep/file.txt", token()).read_text()
    daemon.start()
    with daemon.client() as again:
        assert found(again, other) == ["same.txt"]
        assert found(again, same) == []
        assert found(again, gone) == []
        assert set(found(again, kept)) == {"kept.txt", "new/x.txt"}
        assert found(again, new) == ["more/deep/file.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_ignored_folders_cost_no_watches(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    found(indexed, "first")
    before = watch_count(daemon)
    tree.write_all({f"node_modules/p{number}/index.js": "x" for number in range(50)})
    assert found(indexed, "index") == []
    assert watch_count(daemon) == before
