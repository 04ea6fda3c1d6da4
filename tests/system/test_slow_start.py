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


NOTES = """
class Notes:
    def __init__(self):
        self.notes = []
    def add_chunk(self, content, domain="general", **kw):
        self.notes.append({"id": len(self.notes) + 1, "content": content, "domain": domain, **kw})
        return len(self.notes)
    def add_finding(self, content, source=None, confidence=None, **kw):
        return self.add_chunk(content)
    def search(self, query, k=5, *, domain=None):
        return []
    def get_hot_memory(self, max_chars=6000):
        return ""
    def list_chunks(self, *words, **kw):
        return self.notes
    def stats(self):
        return {"entries": len(self.notes)}
    def delete_by_id(self, chunk_id):
        return False

def register(registry):
    registry.register_knowledge_store("notes", lambda config: Notes())
"""


def slow_plugin(folder: Path, gate: Path, code: str = "") -> Path:
    """Write a plugin that waits for the gate as it is loaded; return the folder of plugins."""
    plugins = folder / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "slow.py").write_text(f"open({str(gate)!r}).close()\n{code}")
    (plugins / "slow.py").chmod(0o600)
    return plugins


@pytest.fixture
def starting(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path, gate: Path) -> Daemon:
    plugins = slow_plugin(tmp_path, gate)
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


@pytest.mark.parametrize("method", ["files/find", "search/files"])
def test_no_list_of_files_is_called_fresh_without_the_roots(
    starting: Daemon, tree: Tree, home: Home, gate: Path, method: str
) -> None:
    query = "a.txt" if method == "files/find" else "someword"
    answer = answered_later(home, gate, method, {"query": query, "timeout_ms": 60_000})["result"]
    assert answer["fresh"] and [file["path"] for file in answer["files"]] == [str(tree / "a.txt")]


@pytest.mark.parametrize(("method", "field"), [("index/run", "scanned"), ("index/audit", "checked")])
def test_no_root_is_left_out_of_the_work(starting: Daemon, home: Home, gate: Path, method: str, field: str) -> None:
    assert answered_later(home, gate, method, {})["result"][field] == 1


def test_plugins_are_listed_once_they_are_loaded(starting: Daemon, home: Home, gate: Path) -> None:
    answer = answered_later(home, gate, "plugins/list", {})
    assert [plugin["name"] for plugin in answer["result"]["plugins"]] == ["livedex", "slow"]


def test_no_entry_goes_to_another_store_than_the_configured_one(
    start_daemon: Callable[..., Daemon], home: Home, tmp_path: Path, gate: Path
) -> None:
    plugins = slow_plugin(tmp_path, gate, NOTES)
    daemon = start_daemon(f'[plugins]\npaths = ["{plugins}"]\n[knowledge]\nbackend = "notes"\n')
    assert answered_later(home, gate, "knowledge/add", {"content": "an entry"})["result"]["created"]
    with daemon.client() as client:
        assert client.knowledge_stats()["backend"] == "notes"
        assert [entry["content"] for entry in client.knowledge_list()["entries"]] == ["an entry"]
