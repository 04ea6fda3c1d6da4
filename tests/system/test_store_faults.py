"""The index file is lost, replaced or damaged under a running daemon, and heals without help."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.forgotten_file import FORGOTTEN_WORD, index_and_forget
from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_indexing.store.database import SCHEMA_VERSION
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 30  # one child cuts them
NOTICED_S = 10.0  # the promise
QUERIES: dict[str, dict[str, Any]] = {"search": {"query": "words", "limit": 100}, "search/files": {"query": "words"}}
FLIPPED_STARTS = int(os.environ.get("LIVEDEX_FLIPPED_STARTS", "3"))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    index_and_forget(client, tree, [f"d{number % 4}" for number in range(FILES)])
    yield client


def delete(index: Path) -> None:
    for path in index.parent.glob("index.db*"):
        if path.is_file():
            path.unlink(missing_ok=True)


def delete_alone(index: Path) -> None:
    index.unlink()


def delete_the_log(index: Path) -> None:
    index.with_name("index.db-wal").unlink()


def remove_the_folder(index: Path) -> None:
    shutil.rmtree(index.parent)


def an_older_copy(index: Path) -> None:
    with closing(sqlite3.connect(index)) as old, closing(sqlite3.connect(index.with_name("copy"))) as copy, old, copy:
        old.backup(copy)
        copy.execute("DELETE FROM files")
        copy.commit()
    os.replace(index.with_name("copy"), index)


def a_foreign_database(index: Path) -> None:
    with closing(sqlite3.connect(index.with_name("foreign"))) as foreign, foreign:
        foreign.execute("CREATE TABLE t (a)")
    os.replace(index.with_name("foreign"), index)


def a_text(index: Path) -> None:
    index.with_name("text").write_text("not a database\n" * 1000)
    os.replace(index.with_name("text"), index)


def a_word_over_it(index: Path) -> None:
    index.write_text("theirs\n")


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
    """Checkpoint everything into the file itself, so that damage to it affects indexed data."""
    with closing(sqlite3.connect(index)) as db, db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def is_whole(home: Home, daemon: Daemon) -> bool:
    with daemon.client() as client:
        status = client.call("status")
    return bool(status["state"] == "ready" and status["files"] == FILES and (home.data / "index.db").exists())


@pytest.mark.ticks_often
@pytest.mark.parametrize("lose", LOSSES, ids=lambda lose: lose.__name__)
def test_a_lost_index_is_rebuilt(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon, lose: Callable[[Path], None]
) -> None:
    index = home.data / "index.db"
    checkpoint(index)
    before = home.logs().count("index_lost")
    generation = indexed.call("status")["generation"]
    with daemon.paused():
        lose(index)
    if lose is garbage_after_the_header:  # only reading shows it
        indexed.call("search", {"query": "words", "fresh": False})
    wait_until(lambda: home.logs().count("index_lost") > before, what="the loss being noticed")
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    assert len(found(indexed, "words")) == FILES
    assert found(indexed, FORGOTTEN_WORD) == [], "what was forgotten stays so"
    assert indexed.call("status")["generation"] > generation
    tree.write("d0/f0.txt", "anotherword\n")
    assert found(indexed, "anotherword") == ["d0/f0.txt"]
    assert found(indexed, "number0") == []
    assert home.logs().count("index_lost") == before + 1, "one rebuild is enough"
    daemon.restart()
    with daemon.client() as again:
        assert len(found(again, "some")) == FILES - 1
        assert found(again, FORGOTTEN_WORD) == []


def test_marks_outlive_the_folder_they_lay_in(indexed: Client, home: Home, daemon: Daemon) -> None:
    before = home.logs().count("index_lost")
    remove_the_folder(home.data / "index.db")
    wait_until(lambda: home.logs().count("index_lost") > before, NOTICED_S, what="the loss being noticed")
    wait_until((home.data / "forgotten.db").exists, what="the marks being written again")
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    daemon.stop()
    delete(home.data / "index.db")
    daemon.start()
    with daemon.client() as again:
        wait_until(lambda: is_whole(home, daemon), what="a whole index")
        assert found(again, FORGOTTEN_WORD) == []


@pytest.mark.ticks_often
@pytest.mark.parametrize("at_start", [True, False], ids=["at a start", "while it runs"])
def test_a_lost_index_without_a_root_is_whole_at_once(home: Home, daemon: Daemon, at_start: bool) -> None:
    before = home.logs().count("index_")
    with daemon.paused() if not at_start else nullcontext():
        if at_start:
            daemon.stop()
        a_text(home.data / "index.db")
    if at_start:
        daemon.start()
    wait_until(lambda: home.logs().count("index_") > before, NOTICED_S, what="the loss being noticed")
    with daemon.client() as client:
        wait_until(lambda: client.call("status")["state"] == "ready", what="a whole index")
        assert client.call("search", {"query": "words"})["fresh"]


@pytest.mark.ticks_often
def test_a_root_that_goes_does_not_hold_a_rebuild_up(indexed: Client, tree: Tree, home: Home, daemon: Daemon) -> None:
    before = home.logs().count("index_lost")
    with daemon.paused():
        a_text(home.data / "index.db")
        os.rename(tree.path, tree.path.with_name("away"))
    wait_until(lambda: home.logs().count("index_lost") > before, NOTICED_S, what="the loss being noticed")
    wait_until(lambda: codes(indexed) == {"root_missing"}, what="the rebuild's end")


def test_meanwhile_it_answers_and_reports_its_state(client: Client, tree: Tree, home: Home) -> None:
    many = 1500
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
    assert len(found(client, "path:d7/")) == len(range(7, many, 40))


START_LOSSES = [
    truncate_to_nothing,
    truncate,
    garbage_at_the_start,
    garbage_after_the_header,
    a_foreign_database,
    a_text,
]


def test_a_start_with_a_damaged_index(indexed: Client, home: Home, daemon: Daemon) -> None:
    for lose in START_LOSSES:
        daemon.stop()
        lose(home.data / "index.db")
        daemon.start()
        with daemon.client() as again:
            wait_until(lambda: is_whole(home, daemon), what=f"a whole index after {lose.__name__}")
            assert len(found(again, "words")) == FILES, lose.__name__
            assert found(again, FORGOTTEN_WORD) == [], lose.__name__


def a_folder(index: Path) -> None:
    """Put another user's folder in the place of the index, with a file in it."""
    delete(index)
    (index / "inside").mkdir(parents=True)
    (index / "inside" / "precious").write_text("precious\n")


def test_a_folder_in_the_place_of_the_index_is_kept(indexed: Client, home: Home, daemon: Daemon) -> None:
    index = home.data / "index.db"
    for number in range(3):
        before = home.logs().count("index_rebuilt")
        a_folder(index)
        indexed.call("index/audit", {})  # else it takes up to ten seconds to be noticed
        wait_until(lambda: home.logs().count("index_rebuilt") > before, what="a new index")  # noqa: B023
        assert index.is_file()
        assert len(found(indexed, "words")) == FILES
        assert len(list(home.data.glob("index.db.aside*/inside/precious"))) == number + 1
    assert home.logs().count("folder_put_aside") == 3
    daemon.stop()
    delete(index)
    a_folder(index)
    (home.data / "index.db.damaged").mkdir()  # as an earlier livedex left one
    daemon.start()
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    before = home.logs().count("index_rebuilt")
    garbage_at_the_start(index)
    with daemon.client() as again:
        again.call("index/audit", {})
    wait_until(lambda: home.logs().count("index_rebuilt") > before, what="later damage healed")
    assert is_whole(home, daemon)


@pytest.mark.ticks_often
def test_a_file_of_another_program_is_kept(indexed: Client, tree: Tree, home: Home, daemon: Daemon) -> None:
    """The log of the lost index does not go with it: it may have words of forgotten files."""
    for number, put in enumerate((a_foreign_database, a_text, a_word_over_it), start=1):
        tree.write(f"new{number}.txt", "wordinthelog\n")
        assert found(indexed, "wordinthelog")
        before = home.logs().count("index_rebuilt")
        with daemon.paused():
            put(home.data / "index.db")
            content = (home.data / "index.db").read_bytes()
        wait_until(lambda: home.logs().count("index_rebuilt") > before, what="a new index")  # noqa: B023
        assert (home.data / f"index.db.aside.{number}").read_bytes() == content
        wait_until(lambda: len(list(home.data.glob("index.db.*"))) == number, what="nothing else")  # noqa: B023
        assert len(found(indexed, "words")) == FILES


@pytest.mark.parametrize("lose", [delete, delete_alone, a_folder, remove_the_folder], ids=lambda lose: lose.__name__)
def test_an_audit_of_a_lost_index(indexed: Client, home: Home, lose: Callable[[Path], None]) -> None:
    """The audit notices the loss first: it reports it, and a new index is started at once."""
    index = home.data / "index.db"
    for losses, repair in enumerate((False, True), start=1):
        lose(index)
        said = indexed.call("index/audit", {"repair": repair})
        assert home.logs().count("index_lost") == losses, "noticed by this audit, not by the next look"
        assert said["differences"] == [{"path": str(index), "what": "damaged"}]
        assert said["repaired"] == int(repair)
        wait_until(lambda: home.logs().count("index_rebuilt") == losses, what="a new index")  # noqa: B023
        assert home.logs().count("index_lost") == losses
        assert indexed.call("index/audit", {})["differences"] == []
        assert len(found(indexed, "words")) == FILES


@pytest.mark.parametrize("method", ["search", "search/files", "files/list", "files/find"])
def test_an_answer_from_a_new_index_is_not_fresh_before_it_is_whole(indexed: Client, home: Home, method: str) -> None:
    """The request itself finds the damage, after it waited for earlier changes, and is answered from the new file."""
    index = home.data / "index.db"
    checkpoint(index)
    garbage_after_the_header(index)
    answer = indexed.call(method, {"query": "d"} if method == "files/find" else QUERIES.get(method, {}))
    complete = len(answer["hits" if method == "search" else "files"]) >= FILES
    assert complete or (answer["fresh"], answer["reason"]) == (False, "rebuilding"), answer
    assert home.logs().count("index_lost") == 1, "it was this request"


def test_shared_memory_cut_short_costs_a_restart_and_nothing_else(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon
) -> None:
    """SQLite maps `index.db-shm`, so the kernel ends the daemon; the next client starts another one."""
    os.truncate(home.data / "index.db-shm", 0)
    tree.write("d0/f0.txt", "anotherword\n")
    with pytest.raises(Unavailable, match="the daemon closed the connection before it answered search: ask again"):
        indexed.call("search", {"query": "anotherword"})
    wait_until(lambda: not daemon.running(), what="the end of the daemon")
    answer = home.run_json("search", "anotherword", "--timeout", "20")
    assert (answer["fresh"], [hit["relative_path"] for hit in answer["hits"]]) == (True, ["d0/f0.txt"])
    with daemon.client() as again:
        assert len(found(again, "words")) == FILES - 1
        assert found(again, FORGOTTEN_WORD) == []
        assert again.call("index/audit", {})["differences"] == []
        assert codes(again) == set()


def damage_the_table(index: Path, name: str) -> None:
    """Make the first page of a table unreadable for SQLite."""
    with closing(sqlite3.connect(index)) as db, db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [name]).fetchone()
    with index.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 64)


def test_a_start_whose_roots_cannot_be_read(indexed: Client, home: Home, daemon: Daemon) -> None:
    """The file opens; the damage is found while the roots of the configuration are applied."""
    daemon.stop()
    damage_the_table(home.data / "index.db", "roots")
    daemon.start()
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    with daemon.client() as again:
        assert len(found(again, "words")) == FILES
        assert found(again, FORGOTTEN_WORD) == []


def test_a_repair_takes_damage_as_a_finding(indexed: Client, home: Home) -> None:
    index = home.data / "index.db"
    checkpoint(index)
    damage_the_table(index, "state")
    # Another program's commit: the daemon drops its cache and reads again.
    with closing(sqlite3.connect(index)) as db, db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    said = indexed.call("index/audit", {"repair": True})
    assert {"path": str(index), "what": "damaged"} in said["differences"]
    assert said["repaired"] == len(said["differences"])
    assert indexed.call("index/audit", {})["differences"] == []


@pytest.mark.timeout(30 + 12 * FLIPPED_STARTS)
def test_starts_with_flipped_bits(indexed: Client, home: Home, daemon: Daemon) -> None:
    for seed in range(FLIPPED_STARTS):
        daemon.stop()
        flip_bits(home.data / "index.db", 40, seed)
        daemon.start()
        with daemon.client() as again:
            said = again.call("index/audit", {"repair": True})
            assert said["repaired"] == len(said["differences"]), seed
            wait_until(lambda: is_whole(home, daemon), what="a whole index")
            assert len(found(again, "words")) == FILES
            assert found(again, FORGOTTEN_WORD) == []


def flip_bits(index: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    size = index.stat().st_size
    with index.open("r+b") as file:
        for _ in range(count):
            at = chance.randrange(size)
            file.seek(at)
            byte = file.read(1)[0]
            file.seek(at)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))


def test_a_start_with_an_index_of_a_newer_livedex(indexed: Client, home: Home, daemon: Daemon) -> None:
    daemon.stop()
    with closing(sqlite3.connect(home.data / "index.db")) as index, index:
        index.execute("PRAGMA user_version = 9999")
    newer = (home.data / "index.db").read_bytes()
    daemon.start()
    wait_until(lambda: is_whole(home, daemon), what="a whole index")
    assert (home.data / "index.db.aside").read_bytes() == newer, "its bytes are left as they are"
