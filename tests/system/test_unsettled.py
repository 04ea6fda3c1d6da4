"""Files and trees that change all the time: an answer always comes and says what it is."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found, running, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

SEARCHES = int(os.environ.get("LIVEDEX_CHURN_SEARCHES", "15"))
LATE_MS = 10_000  # the time that a busy machine may add to a deadline

# Inside the daemon: after each read of a file whose name asks for it, another program has written to it. So no
# reading succeeds by luck, however busy the machine is.
RESTLESS = """
import os, sys

if "livedex_daemon" in sys.orig_argv:
    real = os.pread

    def pread(fd, length, offset):
        data = real(fd, length, offset)
        try:
            name = os.readlink(f"/proc/self/fd/{fd}")
        except OSError:
            return data
        if os.path.exists(os.environ["CALM"]):
            pass
        elif name.endswith("restless.txt"):
            with open(name, "r+b", buffering=0) as file:
                file.seek(9)
                file.write(os.urandom(4).hex().encode())
        elif name.endswith("growing.log"):
            with open(name, "ab", buffering=0) as file:
                file.write(b"and on\\n")
        return data

    os.pread = pread
"""
TEXT = "restless " + "word " * 100 + "\n"

# About 5,000 events a second, of files that appear, change and disappear.
CHURN = """
import os, sys, time
number, began = 0, time.monotonic()
while True:
    for _ in range(100):
        number += 1
        path = f"{sys.argv[1]}/c{number % 500}"
        with open(path, "w") as file:  # create or truncate, open, write, close: three events
            file.write(f"churn {number}")
        if number % 2:
            os.rename(path, path + "r")
        else:
            os.unlink(path)
    time.sleep(max(0, began + number * 5 / 5000 - time.monotonic()))
"""


@pytest.fixture
def restless(tmp_path: Path, tree: Tree, start_daemon: Callable[..., Daemon]) -> Iterator[Client]:
    """A client of a daemon for which ``d/restless.txt`` changes whenever it is read."""
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    tree.write("d/restless.txt", TEXT)
    tree.write("calm.txt", "calmword\n")
    with start_daemon(**with_code(tmp_path / "seam", RESTLESS), CALM=str(tmp_path / "calm")).client() as client:
        client.call("roots/add", {"path": str(tree)})
        wait_until(lambda: reason(client) == "unsettled", what="an answer that says so")
        yield client
        (tmp_path / "calm").touch()  # so that the daemon's health can be checked at the end


def reason(client: Client) -> str | None:
    answer: dict[str, str] = client.call("search", {"query": "restless", "timeout_ms": 60_000})
    return answer.get("reason")


def test_a_file_that_never_holds_still(restless: Client, tree: Tree) -> None:
    """No search waits for it until the deadline, which would be another reason."""
    for number in range(10):
        word = f"calmword{number}x"
        tree.write("calm.txt", f"{word}\n")
        answer = restless.call("search", {"query": word, "timeout_ms": 60_000})
        assert [hit["relative_path"] for hit in answer["hits"]] == ["calm.txt"], "others are not held up"
        assert (answer["fresh"], answer["reason"]) == (False, "unsettled")
        assert answer["pending"]
        elsewhere = restless.call("search", {"query": word, "path": str(tree / "calm.txt"), "timeout_ms": 60_000})
        assert elsewhere["fresh"], "whoever does not ask for it is not reported of it"
    assert restless.call("search", {"query": "restless", "timeout_ms": 60_000})["hits"] == []
    tree.rename("d/restless.txt", "d/calmed.txt")
    assert found(restless, "restless") == ["d/calmed.txt"]


def test_a_sync_waits_until_it_holds_still(restless: Client, tmp_path: Path) -> None:
    assert not restless.call("sync", {"timeout_ms": 300})["synced"], "it keeps its timeout"
    with ThreadPoolExecutor() as threads:
        synced = threads.submit(restless.call, "sync", {"timeout_ms": 60_000})
        with pytest.raises(TimeoutError):
            synced.result(timeout=1.5)  # one check of such files takes a second
        (tmp_path / "calm").touch()
        assert synced.result()["synced"]
    assert found(restless, "restless") == ["d/restless.txt"]


def test_a_run_lists_it_as_failed_and_counts_the_others(restless: Client, tree: Tree) -> None:
    run = restless.call("index/run", {"force": True}, timeout_s=60)
    (failed,) = run["failed"]
    assert (failed["path"], failed["stage"]) == (str(tree / "d/restless.txt"), "unsettled")
    assert "tries again" in failed["message"]
    counted = (run["indexed"], run["unchanged"], run["skipped"], run["removed"], len(run["failed"]))
    assert (run["scanned"], sum(counted)) == (2, 2)


def test_its_last_good_rows_are_kept(restless: Client, tree: Tree, tmp_path: Path) -> None:
    """For a file that was read in one state before; but a hit is served only while its text is there."""
    (tmp_path / "calm").touch()
    wait_until(lambda: found(restless, "restless") == ["d/restless.txt"], what="the file in one state")
    (row,) = restless.call("files/list", {"path": str(tree / "d")})["files"]
    (tmp_path / "calm").unlink()
    tree.write("d/restless.txt", TEXT + "more\n")
    assert reason(restless) == "unsettled"
    (kept,) = restless.call("files/list", {"path": str(tree / "d"), "fresh": False})["files"]
    assert (kept["status"], kept["content_hash"]) == ("indexed", row["content_hash"])
    answer = restless.call("search", {"query": "restless", "timeout_ms": 60_000})
    assert (answer["hits"], answer["reason"]) == ([], "unsettled")


@pytest.mark.parametrize("goes", ["removed", "ignored", "with its folder"])
def test_a_restless_file_that_goes_is_waited_for_no_more(restless: Client, tree: Tree, goes: str) -> None:
    act: dict[str, Callable[[], object]] = {
        "removed": lambda: tree.remove("d/restless.txt"),
        "ignored": lambda: tree.write(".gitignore", "restless*\n"),
        "with its folder": lambda: tree.rename("d", "../elsewhere"),
    }
    act[goes]()
    wait_until(lambda: restless.call("search", {"query": "restless"})["fresh"], what="a fresh answer")
    assert found(restless, "restless") == []
    wait_until(lambda: restless.call("status")["pending"] == 0, what="nothing pending")


def test_a_log_that_always_grows(restless: Client, tree: Tree) -> None:
    """Its lines are found as soon as they are written, though it is longer at each read."""
    for number in range(10):
        with (tree / "growing.log").open("a") as log:
            log.write(f"logword{number}\n")
        for mode in ("keyword", "exact"):
            asked = {"query": f"logword{number}", "mode": mode, "path": str(tree / "growing.log")}
            answer = restless.call("search", {**asked, "timeout_ms": 60_000})
            assert answer["fresh"], answer
            (hit,) = answer["hits"]
            assert f"logword{number}" in hit["snippet"]
    text = restless.call("files/retrieve", {"path": str(tree / "growing.log")})
    assert text["fresh"] and "logword0\n" in text["chunks"][0]["text"]


def test_a_tree_that_never_holds_still(client: Client, tree: Tree) -> None:
    tree.mkdir("churn")
    add_root(client, tree)
    with running(CHURN, str(tree / "churn")):
        fresh = 0
        for number in range(SEARCHES):
            tree.write("mine.txt", f"mineword{number}\n")
            answer = client.call("search", {"query": f"mineword{number}", "timeout_ms": 300})
            assert answer["took_ms"] < 300 + LATE_MS
            assert not answer["fresh"] or [hit["relative_path"] for hit in answer["hits"]] == ["mine.txt"]
            assert answer["fresh"] or answer["reason"] in ("deadline", "recovering", "unsettled")
            fresh += answer["fresh"]
            mine = client.call("search", {"query": f"mineword{number}", "path": str(tree / "mine.txt")})
            assert mine["took_ms"] < 1000 + LATE_MS
        print(f"{fresh} of {SEARCHES} fresh")
    tree.write("last.txt", "lastword\n")
    assert found(client, "lastword") == ["last.txt"]
    wait_until(lambda: client.call("index/audit", {})["differences"] == [], what="the index equal to the disk")
