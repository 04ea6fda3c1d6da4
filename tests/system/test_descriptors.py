"""Clients that use up all connections do not affect indexing and searching."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from helpers.support import Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_daemon.process.descriptors import RESERVE

pytestmark = [
    pytest.mark.needs("prlimit"),
    pytest.mark.skipif(sys.platform != "linux", reason="prlimit and /proc are Linux's"),
]
MOST = RESERVE + 64


def test_clients_leave_the_work_its_descriptors(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    for number in range(20):
        tree.write(f"d{number % 3}/f{number}.txt", f"zebra {number}\n")
    daemon = start_daemon(wrap=["prlimit", f"--nofile=100:{MOST}"])
    with daemon.client() as client, ExitStack() as leaked:
        add_root(client, tree)
        for _ in range(MOST):
            peer = leaked.enter_context(socket.socket(socket.AF_UNIX))
            peer.connect(str(home.socket))
        peer.settimeout(20)
        refusal = json.loads(peer.makefile("rb").readline())
        assert refusal["error"]["code"] == 4 and "64 connections" in refusal["error"]["message"]
        assert len(os.listdir(Path(f"/proc/{daemon.pid}/fd"))) < MOST
        tree.write("d0/f0.txt", "okapi\n")
        assert len(found(client, "zebra")) == 19
        assert found(client, "okapi") == ["d0/f0.txt"]
        assert codes(client) == set()
    with daemon.client() as client:
        wait_until(lambda: len(found(client, "zebra")) == 19, what="a new client served")
