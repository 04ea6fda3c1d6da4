"""Another program, or a failing disk, interferes with the daemon's index.

Searches go on, nothing that could be lost is acknowledged, and data that the disk did not keep is not trusted
afterwards.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.daemon_template import only_sets
from helpers.fault_injection import injected, with_code
from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 30
PATIENT_S = 60.0  # on a loaded machine

# Short timeouts, so that the tests are short.
IMPATIENT = only_sets("from livedex_indexing.store import database\ndatabase.BUSY_MS = 500\n")

needs_strace = [
    pytest.mark.needs("strace"),
    pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's"),
]


@pytest.fixture
def daemon(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon(**with_code(tmp_path / "seam", IMPATIENT))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({f"f{number}.txt": f"some words and number{number}\n" for number in range(FILES)})
    add_root(client, tree)
    tree.write("edited.txt", "editedword\n")
    assert found(client, "editedword") == ["edited.txt"]  # the child that chunks edited files runs
    yield client


def assert_searched(client: Client, code: str) -> None:
    """All unchanged files are found, and the answer says that there may be more."""
    answer = client.call("search", {"query": "words", "limit": 100, "timeout_ms": 10_000})
    assert (answer["fresh"], answer["reason"]) == (False, "store")
    assert len(answer["hits"]) == FILES - 1, "all but the one that changed, whose old text is not shown"
    assert code in {warning["code"] for warning in answer["warnings"]}
    assert client.call("status")["state"] == "degraded"


def assert_refused(client: Client, tree: Tree) -> None:
    with pytest.raises(Unavailable) as error:
        client.call("files/delete", {"path": str(tree / "f1.txt")})
    assert error.value.code == 4 and "index.db" in error.value.message


def test_another_program_holds_the_lock(indexed: Client, tree: Tree, home: Home) -> None:
    with closing(sqlite3.connect(home.data / "index.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        tree.write("f0.txt", "changedword\n")
        wait_until(lambda: "store_busy" in codes(indexed), PATIENT_S, what="the warning")
        assert_searched(indexed, "store_busy")
        assert_refused(indexed, tree)
    wait_until(lambda: "store_busy" not in codes(indexed), PATIENT_S, what="health")
    assert found(indexed, "changedword") == ["f0.txt"]
    assert found(indexed, "number0") == []
    assert found(indexed, "number1") == ["f1.txt"], "what was refused was not done"
    assert "index_lost" not in home.logs()
    assert indexed.call("index/audit", {})["differences"] == []


def test_the_daemon_starts_while_another_program_holds_the_lock(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon
) -> None:
    daemon.stop()
    with closing(sqlite3.connect(home.data / "index.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        tree.write("f0.txt", "changedword\n")
        daemon.start()
        with daemon.client() as client:
            wait_until(lambda: "store_busy" in codes(client), PATIENT_S, what="the warning")
            assert [root["path"] for root in client.call("roots/list")["roots"]] == [str(tree)]
            assert_searched(client, "store_busy")
    with daemon.client() as client:
        wait_until(lambda: "store_busy" not in codes(client), PATIENT_S, what="health")
        assert found(client, "changedword") == ["f0.txt"]


@pytest.mark.parametrize(
    "call", [pytest.param("pread64", marks=needs_strace), pytest.param("fdatasync", marks=needs_strace)]
)
def test_the_disk_fails(indexed: Client, tree: Tree, home: Home, daemon: Daemon, call: str) -> None:
    index = home.data / "index.db"
    paths = [word for suffix in ("", "-wal") for word in ("-P", f"{index}{suffix}")]
    with injected(daemon, *paths, "-e", f"trace={call}", "-e", f"inject={call}:error=EIO"):
        tree.write("f0.txt", "changedword\n")
        with pytest.raises(Unavailable):  # the log is checkpointed into the file, and both are read
            indexed.call("index/audit", {})
        wait_until(lambda: "backend_unavailable" in codes(indexed), PATIENT_S, what="the warning")
        answer = indexed.call("search", {"query": "words", "limit": 100, "timeout_ms": 10_000})
        assert (answer["fresh"], answer["reason"]) == (False, "store")
        assert len(answer["hits"]) >= FILES - 1
        assert_refused(indexed, tree)
    wait_until(lambda: indexed.call("status")["state"] == "ready", PATIENT_S, what="health")
    assert found(indexed, "changedword") == ["f0.txt"]
    assert found(indexed, "number0") == []
    assert home.logs().count("index_rebuilt") == 1, "what was written before is not believed"
    assert indexed.call("index/audit", {})["differences"] == []


@pytest.mark.needs("strace")
@pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's")
def test_only_the_log_has_no_room(indexed: Client, tree: Tree, home: Home, daemon: Daemon) -> None:
    log = str(home.data / "index.db-wal")
    with injected(daemon, "-P", log, "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC"):
        tree.write("f0.txt", "changedword\n")
        wait_until(lambda: "disk_full" in codes(indexed), PATIENT_S, what="the warning")
        assert_searched(indexed, "disk_full")
    wait_until(lambda: "disk_full" not in codes(indexed), PATIENT_S, what="health")
    assert found(indexed, "changedword") == ["f0.txt"]
    assert indexed.call("index/audit", {})["differences"] == []
