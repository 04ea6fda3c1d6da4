"""Each system call on the index and the files fails with each error, at the first, a later or every call.

Searches are answered all the time, the status reports the fault with documented codes, and after the error the index is
again equal to the disk.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from helpers.fault_injection import injected, with_code
from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_ipc.errors import LivedexError, Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

CELLS = int(os.environ.get("LIVEDEX_CELLS", "4"))
FIRST_CELL = int(os.environ.get("LIVEDEX_FIRST_CELL", "0"))  # where an earlier run ended
SEED = 11
TOTALS_EVERY = 10
FILES = 12
HEALED_S = 20.0  # 10 are promised; strace and a busy machine add to that

# Short timeouts, so that the fault is noticed soon.
SOON = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.process import tick
    from livedex_daemon.watch import store_health
    from livedex_indexing.store import database
    database.BUSY_MS, store_health.STORE_PAUSE_S, tick.EVERY_S = 300, 0.3, 0.5
"""

# The permitted warnings while a call fails; any other would be false or unclear.
SAID = {"disk_full", "backend_unavailable", "store_busy", "index_rebuilding"}
SAID |= {"watch_limit", "files_failed", "read_errors", "root_denied", "root_missing", "ignore_file"}
GONE = {"ENOENT"}  # where the system itself reports that a file is gone

INDEX, TREE = "index", "tree"
CALLS = {  # and on whose paths
    "pread64": INDEX,
    "pwrite64": INDEX,
    "fdatasync": INDEX,
    "ftruncate": INDEX,
    "read": TREE,
    "openat": TREE,
    "newfstatat": TREE,
    "getdents64": TREE,
    "inotify_add_watch": TREE,
}
ERRORS = ("ENOSPC", "EIO", "EMFILE", "EACCES", "ENOENT", "ESTALE", "ENOMEM", "EROFS")
WHEN = ("1", "2", "5", "20", "1+")

pytestmark = [
    pytest.mark.needs("strace"),
    pytest.mark.skipif(sys.platform != "linux", reason="strace is Linux's"),
    pytest.mark.timeout(180 + 30 * CELLS),
]


class Cell(NamedTuple):
    call: str
    error: str
    when: str


class Totals:
    """The results of a run so far."""

    def __init__(self) -> None:
        self.cells = self.failed = self.judged = self.fresh = 0
        self.slowest = 0.0

    def __str__(self) -> str:
        return (
            f"seed {SEED}, {self.cells} cells from {FIRST_CELL}: {self.failed} calls failed, {self.judged} answers "
            f"judged ({self.fresh} fresh), all honest and healed, the slowest in {self.slowest:.1f} s"
        )


def cells() -> list[Cell]:
    """Return that many of all cells, spread over them, the same each time."""
    every = [Cell(*cell) for cell in itertools.product(CALLS, ERRORS, WHEN)]
    random.Random(SEED).shuffle(every)
    return every[FIRST_CELL : FIRST_CELL + CELLS]


def options(cell: Cell, home: Home, tree: Tree, trace: Path) -> list[str]:
    index = [str(home.data / f"index.db{suffix}") for suffix in ("", "-wal", "-shm")]
    folders = [str(tree.path), *(str(path) for path in tree.path.rglob("*"))]
    paths = [word for path in (index if CALLS[cell.call] == INDEX else folders) for word in ("-P", path)]
    inject = f"inject={cell.call}:error={cell.error}:when={cell.when}"
    return ["-o", str(trace), *paths, "-e", f"trace={cell.call}", "-e", inject]


def edit(tree: Tree, number: int) -> None:
    for name in range(FILES):
        tree.write(f"d{name % 3}/f{name}.txt", f"words{number} of f{name}\n" * (number % 7 + name + 1))
    tree.write(f"new{number}/n.txt", f"words{number} again\n")
    if number:
        tree.remove(f"new{number - 1}")


def names_with(tree: Tree, word: str) -> set[str]:
    """Return what a plain search of the disk finds."""
    files = tree.path.rglob("*.txt")
    return {str(path.relative_to(tree.path)) for path in files if word in path.read_text().split()}


def assert_honest(client: Client, tree: Tree, cell: Cell, number: int, totals: Totals) -> None:
    """The daemon answers, or says that the index cannot be read, and warns with documented codes.

    A fresh answer equals the disk, except for what is named as failed, or cut at the deadline. Where the system itself
    reports that a file is gone, it is gone.
    """
    try:
        named = failed_names(client, tree)
        answer = client.call("search", {"query": f"words{number}", "limit": 100, "timeout_ms": 300})
        named |= failed_names(client, tree)
        said = {warning["code"] for warning in answer["warnings"]}
        assert codes(client) <= SAID
        totals.judged += 1
        totals.fresh += answer["fresh"]
        if answer["fresh"]:
            hits = {hit["relative_path"] for hit in answer["hits"]}
            truth = names_with(tree, f"words{number}")
            assert hits <= truth
            lost = {name for name in truth - hits if not named & {name, *map(str, Path(name).parents)}}
            assert not lost or said & {"root_denied", "query_deadline"} or cell.error in GONE, (answer, sorted(lost))
    except Unavailable as refused:
        assert refused.code == 4 and "index.db" in refused.message


def failed_names(client: Client, tree: Tree) -> set[str]:
    listed = client.call("files/list", {"status": "failed", "fresh": False})["files"]
    return {os.path.relpath(file["path"], tree.path) for file in listed}


def is_healed(client: Client, cell: Cell, number: int) -> bool:
    """By itself, unless the system reported that a file was gone: no event corrects that."""
    try:
        if cell.error in GONE:
            client.call("index/run", {})
        answer = client.call("search", {"query": f"words{number}", "limit": 100, "timeout_ms": 2_000})
    except LivedexError:
        return False
    healthy = client.call("status")["state"] == "ready" and not codes(client)
    return bool(answer["fresh"] and len(answer["hits"]) == FILES + 1 and healthy)


def run(cell: Cell, client: Client, daemon: Daemon, home: Home, tree: Tree, totals: Totals) -> None:
    number = totals.cells + 1
    trace = home.path / "strace.txt"
    with injected(daemon, *options(cell, home, tree, trace)):
        edit(tree, number)
        for _ in range(3):
            assert_honest(client, tree, cell, number, totals)
    began = time.monotonic()
    wait_until(lambda: is_healed(client, cell, number), HEALED_S, what="health")
    totals.slowest = max(totals.slowest, time.monotonic() - began)
    totals.failed += trace.read_text().count("(INJECTED)")
    assert found(client, f"words{number - 1}") == []
    assert client.call("index/audit", {})["differences"] == []
    totals.cells += 1


def test_every_error_is_said_and_heals(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    edit(tree, 0)
    daemon = start_daemon(**with_code(tmp_path / "seam", SOON))
    totals = Totals()
    with daemon.client() as client:
        add_root(client, tree)
        try:
            for cell in cells():
                try:
                    run(cell, client, daemon, home, tree, totals)
                except BaseException as fault:
                    fault.add_note(f"cell {FIRST_CELL + totals.cells} of seed {SEED}: {cell}\n{home.logs()[-2000:]}")
                    raise
                if totals.cells % TOTALS_EVERY == 0:
                    print(totals, flush=True)
        finally:
            print(totals, flush=True)
