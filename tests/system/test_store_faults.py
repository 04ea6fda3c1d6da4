"""The index file is lost, replaced or damaged under a running daemon, and is whole again without anybody's help."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 40
NOTICED_S = 10.0  # the promise


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({f"d{number % 4}/f{number}.txt": f"some words and number{number}\n" for number in range(FILES)})
    tree.write("forgotten.txt", "canaryword\n")
    add_root(client, tree)
    assert client.call("files/delete", {"path": str(tree / "forgotten.txt")}) == {"deleted": 1}
    yield client


def delete(index: Path) -> None:
    for path in index.parent.glob("index.db*"):
        path.unlink()


def delete_alone(index: Path) -> None:
    index.unlink()


def delete_the_log(index: Path) -> None:
    index.with_name("index.db-wal").unlink()


def remove_the_folder(index: Path) -> None:
    shutil.rmtree(index.parent)


def an_older_copy(index: Path) -> None:
    with sqlite3.connect(index) as old, sqlite3.connect(index.with_name("copy")) as copy:
        old.backup(copy)
        copy.execute("DELETE FROM files")
        copy.commit()
    os.replace(index.with_name("copy"), index)


def a_foreign_database(index: Path) -> None:
    with sqlite3.connect(index.with_name("foreign")) as foreign:
        foreign.execute("CREATE TABLE t (a)")
    os.replace(index.with_name("foreign"), index)


def a_text(index: Path) -> None:
    index.with_name("text").write_text("not a database\n" * 1000)
    os.replace(index.with_name("text"), index)


def truncate(index: Path) -> None:
    os.truncate(index, index.stat().st_size // 2)


def truncate_to_nothing(index: Path) -> None:
    os.truncate(index, 0)


def garbage_at_the_start(index: Path) -> None:
    with index.open("r+b") as file:
        file.write(os.urandom(8192))


def garbage_after_the_header(index: Path) -> None:
    size = index.stat().st_size
    with index.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))


LOSSES: list[Callable[[Path], None]] = [
    delete,
    delete_alone,
    delete_the_log,
    remove_the_folder,
    an_older_copy,
    a_foreign_database,
    a_text,
    truncate,
    truncate_to_nothing,
    garbage_at_the_start,
    garbage_after_the_header,
]


def checkpoint(index: Path) -> None:
    """Everything into the file itself, so that what is done to it hits what is indexed."""
    with sqlite3.connect(index) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()


def is_whole(home: Home, daemon: Daemon) -> bool:
    with daemon.client() as client:
        status = client.call("status")
    return bool(status["state"] == "ready" and status["files"] == FILES and (home.data / "index.db").exists())


@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_lost_index_is_built_anew(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon, lose: Callable[[Path], None]
) -> None:
    index = home.data / "index.db"
    checkpoint(index)
    before = home.logs().count("index_lost")
    generation = indexed.call("status")["generation"]
    lose(index)
    if lose is garbage_after_the_header:  # nothing but reading shows it
        indexed.call("search", {"query": "words", "fresh": False})
    wait_until(lambda: home.logs().count("index_lost") > before, NOTICED_S, what="the loss being noticed")
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    assert len(found(indexed, "words")) == FILES
    assert found(indexed, "canaryword") == [], "what was forgotten stays so"
    assert indexed.call("status")["generation"] > generation
    tree.write("d0/f0.txt", "anotherword\n")
    assert found(indexed, "anotherword") == ["d0/f0.txt"]
    assert found(indexed, "number0") == []
    assert home.logs().count("index_lost") == before + 1, "one rebuild is enough"
    daemon.restart()
    with daemon.client() as again:
        assert len(found(again, "some")) == FILES - 1
        assert found(again, "canaryword") == []


def test_marks_outlive_the_folder_they_lay_in(indexed: Client, home: Home, daemon: Daemon) -> None:
    remove_the_folder(home.data / "index.db")
    wait_until((home.data / "forgotten.db").exists, what="the marks being written again")
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    daemon.stop()
    delete(home.data / "index.db")
    daemon.start()
    with daemon.client() as again:
        wait_until(lambda: is_whole(home, daemon), what="a whole index")
        assert found(again, "canaryword") == []


def test_meanwhile_it_answers_and_says_how_things_stand(client: Client, tree: Tree, home: Home) -> None:
    many = 3000
    tree.write_all({f"d{number % 40}/f{number}.txt": f"some words and number{number}\n" for number in range(many)})
    add_root(client, tree)
    answers: list[dict[str, Any]] = []
    states: list[dict[str, Any]] = []

    def is_whole_again() -> bool:
        answers.append(client.call("search", {"query": "words", "group": "file", "limit": 1}))
        states.append(client.call("status"))
        return "index_rebuilt" in home.logs()

    delete(home.data / "index.db")
    wait_until(is_whole_again, 60, what="the rebuilt index")
    rebuilding = [answer for answer in answers if answer.get("reason") == "rebuilding"]
    assert rebuilding and not any(answer["fresh"] for answer in rebuilding)
    assert "index_rebuilding" in {warning["code"] for answer in rebuilding for warning in answer["warnings"]}
    warned = [state for state in states if "index_rebuilding" in {item["code"] for item in state["warnings"]}]
    assert {state["state"] for state in warned} == {"degraded"}
    assert all(answer["hits"] for answer in answers if answer["fresh"]), "never said to be fresh while it is not whole"
    wait_until(lambda: client.call("status")["state"] == "ready", what="health")
    assert len(found(client, "path:d7/")) == many // 40


START_LOSSES = [
    truncate_to_nothing,
    truncate,
    garbage_at_the_start,
    garbage_after_the_header,
    a_foreign_database,
    a_text,
]


@pytest.mark.parametrize("lose", START_LOSSES, ids=lambda lose: lose.__name__)
def test_a_start_with_a_damaged_index(
    indexed: Client, home: Home, daemon: Daemon, lose: Callable[[Path], None]
) -> None:
    daemon.stop()
    lose(home.data / "index.db")
    daemon.start()
    with daemon.client() as again:
        wait_until(lambda: is_whole(home, daemon), what="a whole index")
        assert len(found(again, "words")) == FILES
        assert found(again, "canaryword") == []


def test_a_start_with_an_index_of_a_newer_livedex(indexed: Client, home: Home, daemon: Daemon) -> None:
    daemon.stop()
    with sqlite3.connect(home.data / "index.db") as index:
        index.execute("PRAGMA user_version = 9999")
    index.close()
    newer = (home.data / "index.db").read_bytes()
    daemon.start()
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    assert (home.data / "index.db.aside").read_bytes() == newer, "its bytes are left as they are"
