"""Folders that are removed and made again, as by `rm -rf out && build` and `git checkout`: nothing is lost.

Each answer is compared with the disk: which files contain the word, not only what the answer says of itself.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, wait_ready, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

ROUNDS = int(os.environ.get("LIVEDEX_MADE_AGAIN", "5"))
FILES = 120  # of one build
CHECKOUTS = int(os.environ.get("LIVEDEX_FOLDER_CHECKOUTS", "2"))


def on_disk(tree: Tree, word: str) -> list[str]:
    """Return the files below the tree that contain the word, by their relative names."""
    paths = (path for path in tree.path.rglob("*") if path.is_file() and ".git" not in path.parts)
    return sorted(str(path.relative_to(tree.path)) for path in paths if word in path.read_text().split())


def outputs(number: int) -> dict[str, str]:
    """Return the files of one build: the same names each time, other words."""
    return {f"out/s{file % 8}/m{file % 3}/f{file}.txt": f"build{number} file{file}\n" for file in range(FILES)}


def test_a_folder_that_is_removed_and_written_again(client: Client, tree: Tree) -> None:
    tree.write_all({**outputs(0), "stays.txt": "build0\n"})
    add_root(client, tree)
    for number in range(1, ROUNDS):
        if number % 3:  # some searches run in the middle, so that the removal is processed before the writes
            client.call("search", {"query": "build", "fresh": False})
        shutil.rmtree(tree / "out")
        if number % 2:
            client.call("search", {"query": f"build{number - 1}", "timeout_ms": 1})
        tree.write_all(outputs(number))
        word = f"build{number}"
        assert sorted(found(client, word)) == on_disk(tree, word), f"round {number}"
        tree.write(f"out/s1/m1/f{number}.txt", f"edited{number}\n")  # its folder is watched, too
        assert found(client, f"edited{number}") == on_disk(tree, f"edited{number}")
    assert client.call("index/audit", {})["differences"] == []


def test_a_folder_that_goes_and_returns_as_it_was(client: Client, tree: Tree) -> None:
    """Its files look unchanged, so nothing is read again: decisions made while it was away must not count."""
    tree.write_all({f"d{folder}/f{file}.txt": f"okapi {folder} {file}\n" for folder in range(5) for file in range(5)})
    add_root(client, tree)
    truth = on_disk(tree, "okapi")
    for number in range(ROUNDS * 3):
        for folder in range(5):
            tree.rename(f"d{folder}", f"away{folder}")
        client.call("search", {"query": "okapi", "timeout_ms": number % 3 * 20, "path": str(tree / "d0")})
        for folder in range(5):
            tree.rename(f"away{folder}", f"d{folder}")
        assert sorted(found(client, "okapi")) == truth, f"round {number}"
    assert client.call("index/audit", {})["differences"] == []


@pytest.mark.needs("git")
def test_a_checkout_turns_files_into_folders(client: Client, tree: Tree) -> None:
    tree.git("init", "-q", "-b", "main")
    tree.write_all(
        {f"src/m{number:03}/part{file}.py": f"main{number} part{file}\n" for number in range(40) for file in range(5)}
    )
    tree.git("add", ".")
    tree.git("commit", "-qm", "folders")
    tree.git("checkout", "-qb", "other")
    for number in range(0, 40, 2):
        tree.remove(f"src/m{number:03}")
        tree.write(f"src/m{number:03}", f"other{number}\n")
    tree.git("add", ".")
    tree.git("commit", "-qm", "files")
    add_root(client, tree)
    for number in range(CHECKOUTS):
        tree.git("checkout", "-q", ("main", "other")[number % 2])
        for word in ("main8", "main9", "other8", "main38", "other38"):
            assert sorted(found(client, word)) == on_disk(tree, word), f"{word} after checkout {number}"
        assert client.call("index/audit", {})["differences"] == []


def test_folders_that_became_files_while_the_daemon_was_down(daemon: Daemon, tree: Tree) -> None:
    names = [f"d{number:02}" for number in range(50)]
    tree.write_all({f"{name}/f.txt": f"before {name}\n" for name in names})
    with daemon.client() as client:
        add_root(client, tree)
    daemon.stop()
    for name in names[::5]:
        tree.remove(name)
        tree.write(name, f"zebra {name}\n")
    daemon.start()
    with daemon.client() as client:
        assert sorted(found(client, "zebra")) == on_disk(tree, "zebra")
        assert wait_ready(client)["files"] == len(names)


@pytest.mark.ticks_often
def test_a_pending_row_that_nothing_works_on_lasts_seconds(client: Client, tree: Tree, home: Home) -> None:
    """No known defect leaves such a row: a SQL tool adds this one, as two earlier defects did."""
    tree.write_all({"lost.txt": "zebra\n", "other.txt": "okapi\n"})
    add_root(client, tree)
    with closing(sqlite3.connect(home.data / "index.db")) as db, db:
        lost = db.execute("UPDATE files SET status = 1, content_id = NULL WHERE name = CAST('lost.txt' AS BLOB)")
        assert lost.rowcount == 1
    tree.write("other.txt", "gnu\n")
    assert found(client, "gnu") == ["other.txt"]
    wait_until(lambda: found(client, "zebra") == on_disk(tree, "zebra"), what="the file to be indexed")
    assert wait_ready(client)["files"] == 2
    assert client.call("index/audit", {})["differences"] == []
