"""The kernel's event queue overflows: noticed at once, reported, and healed by comparing, without a storm of walks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.support import Daemon, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

CREATED = int(os.environ.get("LIVEDEX_OVERFLOW", "2000"))  # the events of the first half have room in the queue
DELETED, FOLDERS = 1_000, 40
AT_ONCE = 50  # words in one query


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    for number in range(DELETED):
        tree.write(f"old/f{number}.txt", f"goneword {number}\n")
    for number in range(FOLDERS):
        tree.mkdir(f"d{number}")
    add_root(client, tree)
    yield client


def word(number: int) -> str:
    """Return a word of letters alone: a number in it would be found by itself too."""
    return "qz" + "".join(chr(ord("a") + int(digit)) for digit in str(number)) + "qz"


def the_root(client: Client) -> dict[str, Any]:
    (root,) = client.call("roots/list")["roots"]
    assert isinstance(root, dict)
    return root


@pytest.mark.timeout(900)
def test_everything_is_found_after_an_overflow(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    assert len(found(indexed, "goneword")) == DELETED
    daemon.pause()
    for number in range(CREATED):
        if number == CREATED // 2:
            overflow(tree)
        (tree / f"d{number % FOLDERS}/n{number}.txt").write_text(f"newword {word(number)}\n")
    for number in range(DELETED):
        (tree / f"old/f{number}.txt").unlink()
    daemon.resume()
    root = wait_until(lambda: (seen := the_root(indexed))["overflows"] and seen, what="noticing the overflow")
    assert root["state"] == "recovering"
    early = indexed.call("search", {"query": "newword", "timeout_ms": 50})
    assert (early["fresh"], early["reason"]) == (False, "recovering")
    answer = indexed.call("search", {"query": "goneword", "timeout_ms": 200_000})
    assert answer["fresh"] and answer["hits"] == []
    assert indexed.call("files/list", {"limit": 1})["total"] == CREATED
    for first in range(0, CREATED, AT_ONCE):
        asked = range(first, min(CREATED, first + AT_ONCE))
        paths = {f"d{number % FOLDERS}/n{number}.txt" for number in asked}
        assert set(found(indexed, " ".join(word(number) for number in asked))) == paths
    assert the_root(indexed)["state"] == "online"


def overflow(tree: Tree) -> None:
    """Cause more events than the kernel's queue has room for, of two files in turn, because equal ones in a row are
    merged.
    """
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())):  # twice: some may be read still
        os.utime(tree / "old/f0.txt")
        os.utime(tree / "old/f1.txt")


def test_overflow_during_the_repair_is_one_more_pass(indexed: Client, tree: Tree, daemon: Daemon) -> None:
    rounds = 6
    passes = {the_root(indexed)["last_reconciled"]}
    for number in range(rounds):
        daemon.pause()
        overflow(tree)
        tree.write(f"more/f{number}.txt", f"moreword{number}x\n")
        daemon.resume()
        root = the_root(indexed)
        passes.add(root["last_reconciled"])
        wait_until(lambda number=number: the_root(indexed)["overflows"] > number, what="noticing")  # type: ignore[misc]

    def is_healed() -> bool:
        root = the_root(indexed)
        passes.add(root["last_reconciled"])
        return bool(root["state"] == "online")

    wait_until(is_healed, what="the end of the repair")
    assert len(passes) <= rounds + 2
    for number in range(rounds):
        assert found(indexed, f"moreword{number}x") == [f"more/f{number}.txt"]
    assert len(found(indexed, "goneword")) == DELETED
    assert indexed.call("index/audit", {})["differences"] == []
