"""The write-ahead log of a killed daemon is gone, changed or from elsewhere: the next start heals it.

A copy that is made while the daemon writes is whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from helpers.rebuild_oracle import logical
from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

FILES = 30
FRAME_BYTES, HEADER_BYTES = 24 + 4096, 32  # of the log

Lose = Callable[[Home, Daemon, Tree], None]


def gone(home: Home, daemon: Daemon, tree: Tree) -> None:
    (home.data / "index.db-wal").unlink()


def changed(home: Home, daemon: Daemon, tree: Tree) -> None:
    """Change a byte of a page in the middle of it."""
    log = home.data / "index.db-wal"
    frames = (log.stat().st_size - HEADER_BYTES) // FRAME_BYTES
    with log.open("r+b") as file:
        file.seek(HEADER_BYTES + frames // 2 * FRAME_BYTES + 24 + 100)
        (byte,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte ^ 0xFF]))


def of_another_time(home: Home, daemon: Daemon, tree: Tree) -> None:
    """The index goes on without it, and then it is restored: as from a backup of half of the files."""
    log = home.data / "index.db-wal"
    old = log.read_bytes()
    daemon.start()
    tree.write_all({f"f{number}.txt": f"much later words and number{number}\n" * 50 for number in range(FILES)})
    with daemon.client() as client:
        assert len(found(client, "later words")) == FILES
    daemon.stop()
    assert not log.exists()
    log.write_bytes(old)


@pytest.mark.parametrize("lose", [gone, changed, of_another_time], ids=lambda lose: lose.__name__)
def test_a_log_that_is_not_what_it_was(client: Client, home: Home, daemon: Daemon, tree: Tree, lose: Lose) -> None:
    tree.write_all({f"f{number}.txt": f"some words and number{number}\n" for number in range(FILES)})
    add_root(client, tree)
    assert client.call("index/audit", {})["differences"] == []  # now the file itself has all data, and the log is new
    for number in range(5):
        tree.write(f"f{number}.txt", f"other words and number{number}\n")
        assert found(client, f"other number{number}")[0] == f"f{number}.txt"
    daemon.kill()
    lose(home, daemon, tree)
    daemon.start()
    with daemon.client() as again:
        wait_until(lambda: again.call("status")["state"] == "ready", 60, what="health")
        assert len(found(again, "words")) == FILES
        assert again.call("index/audit", {})["differences"] == []


def test_a_copy_made_while_it_writes(client: Client, home: Home, tree: Tree) -> None:
    """With SQLite's own backup, as a backup program would: each copy is one sound state of the index."""
    tree.write_all({f"f{number}.txt": f"some words and number{number}\n" for number in range(FILES)})
    add_root(client, tree)
    generations = set()
    for number in range(6):
        tree.write_all({f"f{other}.txt": f"words{number} and number{other}\n" for other in range(FILES)})
        copy = logical(home.data / "index.db")
        assert len(copy["files"]) == FILES
        generations.add(client.call("status")["generation"])
        assert found(client, f"words{number} number7")[0] == "f7.txt"
    assert len(found(client, "words5")) == FILES
    assert len(generations) > 1, "it was written meanwhile"
