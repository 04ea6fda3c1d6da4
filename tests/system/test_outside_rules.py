"""Files outside the roots on which rules depend: any change of them, or of the path to them, takes effect at once.

Invariant: the truth is a set of rules that reads all files again after each change.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, watch_count
from livedex_indexing.ignore.rules import RuleTree

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = [f"{folder}x.{end}" for folder in ("", "sub/") for end in ("one", "two")]
PATTERNS = ["*.one\n", "*.two\n", "# nothing\n"]
ROUNDS = int(os.environ.get("LIVEDEX_RULE_ROUNDS", "30"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives the exact order of events")


@pytest.fixture
def user(home: Home) -> Tree:
    return Tree(home.path / "user")


@pytest.fixture
def indexed(client: Client, tree: Tree, user: Tree) -> Client:
    user.mkdir(".config")
    (tree / ".git").mkdir()
    (tree.mkdir("sub") / ".git").mkdir()
    tree.write_all({path: f"zebra {number}\n" for number, path in enumerate(FILES)})
    add_root(client, tree)
    return client


def check(client: Client, tree: Tree, home: Home, note: object = "") -> None:
    rules = RuleTree(os.fsencode(str(tree)), environ=home.env)
    expected = [path for path in FILES if rules.explain(os.fsencode(path), False) is None]
    assert sorted(found(client, "zebra")) == sorted(expected), note


def test_a_folder_made_later_deleted_and_made_again(indexed: Client, tree: Tree, user: Tree, home: Home) -> None:
    for pattern in ("*.one\n", "*.two\n"):
        user.mkdir(".config/git")
        check(indexed, tree, home)  # so that the folder is known before the file is there
        user.write(".config/git/ignore", pattern)
        check(indexed, tree, home)
        user.write(".config/git/ignore", "# nothing\n")
        check(indexed, tree, home)
        user.remove(".config/git")
        check(indexed, tree, home)


def test_links_into_dotfiles(indexed: Client, tree: Tree, user: Tree, home: Home) -> None:
    user.write_all({"dotfiles/git/ignore": "*.one\n", "dotfiles/gitignore": "*.two\n"})
    (user / ".config/git").symlink_to("../dotfiles/git")
    check(indexed, tree, home, "the folder is a link")
    user.write("dotfiles/git/ignore", "# nothing\n")
    check(indexed, tree, home, "the target's file is edited")
    (user / "dotfiles/git/ignore").unlink()
    (user / "dotfiles/git/ignore").symlink_to(user / "dotfiles/gitignore")
    check(indexed, tree, home, "the file is a link too")
    user.write("dotfiles/gitignore", "*.one\n")
    check(indexed, tree, home, "the last target is edited")
    user.rename("dotfiles", "moved")
    check(indexed, tree, home, "a folder on the way goes")
    user.rename("moved", "dotfiles")
    check(indexed, tree, home, "and comes back")


@pytest.mark.parametrize("repository", [".git", "sub/.git"])
def test_the_folder_of_info_exclude_is_made_later(indexed: Client, tree: Tree, home: Home, repository: str) -> None:
    for pattern in ("*.one\n", "*.two\n"):
        tree.mkdir(f"{repository}/info")
        check(indexed, tree, home)
        tree.write(f"{repository}/info/exclude", pattern)
        check(indexed, tree, home)
        tree.remove(f"{repository}/info")
        check(indexed, tree, home)


def test_another_configuration_names_another_file(indexed: Client, tree: Tree, user: Tree, home: Home) -> None:
    user.write(".gitconfig", "[core]\n\texcludesFile = ~/rules/mine\n[include]\n\tpath = more/config\n")
    check(indexed, tree, home)
    user.write("rules/mine", "*.one\n")
    check(indexed, tree, home)
    user.write("more/config", "[core]\n\texcludesFile = ~/rules/theirs\n")
    check(indexed, tree, home)
    user.write("rules/theirs", "*.two\n")
    check(indexed, tree, home)
    user.remove("more")
    check(indexed, tree, home)


def test_random_changes_on_the_way(indexed: Client, tree: Tree, user: Tree, home: Home) -> None:
    chance = random.Random(int(os.environ.get("LIVEDEX_SEED", "5")))
    for top, name in (("dot1", "ignore"), ("dot2", "ignore"), ("dot1", "config")):
        user.write(f"{top}/git/{name}", "# nothing\n")
    places = [user / ".config/git", user / "dot1/git", user / "dot2/git", tree / ".git/info", tree / "sub/.git/info"]

    def write() -> str:
        folder = chance.choice(places)
        path = folder / ("exclude" if folder.name == "info" else "ignore")
        folder.mkdir(exist_ok=True) if not os.path.lexists(folder) else None
        if folder.is_dir() and (not path.is_symlink() or path.exists()):
            path.write_text(chance.choice(PATTERNS))
        return f"write {path}"

    def remove() -> str:
        folder = chance.choice(places)
        folder.unlink() if folder.is_symlink() else shutil.rmtree(folder, ignore_errors=True)
        return f"remove {folder}"

    def link() -> str:
        remove()
        place = places[0]
        if not os.path.lexists(place):
            place.symlink_to(chance.choice(["../dot1/git", "../dot2/git"]))
        return f"link {place}"

    def swap() -> str:
        (user / "dot1").rename(user / "dot3")
        (user / "dot2").rename(user / "dot1")
        (user / "dot3").rename(user / "dot2")
        return "swap"

    def make() -> str:
        folder = chance.choice(places)
        folder.mkdir() if not os.path.lexists(folder) else None
        return f"make {folder}"

    done: list[str] = []
    steps: list[Callable[[], str]] = [write, write, write, remove, link, swap, make]
    for _ in range(ROUNDS):
        done += [chance.choice(steps)() for _ in range(chance.choice([1, 1, 2, 3]))]
        check(indexed, tree, home, done[-8:])


def test_folders_that_become_ignored_cost_no_watches(indexed: Client, tree: Tree, home: Home, daemon: Daemon) -> None:
    tree.write_all({f"gen/s{number}/f.txt": f"zebra gen {number}\n" for number in range(40)})
    tree.mkdir("gen/empty/deep")
    assert len(found(indexed, "zebra")) == 44
    before = watch_count(daemon)
    for _ in range(2):
        tree.write(".gitignore", "gen/\n")
        check(indexed, tree, home)
        assert watch_count(daemon) == before - 43
        tree.remove(".gitignore")
        assert len(found(indexed, "zebra")) == 44
        assert watch_count(daemon) == before
        word = f"okapi{_}"
        tree.write("gen/s7/f.txt", f"zebra {word}\n")
        assert found(indexed, word) == ["gen/s7/f.txt"]


def test_a_marker_inside_a_folder_works_both_ways(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    tree.write_all({"build/deep/a.txt": "okapi\n", "build/b.txt": "okapi too\n"})
    both = ["build/b.txt", "build/deep/a.txt"]
    assert sorted(found(indexed, "okapi")) == both
    before = watch_count(daemon)
    for _ in range(3):
        tree.write("build/CMakeCache.txt", "")
        assert found(indexed, "okapi") == []
        assert watch_count(daemon) == before - 1  # the folder of the marker is still watched
        tree.remove("build/CMakeCache.txt")
        assert sorted(found(indexed, "okapi", path=str(tree / "build"))) == both
    assert watch_count(daemon) == before
