"""Clients that use up all connections do not affect indexing and searching."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_daemon.process.descriptors import FEWEST, RESERVE

pytestmark = [
    pytest.mark.needs("prlimit"),
    pytest.mark.skipif(sys.platform != "linux", reason="prlimit and /proc are Linux's"),
]


def test_too_few_files_are_said_in_one_line(home: Home) -> None:
    """Also where the daemon's own modules could not be opened."""
    for limit in (*range(10, 32), 63):
        command = ["prlimit", f"--nofile={limit}:{limit}", sys.executable, "-m", "livedex_daemon", "daemon"]
        done = subprocess.run(command, env=home.env, capture_output=True, text=True, check=False)
        assert done.returncode == 4
        (line,) = done.stderr.splitlines()
        assert f"open only {limit} files" in line and "ulimit -Hn" in line
    assert not home.data.exists()
    done = home.run("status", env={}, timeout=60)
    assert done.returncode == 0


@pytest.mark.parametrize("hard", [FEWEST, 200])
def test_a_low_soft_limit_is_raised(home: Home, tree: Tree, start_daemon: Callable[..., Daemon], hard: int) -> None:
    for number in range(50):
        tree.write(f"d{number % 3}/f{number}.txt", f"zebra {number}\n")
    with start_daemon(wrap=["prlimit", f"--nofile=16:{hard}"]).client() as client:
        add_root(client, tree)
        assert len(found(client, "zebra")) == 50
        client.call("knowledge/add", {"content": "okapi"})
        client.call("exchange/publish", {"topic": "zebra", "body": "okapi"})
        assert client.call("knowledge/search", {"query": "okapi"})["entries"]
        assert codes(client) == set()


@pytest.mark.parametrize(("most", "clients"), [(FEWEST, 8), (RESERVE + 64, 64)])
def test_clients_leave_the_work_its_descriptors(
    home: Home, tree: Tree, start_daemon: Callable[..., Daemon], most: int, clients: int
) -> None:
    for number in range(20):
        tree.write(f"d{number % 3}/f{number}.txt", f"zebra {number}\n")
    daemon = start_daemon(wrap=["prlimit", f"--nofile=60:{most}"])
    with daemon.client() as client, ExitStack() as leaked:
        add_root(client, tree)
        for _ in range(RESERVE + 64):
            peer = leaked.enter_context(socket.socket(socket.AF_UNIX))
            peer.connect(str(home.socket))
        peer.settimeout(20)
        refusal = json.loads(peer.makefile("rb").readline())
        assert refusal["error"]["code"] == 4 and f"{clients} connections" in refusal["error"]["message"]
        assert len(os.listdir(Path(f"/proc/{daemon.pid}/fd"))) < most
        tree.write("d0/f0.txt", "okapi\n")
        assert len(found(client, "zebra")) == 19
        assert found(client, "okapi") == ["d0/f0.txt"]
        assert codes(client) == set()
    with daemon.client() as client:
        wait_until(lambda: len(found(client, "zebra")) == 19, what="a new client served")
