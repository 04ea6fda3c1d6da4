"""For a while the system starts no more threads: the others do the work, what needs one is refused, nothing is lost."""

from __future__ import annotations

import errno
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, wait_ready, wait_until
from helpers.syscall_faults import Faults, Order, faulty_socket, with_faults
from livedex_ipc.errors import InvalidParams, Unavailable

CLIENTS = 8


def test_no_more_threads(home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    tree.write_all({f"f{number}.txt": f"zebra {number}\n" for number in range(5)})
    other = Tree(tmp_path / "other")
    other.write("o.txt", "okapi\n")
    daemon = start_daemon(**with_faults(tmp_path / "seam", faulty_socket(home.path)))
    faults = Faults(faulty_socket(home.path))

    def search(_number: int) -> int:
        with daemon.client() as client:
            return len(found(client, "zebra"))

    with daemon.client() as client, ThreadPoolExecutor(CLIENTS) as clients:
        add_root(client, tree)
        with faults.on(thread=Order(errno.EAGAIN)):
            assert list(clients.map(search, range(CLIENTS))) == [5] * CLIENTS
            tree.write("edit.txt", "quagga\n")
            assert found(client, "quagga") == ["edit.txt"]
            with pytest.raises(Unavailable, match="TasksMax"):
                client.call("exchange/publish", {"topic": "t", "body": "x"})
            with pytest.raises(InvalidParams):  # a long request has a thread of its own
                client.call("search", {"query": "x", "path": "/" + "x" * 100_000, "limit": 0})
            with home.config.open("a") as config:
                config.write(f'\n[[roots]]\npath = "{other}"\n')
            wait_until(lambda: "reload_waits" in home.logs(), what="a look at the configuration")
        assert faults.failed
        wait_until(lambda: len(client.call("roots/list")["roots"]) == 2, what="the configuration that was not read")
        wait_ready(client)
        assert found(client, "okapi") == ["o.txt"]
        assert client.call("exchange/publish", {"topic": "t", "body": "x"})["id"]
    faults.close()
