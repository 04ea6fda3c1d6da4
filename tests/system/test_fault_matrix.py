"""Each system call on the index and on the files ends with each error, at the first, a later or every call.

Searches are answered all the while, status says what is wrong in words that the documents know, and once the error has
gone the index is again what the disk says.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
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
FILES = 12
HEALED_S = 60.0

# A short patience, and the trouble noticed soon.
SOON = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.process import tick
    from livedex_daemon.watch import store_health
    from livedex_indexing.store import database
    database.BUSY_MS, store_health.STORE_PAUSE_S, tick.EVERY_S = 300, 0.3, 0.5
"""

# What may be said while a call fails; all else would be a lie or a riddle.
SAID = {"disk_full", "backend_unavailable", "store_busy", "index_rebuilding"}
SAID |= {"watch_limit", "files_failed", "read_errors", "root_denied", "root_missing", "ignore_file"}

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


def cells() -> list[Cell]:
    """So many of all that there are, spread over them, the same each time."""
    every = [Cell(*cell) for cell in itertools.product(CALLS, ERRORS, WHEN)]
    return random.Random(11).sample(every, min(CELLS, len(every)))


def options(cell: Cell, home: Home, tree: Tree) -> list[str]:
    index = [str(home.data / f"index.db{suffix}") for suffix in ("", "-wal", "-shm")]
    folders = [str(tree.path), *(str(path) for path in tree.path.rglob("*"))]
    paths = [word for path in (index if CALLS[cell.call] == INDEX else folders) for word in ("-P", path)]
    return [*paths, "-e", f"trace={cell.call}", "-e", f"inject={cell.call}:error={cell.error}:when={cell.when}"]


def edit(tree: Tree, number: int) -> None:
    for name in range(FILES):
        tree.write(f"d{name % 3}/f{name}.txt", f"words{number} of f{name}\n" * (number % 7 + name + 1))
    tree.write(f"new{number}/n.txt", f"words{number} anew\n")
    if number:
        tree.remove(f"new{number - 1}")


def assert_honest(client: Client) -> None:
    """It answers, or says that the index cannot be read, and warns in words that the documents know."""
    try:
        answer = client.call("search", {"query": "of", "limit": 100, "timeout_ms": 300})
        assert isinstance(answer["fresh"], bool)
        assert codes(client) <= SAID
    except Unavailable as refused:
        assert refused.code == 4 and "index.db" in refused.message


def is_healed(client: Client, number: int) -> bool:
    """With a look at all files, as else the next reconcile takes: no event tells that a file can be read again."""
    try:
        client.call("index/run", {})
        answer = client.call("search", {"query": f"words{number}", "limit": 100, "timeout_ms": 2_000})
    except LivedexError:
        return False
    healthy = client.call("status")["state"] == "ready" and not codes(client)
    return bool(answer["fresh"] and len(answer["hits"]) == FILES + 1 and healthy)


def test_every_error_is_said_and_heals(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    edit(tree, 0)
    daemon = start_daemon(**with_code(tmp_path / "seam", SOON))
    with daemon.client() as client:
        add_root(client, tree)
        for number, cell in enumerate(cells(), 1):
            try:
                with injected(daemon, *options(cell, home, tree)):
                    edit(tree, number)
                    for _ in range(3):
                        assert_honest(client)
                wait_until(lambda: is_healed(client, number), HEALED_S, what="health")  # noqa: B023
                assert found(client, f"words{number - 1}") == []
                assert client.call("index/audit", {})["differences"] == []
            except BaseException as fault:
                fault.add_note(f"cell {number}: {cell}\n{home.logs()[-2000:]}")
                raise
