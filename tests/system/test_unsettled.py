"""Files that never hold still, and trees that never do: an answer always comes and says what it is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest

from support import Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

SEARCHES = int(os.environ.get("LIVEDEX_CHURN_SEARCHES", "60"))
LATE_MS = 1000  # what a machine busy with other tests may add to a deadline

# Changes a file in place without a pause. It is so long that no reading of it falls between two ticks of the clock
# that files are stamped with.
RESTLESS = """
import os, sys
file = os.open(sys.argv[1], os.O_RDWR)
place = 0
while True:
    place = (place + 65_537) % 7_000_000
    os.pwrite(file, b"ab"[place % 2 :][:1], 100 + place)
"""
LONG = "restless\n" + "word " * 1_500_000

# About 5,000 events a second, of files that come, change and go.
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


@contextmanager
def running(script: str, *words: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-c", script, *words])
    try:
        yield
        assert process.poll() is None, "it was to run all the time"
    finally:
        process.kill()
        process.wait()


def reason(client: Client) -> str | None:
    answer: dict[str, str] = client.call("search", {"query": "restless", "timeout_ms": 5000})
    return answer.get("reason")


def test_a_file_that_never_holds_still(client: Client, tree: Tree) -> None:
    path = tree.write("restless.txt", LONG)
    tree.write("calm.txt", "calmword\n")
    add_root(client, tree)
    with running(RESTLESS, str(path)):
        wait_until(lambda: reason(client) == "unsettled", what="an answer that says so")
        waits: list[float] = []
        numbers = count()

        def is_proven() -> bool:
            word = f"calmword{next(numbers)}x"
            tree.write("calm.txt", f"{word}\n")
            answer = client.call("search", {"query": word, "timeout_ms": 9000})
            assert [hit["relative_path"] for hit in answer["hits"]] == ["calm.txt"], "others are not held up"
            if not answer["fresh"]:  # a reading may succeed by luck; then its text is waited for
                assert answer["reason"] == "unsettled" and answer["pending"]
                waits.append(answer["took_ms"])
            elsewhere = client.call("search", {"query": word, "path": str(tree / "calm.txt"), "timeout_ms": 9000})
            assert elsewhere["fresh"], "whoever does not ask for it is not told of it"
            return len(waits) >= 10

        wait_until(is_proven, 90, what="ten such answers")
        assert sorted(waits)[len(waits) // 2] < 50 + LATE_MS, waits
    path.write_text("restless ddd\n")
    wait_until(lambda: client.call("search", {"query": "ddd"})["fresh"], what="a settled file")
    assert found(client, "ddd") == ["restless.txt"]


@pytest.mark.parametrize("goes", ["removed", "ignored", "with its folder"])
def test_a_restless_file_that_goes_is_waited_for_no_more(client: Client, tree: Tree, goes: str) -> None:
    path = tree.write("d/restless.txt", LONG)
    add_root(client, tree)
    with running(RESTLESS, str(path)):
        wait_until(lambda: reason(client) == "unsettled", what="an answer that says so")
        act: dict[str, Callable[[], object]] = {
            "removed": lambda: tree.remove("d/restless.txt"),
            "ignored": lambda: tree.write(".gitignore", "restless*\n"),
            "with its folder": lambda: tree.rename("d", "../elsewhere"),
        }
        act[goes]()
        wait_until(lambda: client.call("search", {"query": "restless"})["fresh"], what="a fresh answer")
        assert found(client, "restless") == []
    wait_until(lambda: client.call("status")["pending"] == 0, what="nothing pending")


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
