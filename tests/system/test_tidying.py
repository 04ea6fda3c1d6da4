"""After a while without changes, removed data is physically gone, and changed bytes are noticed."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from helpers.daemon_template import only_sets
from helpers.fault_injection import TICKS_OFTEN, with_code
from helpers.support import Daemon, Home, Tree, add_root, found, wait_ready, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

# The daemon's own maintenance, sooner: it waits for 20 s of quiet, and looks every 30 s.
SOON = only_sets("""
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.upkeep import idle_maintenance, schedule
    schedule.MAINTAIN_EVERY_S, idle_maintenance.QUIET_S, idle_maintenance.AGAIN_S = 0.3, 0.3, 0.01
    release = idle_maintenance.memory.release

    def reported():
        release()
        idle_maintenance.log.info("tidied")

    idle_maintenance.memory.release = reported  # the last thing that a run does
""")

EACH_SECOND = only_sets(
    SOON
    + """
    from livedex_daemon.index_file import opener
    idle_maintenance.RUN_AGAIN_S = opener.KEEP_S = 1.0
"""
)


@pytest.fixture
def daemon(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon(**with_code(tmp_path / "seam", SOON))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({f"f{number}.txt": f"some words and number{number}\n" * 30 for number in range(200)})
    add_root(client, tree)
    yield client


def held(home: Home) -> bytes:
    """Return every byte of every file of livedex, except the forgotten files and the configuration."""
    files = [path for path in home.path.rglob("*") if path.is_file() and "forgotten" not in path.name]
    return b"".join(path.read_bytes() for path in files if path != home.config)


def change_some(index: Path) -> None:
    """Change a byte in several pages, one that SQLite does not use: only the page's checksum shows it."""
    pages = os.path.getsize(index) // 4096
    with index.open("r+b") as file:
        for page in range(2, pages, max(1, pages // 8)):  # some of them may be written again before the check
            file.seek(page * 4096 - 1)
            file.write(b"\xff")


def test_what_is_forgotten_or_shut_out_is_physically_gone(
    indexed: Client, tree: Tree, home: Home, tmp_path: Path
) -> None:
    other = Tree(tmp_path / "other")
    other.write("jackdawname.txt", "kestrelword\n")
    tree.write("forgotten.txt", "lapwingword\n")
    tree.write("magpiename/ignored.txt", "nightjarword\n")
    add_root(indexed, other)
    words = ("kestrelword", "lapwingword", "nightjarword")
    assert all(found(indexed, word) for word in words)
    # The index omits the beginning that a word shares with the one before it.
    canaries = [b"ackdawnam", b"estrelword", b"apwingword", b"agpienam", b"ightjarword"]
    assert [canary for canary in canaries if canary not in held(home)] == []
    assert indexed.call("files/delete", {"path": str(tree / "forgotten.txt")}) == {"deleted": 1}
    tree.write(".gitignore", "magpiename\n")
    indexed.call("roots/remove", {"path": str(other)})
    assert not any(found(indexed, word) for word in words)
    wait_until(lambda: not any(canary in held(home) for canary in canaries), what="the words being gone")
    assert os.path.getsize(home.data / "index.db-wal") == 0
    assert len(found(indexed, "some")) == 200


def test_the_log_is_emptied_once_no_reader_needs_it(indexed: Client, tree: Tree, home: Home) -> None:
    """Another program reads the index with a SQL tool and keeps it open: the log can only grow meanwhile."""
    log = home.data / "index.db-wal"
    with closing(sqlite3.connect(f"file:{home.data / 'index.db'}?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM files").fetchone() == (200,)
        looked = home.logs().count("tidied")
        tree.write("later.txt", "laterword\n")
        assert found(indexed, "laterword") == ["later.txt"]
        wait_until(lambda: home.logs().count("tidied") > looked, 60, what="the maintenance")
        assert log.stat().st_size > 0
        assert reader.execute("SELECT count(*) FROM files").fetchone() == (200,), "what it reads is one state"
        assert indexed.call("status")["state"] == "ready"
    wait_until(lambda: log.stat().st_size == 0, 60, what="the log being emptied")
    assert found(indexed, "laterword") == ["later.txt"]


def test_maintenance_comes_again_though_nothing_changes(
    tmp_path: Path, start_daemon: Callable[..., Daemon], tree: Tree, home: Home
) -> None:
    """Once a day, a second here: what was removed or put aside waits for that, and nothing else may ever change."""
    with start_daemon(**with_code(tmp_path / "seam", EACH_SECOND)).client() as client:
        tree.write("a.txt", "some words\n")
        add_root(client, tree)
        wait_until(lambda: "tidied" in home.logs(), what="the first maintenance, which begins some time after a commit")
        (home.data / "index.db.aside").write_bytes(b"of a newer livedex")

        def comes_again() -> bool:
            """Wait for the maintenance twice; return whether there was no commit meanwhile."""
            generation, times = client.call("status")["generation"], home.logs().count("tidied")
            wait_until(lambda: home.logs().count("tidied") >= times + 2, what="the maintenance, twice")
            return bool(client.call("status")["generation"] == generation)

        wait_until(comes_again, what="maintenance without a commit")
        wait_until(lambda: not (home.data / "index.db.aside").exists(), what="its end")


def test_a_changed_byte_is_noticed_without_an_audit(indexed: Client, tree: Tree, home: Home) -> None:
    index = home.data / "index.db"
    tree.write("f0.txt", "changedword\n")
    assert found(indexed, "changedword") == ["f0.txt"]
    wait_until(lambda: os.path.getsize(f"{index}-wal") == 0, what="the log being folded in")
    change_some(index)
    tree.write("f1.txt", "changedtoo\n")  # maintenance follows a change
    wait_until(lambda: "index_bytes_changed" in home.logs(), what="the byte being noticed")
    wait_until(lambda: "index_rebuilt" in home.logs(), what="another index")
    wait_ready(indexed)
    assert indexed.call("index/audit", {})["differences"] == []
    assert len(found(indexed, "some")) == 198
    wait_until(lambda: not list(home.data.glob("index.db.damaged*")), what="the damaged one being removed")


def test_what_bulk_work_left_in_pieces_is_merged_at_once(
    tmp_path: Path, start_daemon: Callable[..., Daemon], tree: Tree, home: Home
) -> None:
    """Maintenance itself would not begin for 20 s."""
    with start_daemon(**with_code(tmp_path / "seam", TICKS_OFTEN)).client() as client:
        add_root(client, tree)
        for number in range(14):  # each a commit, and so a piece
            tree.write(f"f{number}.txt", f"some words and number{number}\n" * 30)
            client.call("sync")
        wait_until(lambda: pieces(home.data / "index.db") == 1, what="one piece")
        assert len(found(client, "some")) == 14


def pieces(index: Path) -> int:
    with closing(apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)) as db:
        return int(db.execute("SELECT count(DISTINCT segid) FROM postings_idx").get)


def test_searches_go_on_over_what_is_left_of_a_damaged_index(client: Client, tree: Tree, home: Home) -> None:
    many = 1500
    tree.write_all({f"d{number % 30}/f{number}.txt": f"some words and number{number}\n" for number in range(many)})
    add_root(client, tree)
    index = home.data / "index.db"
    wait_until(lambda: os.path.getsize(f"{index}-wal") == 0, what="the log being folded in")
    kept: list[bool] = []
    shut: list[bool] = []

    def is_rebuilt() -> bool:
        for word, answers in (("number1499", kept), ("number1490", shut)):
            answers.append(bool(client.call("search", {"query": word, "fresh": False})["hits"]))
        return "index_rebuilt" in home.logs()

    change_some(index)
    tree.write("d0/f0.txt", "changedword\n")
    wait_until(lambda: "index_lost" in home.logs(), what="the damage being noticed")
    tree.write(".gitignore", "f1490.txt\n")
    wait_until(is_rebuilt, 60, what="the rebuilt index")
    assert all(kept), "found all the time"
    assert not any(shut[shut.index(False) :]), "what is shut out now is not served from what is left either"
