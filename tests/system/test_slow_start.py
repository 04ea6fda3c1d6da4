"""Requests that come before the daemon knows its roots, as while a plugin takes its time to load."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.support import Daemon, Home, Tree, wait_ready


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """What the plugin waits for: somebody who opens it to write."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    return gate


@pytest.fixture
def starting(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path, gate: Path) -> Daemon:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "slow.py").write_text(f"open({str(gate)!r}).close()\n")
    (plugins / "slow.py").chmod(0o600)
    tree.write("a.txt", "someword\n")
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n')
    with daemon.client() as client:
        wait_ready(client)
    daemon.stop()
    daemon.home.config.write_text(f'[[roots]]\npath = "{tree}"\n[plugins]\npaths = ["{plugins}"]\n')
    return daemon.start()


def answered_later(home: Home, gate: Path, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request that the daemon has before it knows its roots."""
    with socket.socket(socket.AF_UNIX) as peer, peer.makefile("rw") as lines:
        peer.connect(str(home.socket))

        def send(number: int, name: str, given: dict[str, Any]) -> None:
            lines.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": name, "params": given}) + "\n")
            lines.flush()

        send(1, method, params)
        send(2, "server/ping", {})
        first: dict[str, Any] = json.loads(lines.readline())
        gate.write_text("")
        if first["id"] == 1:
            return first
        answer: dict[str, Any] = json.loads(lines.readline())
        return answer


def test_a_search_in_a_folder_waits_at_most_its_time(starting: Daemon, tree: Tree, gate: Path) -> None:
    with starting.client() as client:
        early = client.call("search", {"query": "someword", "path": str(tree), "timeout_ms": 300})
        assert (early["hits"], early["fresh"], early["reason"]) == ([], False, "recovering")
        gate.write_text("")
        found = client.call("search", {"query": "someword", "path": str(tree), "timeout_ms": 60_000})
        assert [hit["relative_path"] for hit in found["hits"]] == ["a.txt"]


@pytest.mark.parametrize(
    ("method", "params", "field", "value"),
    [
        ("search", {"query": "someword", "timeout_ms": 60_000}, "fresh", True),
        ("files/explain", {"timeout_ms": 60_000}, "status", "indexed"),
        ("files/delete", {}, "deleted", 1),
    ],
)
def test_no_path_is_said_to_be_in_no_root(
    starting: Daemon, tree: Tree, home: Home, gate: Path, method: str, params: dict[str, Any], field: str, value: object
) -> None:
    answer = answered_later(home, gate, method, {**params, "path": str(tree / "a.txt")})
    assert answer.get("result", answer)[field] == value, answer


def test_the_roots_are_listed_once_they_are_known(starting: Daemon, tree: Tree, home: Home, gate: Path) -> None:
    answer = answered_later(home, gate, "roots/list", {})
    assert [root["path"] for root in answer.get("result", answer)["roots"]] == [str(tree)], answer
