"""The record of forgotten files is damaged, emptied or removed: searches go on, and nothing forgotten is found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from helpers.forgotten_file import FORGOTTEN, FORGOTTEN_WORD, index_and_forget
from helpers.support import Daemon, Home, Tree, codes, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 8


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    index_and_forget(client, tree, ["d0"] * FILES)
    yield client


def damage_the_marks(home: Home) -> None:
    with (home.data / "forgotten.db").open("r+b") as file:
        file.seek(100)
        file.write(b"\xff" * 64)


def empty_the_marks(home: Home) -> None:
    os.truncate(home.data / "forgotten.db", 0)


def cut_the_copy(home: Home) -> None:
    os.truncate(home.data / "forgotten.db.copy", 30)


def remove_both(home: Home) -> None:
    (home.data / "forgotten.db").unlink()
    (home.data / "forgotten.db.copy").unlink()


def empty_both(home: Home) -> None:
    empty_the_marks(home)
    os.truncate(home.data / "forgotten.db.copy", 0)


@pytest.mark.parametrize(
    "lose", [damage_the_marks, empty_the_marks, cut_the_copy, remove_both, empty_both], ids=lambda lose: lose.__name__
)
def test_damaged_marks_are_restored_and_nothing_forgotten_is_served(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon, lose: Callable[[Home], None]
) -> None:
    daemon.stop()
    lose(home)
    daemon.start()
    with daemon.client() as client:
        assert found(client, FORGOTTEN_WORD) == []
        assert len(found(client, "words")) == FILES
        both = lose in (remove_both, empty_both)
        assert ("forgotten_lost" in codes(client)) == both
        assert client.call("index/audit", {"repair": True})["differences"] == []
        (file,) = client.call("files/list", {"path": str(tree / FORGOTTEN)})["files"]
        assert file["reason"] == "forgotten"
    daemon.kill()
    daemon.start()
    with daemon.client() as client:
        assert found(client, FORGOTTEN_WORD) == []
        assert ("forgotten_lost" in codes(client)) == both
    daemon.restart()
    with daemon.client() as client:
        assert codes(client) == set()
        assert found(client, FORGOTTEN_WORD) == []


@pytest.mark.parametrize("lose", [damage_the_marks, empty_both], ids=lambda lose: lose.__name__)
def test_marks_damaged_under_the_daemon_are_written_again(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon, lose: Callable[[Home], None]
) -> None:
    lose(home)
    assert indexed.call("files/delete", {"path": str(tree / "d0/f0.txt")}) == {"deleted": 1}
    daemon.kill()
    for file in home.data.glob("index.db*"):
        file.unlink()
    daemon.start()
    with daemon.client() as client:
        wait_until(lambda: client.call("status")["state"] == "ready", what="a whole index")
        assert not {FORGOTTEN, "d0/f0.txt"} & set(found(client, f"{FORGOTTEN_WORD} number0"))
