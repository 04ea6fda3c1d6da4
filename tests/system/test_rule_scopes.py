"""A file above a path may decide about it: answers about the path wait for such files.

Invariant: the truth is a set of rules that reads the folder's files again after each edit.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from helpers.support import Home, Tree, add_root, found, wait_until
from livedex_indexing.ignore.rules import RuleTree

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FOLDERS = ["", "a", "a/target", "a/target/b", "b", "b/build", "b/build/a"]
FILES = [f"{folder}/{name}".lstrip("/") for folder in FOLDERS for name in ("x.txt", "y.log")]
PATTERNS = ["*.log\n", "x.*\n", "target/\n", "/a/\n", "!*.log\n", "# nothing\n"]
ENTRIES = [".gitignore", ".livedexignore", ".git", "Cargo.toml", "CACHEDIR.TAG"]
ROUNDS = int(os.environ.get("LIVEDEX_RULE_ROUNDS", "60"))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({path: f"zebra {number}\n" for number, path in enumerate(FILES)})
    add_root(client, tree)
    yield client


def edit(tree: Tree, chance: random.Random) -> str:
    """Make, edit, rename or remove a file that decides; return what was done."""
    folder, name = chance.choice(FOLDERS), chance.choice(ENTRIES)
    path = f"{folder}/{name}".lstrip("/")
    entry = tree / path
    if os.path.lexists(entry) and chance.random() < 0.6:
        if chance.random() < 0.5:
            tree.remove(path)
            return f"remove {path}"
        there = f"{chance.choice(FOLDERS)}/{name}".lstrip("/")
        if os.path.lexists(tree / there):
            tree.remove(there)
        entry.rename(tree / there) if there != path else None
        return f"rename {path} {there}"
    if name == ".git":
        tree.mkdir(path)
        return f"make {path}"
    save = chance.choice([tree.write, tree.save])
    return f"write {save(path, chance.choice(PATTERNS)).relative_to(tree.path)}"


def let_in(tree: Tree, home: Home, folder: str) -> list[str]:
    rules = RuleTree(os.fsencode(str(tree)), environ=home.env)
    inside = [path for path in FILES if path.startswith(f"{folder}/") or not folder]
    return sorted(path for path in inside if rules.explain(os.fsencode(path), False) is None)


def answers(client: Client, tree: Tree, kind: str, folder: str, chance: random.Random) -> tuple[list[str], list[str]]:
    """Return which of the paths a method reports."""
    inside = [path for path in FILES if path.startswith(f"{folder}/") or not folder]
    if kind == "search":
        return sorted(found(client, "zebra", path=str(tree / folder))), inside
    if kind == "list":
        listed: dict[str, Any] = client.call(
            "files/list", {"path": str(tree / folder), "limit": 1000, "timeout_ms": 20_000}
        )
        assert listed["fresh"]
        there = {os.path.relpath(file["path"], tree.path) for file in listed["files"]}
        return sorted(there & set(FILES)), inside
    path = chance.choice(inside)
    why: dict[str, Any] = client.call("files/explain", {"path": str(tree / path), "timeout_ms": 20_000})
    assert why["fresh"]
    return [path] if why["status"] == "indexed" else [], [path]


def test_random_edits_are_seen_from_every_folder(indexed: Client, tree: Tree, home: Home) -> None:
    chance = random.Random(int(os.environ.get("LIVEDEX_SEED", "11")))
    done: list[str] = []
    for _ in range(ROUNDS):
        done += [edit(tree, chance) for _ in range(chance.choice([1, 1, 2]))]
        folder, kind = chance.choice(FOLDERS), chance.choice(["search", "list", "why"])
        said, asked = answers(indexed, tree, kind, folder, chance)
        assert said == [path for path in let_in(tree, home, folder) if path in asked], (kind, folder, done[-8:])


def test_a_folder_that_is_let_in_again_can_be_retrieved(indexed: Client, tree: Tree) -> None:
    for _ in range(5):
        tree.write(".gitignore", "*.log\n")
        assert found(indexed, "zebra", path=str(tree / "a/target/b")) == ["a/target/b/x.txt"]
        tree.remove(".gitignore")
        kept = indexed.call("files/retrieve", {"path": str(tree / "a/target/b/y.log"), "timeout_ms": 20_000})
        assert kept["fresh"]
        assert kept["chunks"]


@pytest.mark.needs("git")
def test_a_repository_made_above_the_path_is_seen(indexed: Client, tree: Tree) -> None:
    tree.write(".gitignore", "*.log\n")
    assert found(indexed, "zebra", path=str(tree / "b")) == ["b/build/a/x.txt", "b/build/x.txt", "b/x.txt"]
    for _ in range(3):
        tree.git("init", "-q", "b")  # a nested work tree starts over
        assert len(found(indexed, "zebra", path=str(tree / "b/build"))) == 4
        shutil.rmtree(tree / "b/.git")
        assert len(found(indexed, "zebra", path=str(tree / "b/build"))) == 2


def test_a_marker_that_comes_back_at_once(client: Client, tree: Tree) -> None:
    """A walk that missed it has indexed what it shuts out; other names come and go in its folder meanwhile."""
    tree.write_all({"a/Cargo.toml": "", "a/target/x.txt": "zebra\n", "a/n0": "other\n"})
    add_root(client, tree)
    chunks, numbers = client.call("status")["chunks"], itertools.count()

    def is_let_in() -> bool:
        number = next(numbers)
        (tree / f"a/n{number}").rename(tree / f"a/n{number + 1}")
        return bool(client.call("status")["chunks"] > chunks)

    for _ in range(ROUNDS // 6):
        tree.remove("a/Cargo.toml")
        wait_until(is_let_in, what="what the marker shut out")  # no search waits for it
        tree.write("a/Cargo.toml", "")
        assert found(client, "zebra") == []
