"""`livedex audit` finds whatever is wrong in the index, whatever the cause, and repairs it."""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.index_damage import A_FILE, DAMAGES, FILE_DAMAGES
from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 30
WHATS = {"missing", "extra", "stale", "damaged", "misplaced"}
DAMAGED = int(os.environ.get("LIVEDEX_DAMAGES", "3"))  # how many of the damages; the library's own tests find them all
FLIPS = int(os.environ.get("LIVEDEX_FLIPS", "1"))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({f"d{number % 3}/f{number}.txt": f"some words and number{number}\n" for number in range(FILES)})
    tree.write("code.py", "def firstFunction():\n    return 1\n")
    tree.write("notes.md", "---\ntitle: A\n---\n# Heading\n\nwords of prose\n")
    tree.write("binary.bin.txt", b"\0\1\2")
    tree.write(".gitignore", "ignored/\n")
    tree.write("ignored/hidden.txt", "hiddenword\n")
    add_root(client, tree)
    yield client


def audit(client: Client, **params: Any) -> dict[str, Any]:
    result: dict[str, Any] = client.call("index/audit", params)
    return result


def tool(home: Home, *statements: str) -> None:
    """Damage the index with a SQL tool while the daemon runs."""
    with closing(sqlite3.connect(home.data / "index.db")) as db, db:
        for statement in statements:
            db.execute(statement)


def test_damages_are_found_and_repaired(indexed: Client, home: Home) -> None:
    assert audit(indexed) == {"checked": FILES + 3, "differences": [], "repaired": 0}
    for name, damage in [*FILE_DAMAGES.items(), *DAMAGES.items()][:DAMAGED]:
        tool(home, damage)
        said = audit(indexed, repair=True)
        assert said["differences"], f"not found: {name}"
        assert {difference["what"] for difference in said["differences"]} <= WHATS
        assert said["repaired"] == len(said["differences"]), f"not repaired: {name}"
        assert len(found(indexed, "some")) == FILES, name
        assert found(indexed, "number7") == ["d1/f7.txt"], name
        assert found(indexed, "hiddenword") == [], name
    assert audit(indexed)["differences"] == []


def test_a_file_whose_other_name_is_gone_does_not_differ(client: Client, tree: Tree, tmp_path: Path) -> None:
    """A link elsewhere, made or removed, changes the file's own time and raises no event here."""
    file, other = tree.write("linked.txt", "okapi\n"), tmp_path / "other.txt"
    os.link(file, other)
    add_root(client, tree)
    assert found(client, "okapi") == ["linked.txt"]
    before = file.stat()
    other.unlink()
    assert file.stat().st_ctime_ns != before.st_ctime_ns
    assert audit(client) == {"checked": 1, "differences": [], "repaired": 0}


def test_it_names_what_differs_from_the_disk(indexed: Client, home: Home, tree: Tree) -> None:
    tool(home, f"DELETE FROM files WHERE id = {A_FILE}", f"DELETE FROM paths_docsize WHERE id = {A_FILE}")
    named = {(difference["path"], difference["what"]) for difference in audit(indexed)["differences"]}
    assert (str(tree / "d1/f7.txt"), "missing") in named
    assert (str(home.data / "index.db"), "damaged") in named
    done = home.run("audit", "--repair")
    assert done.returncode == 1, "there were differences"
    assert home.run("audit").returncode == 0


def flip(index: Path, count: int, seed: int) -> None:
    """Change that many random bytes of the file, none of them in its header."""
    chance = random.Random(seed)
    size = index.stat().st_size
    with index.open("r+b") as file:
        for _ in range(count):
            at = chance.randrange(100, size)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ chance.randrange(1, 256)]))


@pytest.mark.parametrize(("count", "seed"), [(400, 1), *((1, seed) for seed in range(FLIPS))])
def test_changed_bytes_are_found_and_never_served(
    indexed: Client, home: Home, tree: Tree, daemon: Daemon, count: int, seed: int
) -> None:
    daemon.stop()  # so that all of it is in the file
    flip(home.data / "index.db", count, seed)
    daemon.start()
    texts = {str(path): path.read_text() for path in tree.path.rglob("*.*") if path.suffix in (".txt", ".py", ".md")}
    with daemon.client() as client:
        for number in range(FILES):
            answer = client.call("search", {"query": f"words number{number}", "limit": 50, "fresh": False})
            for hit in answer["hits"]:
                assert hit["snippet"] in texts[hit["path"]], "a text that is not the file's"
        said = audit(client, repair=True)
        assert said["repaired"] == len(said["differences"])
        rebuilt = "index_lost" in home.logs() or "index_put_aside" in home.logs()
        assert said["differences"] or rebuilt, "one changed byte is noticed, wherever it is"
        assert audit(client)["differences"] == []
        wait_until(lambda: client.call("status")["state"] == "ready", what="health")
        assert len(found(client, "some")) == FILES


def test_searches_and_edits_go_on_meanwhile(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    import threading

    tree.write_all({f"many/f{number}.txt": f"another text {number}\n" * 20 for number in range(400)})
    assert len(found(indexed, "another", group="file")) == 400
    results: list[dict[str, Any]] = []

    def run() -> None:
        with daemon.client() as other:
            results.append(audit(other))

    thread = threading.Thread(target=run)
    thread.start()
    rounds = 0
    while thread.is_alive() or rounds < 3:
        tree.write("edited.txt", f"edit{rounds}x\n")
        assert found(indexed, f"edit{rounds}x") == ["edited.txt"]
        rounds += 1
    thread.join()
    assert results[0]["differences"] == [], "what changes while it runs is not called different"
