"""Checkouts that change much of a tree, repeatedly, while searches run: in the end the index equals a new one."""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.support import SHARE, Daemon, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = int(os.environ.get("LIVEDEX_CHECKOUT_FILES", "150"))
TIMES = int(os.environ.get("LIVEDEX_CHECKOUTS", "2"))
WORDS = 60  # searched for in turn
ROUNDS = math.ceil(3 * min(SHARE, 1))  # of all of them, at least, while nothing happens
BRANCHES = ("main", "other")


def text(branch: str, number: int) -> str:
    words = " ".join(f"common{number % 50 + step}x" for step in range(40))
    return f"branch{branch} {words} file{number}\nsame words in each\n"


def repository(tree: Tree) -> None:
    """Two branches that differ in every file."""
    tree.git("init", "-q", "-b", BRANCHES[0])
    for branch in BRANCHES:
        if branch != BRANCHES[0]:
            tree.git("checkout", "-qb", branch)
        tree.write_all({f"d{number % 100}/f{number}.txt": text(branch, number) for number in range(FILES)})
        tree.git("add", ".")
        tree.git("commit", "-qm", branch)


class Searches:
    """Searches that do not wait for freshness, one after the other inside each ``with``; their durations in
    milliseconds.
    """

    def __init__(self, daemon: Daemon) -> None:
        self.took: list[float] = []
        self._daemon = daemon
        self._ended = threading.Event()

    def _run(self) -> None:
        number = 0
        with self._daemon.client() as client:
            while not self._ended.is_set():
                number += 1
                began = time.monotonic()
                answer = client.call("search", {"query": f"common{number % WORDS}x branch", "fresh": False})
                self.took.append((time.monotonic() - began) * 1000)
                for hit in answer["hits"]:
                    assert "same words" in hit["snippet"] or "common" in hit["snippet"]
                self._ended.wait(0.01)

    def __enter__(self) -> Searches:
        self._ended.clear()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def p95(self) -> float:
        return sorted(self.took)[len(self.took) * 95 // 100]


def contents(client: Client) -> dict[str, Any]:
    """Return the indexed state of every file, however it was indexed."""
    held: dict[str, Any] = {}
    while True:
        page = client.call("files/list", {"limit": 10_000, "offset": len(held), "timeout_ms": 300_000})
        assert page["fresh"]
        for file in page["files"]:
            path = os.sep.join(Path(file["path"]).parts[-2:])
            held[path] = (file["status"], file["size"], file["chunks"], file["content_hash"])
        if len(held) >= page["total"]:
            return held


@pytest.mark.needs("git")
@pytest.mark.timeout(3600)
def test_checkouts_while_searches_run(daemon: Daemon, client: Client, tree: Tree) -> None:
    repository(tree)
    add_root(client, tree, timeout=600)
    with Searches(daemon) as idle:
        wait_until(lambda: len(idle.took) >= ROUNDS * WORDS, timeout=120)
    busy, audited = Searches(daemon), Searches(daemon)
    for number in range(TIMES):
        branch = BRANCHES[number % 2]
        with busy:
            tree.git("checkout", "-q", branch)
            path = f"d{7 % 100}/f7.txt"
            assert found(client, f"branch{branch}", path=str(tree / path)) == [path]
            answer = client.call("search", {"query": f"branch{BRANCHES[1 - number % 2]}", "timeout_ms": 300_000})
            assert (answer["fresh"], answer["hits"]) == (True, [])
        with audited:
            assert client.call("index/audit", {})["differences"] == [], "as an index built from nothing would be"
    with Searches(daemon) as after:  # by now the index has the contents of both branches
        wait_until(lambda: len(after.took) >= ROUNDS * WORDS, timeout=120)
    reported = ", ".join(
        f"{what} {searches.p95():.1f} ms ({len(searches.took)})"
        for what, searches in (
            ("idle before", idle),
            ("during checkouts", busy),
            ("during audits", audited),
            ("idle after", after),
        )
    )
    print(f"p95 of searches: {reported}", file=sys.stderr)
    assert client.call("status")["work"]["files_chunked"] <= 2 * FILES, "going back chunks nothing"
    held = contents(client)
    other = Tree(tree.path.parent / "built again")
    tree.path.rename(other.path / "root")
    client.call("roots/remove", {"path": str(tree)})
    add_root(client, other, timeout=600)
    assert contents(client) == held
