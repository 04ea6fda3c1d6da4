"""Agent memory by the socket, the command and the agents' tools, and what a kill leaves of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from helpers.answer_shapes import ANY, TIME, faults
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import InvalidParams, Unavailable

ENTRY = {
    "id": int,
    "content": str,
    "domain": str,
    "heading": (str, None),
    "kind": ("chunk", "finding"),
    "source": (str, None),
    "score": float,
    "created_at": TIME,
    "used_at": (TIME, None),
    "uses": int,
    "metadata": {},
}


def test_every_result_has_the_fields_of_the_contract(client: Client) -> None:
    for method, params, shape in knowledge_results():
        assert faults(client.call(method, params), shape, method) == []


def knowledge_results() -> Iterator[tuple[str, dict[str, Any], Any]]:
    yield "knowledge/add", {"content": "alpha"}, {"id": 1, "created": True}
    yield "knowledge/finding", {"content": "beta", "source": "a"}, {"id": 2, "created": True}
    yield "knowledge/search", {"query": "alpha"}, {"entries": [ENTRY], "mode": "keyword", "warnings": []}
    yield "knowledge/list", {}, {"entries": [ENTRY], "total": 2}
    yield "knowledge/hot", {}, {"text": str}
    yield "knowledge/stats", {}, {"backend": "sqlite", "entries": 2, "domains": ANY, "db_bytes": int}
    yield "knowledge/delete", {"id": 1}, {"deleted": True}


def test_what_is_remembered_is_found_and_deleted(client: Client) -> None:
    added = client.knowledge_add(content="Ada prefers short commits", domain="people", heading="Ada")
    assert added == {"id": 1, "created": True}
    assert client.knowledge_add(content="Ada prefers short commits", domain="people") == {"id": 1, "created": False}
    found = client.knowledge_finding(content="The cache is never emptied", source="src/cache.py", confidence="high")
    assert found == {"id": 2, "created": True}
    (entry,) = client.knowledge_search(query="commit")["entries"]
    assert (entry["id"], entry["domain"], entry["heading"]) == (1, "people", "Ada")
    assert client.knowledge_search(query="commit", domain="findings")["entries"] == []
    (finding,) = client.knowledge_list(kind="finding")["entries"]
    assert (finding["domain"], finding["metadata"]) == ("findings", {"confidence": "high"})
    assert "short commits" in client.knowledge_hot()["text"]
    stats = client.knowledge_stats()
    assert (stats["backend"], stats["entries"], stats["domains"]) == ("sqlite", 2, {"findings": 1, "people": 1})
    assert client.knowledge_delete(id=1) == {"deleted": True}
    assert client.knowledge_delete(id=1) == {"deleted": False}
    assert client.knowledge_search(query="commit")["entries"] == []


def test_a_search_of_files_finds_it_on_request(client: Client, tree: Tree) -> None:
    tree.write("ada.txt", "Ada writes about walruses\n")
    add_root(client, tree)
    client.knowledge_add(content="Ada likes walruses", domain="people")
    client.knowledge_add(content="walruses are large", domain="animals")
    answer = client.search(query="walruses", knowledge=True)
    assert [hit["relative_path"] for hit in answer["hits"]] == ["ada.txt"]
    assert {entry["domain"] for entry in answer["knowledge"]} == {"people", "animals"}
    (entry,) = client.search(query="walruses", domains=["people"], path=str(tree))["knowledge"]
    assert (entry["content"], entry["uses"]) == ("Ada likes walruses", 1)
    assert client.search(query="walruses", knowledge=True, offset=1)["knowledge"] == []
    assert "knowledge" not in client.search(query="walruses")


@pytest.mark.parametrize(
    ("content", "words"), [("", "0 characters|characters"), (" \n", "empty"), ("ü" * 131_073, "at most 262144")]
)
def test_what_cannot_be_remembered_is_refused(client: Client, content: str, words: str) -> None:
    with pytest.raises(InvalidParams, match=words) as caught:
        client.knowledge_add(content=content)
    assert caught.value.data is not None and caught.value.data["field"] == "content"
    assert client.knowledge_list()["total"] == 0


def test_what_was_acknowledged_survives_a_kill(start_daemon: Callable[..., Daemon]) -> None:
    daemon = start_daemon()
    with daemon.client() as client:
        for number in range(20):
            client.knowledge_add(content=f"text {number}")
        os.kill(daemon.pid, signal.SIGKILL)
    wait_until(lambda: not daemon.running(), what="the daemon's end")
    with start_daemon().client() as client:
        assert [entry["content"] for entry in client.knowledge_list()["entries"]] == [f"text {n}" for n in range(20)]


def test_a_damaged_memory_hinders_nothing_else(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    path = home.data / "knowledge.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"not a database" * 100)
    with start_daemon().client() as client:
        with pytest.raises(Unavailable, match="is damaged"):
            client.knowledge_add(content="text")
        assert client.search(query="text")["hits"] == []
        answer = client.search(query="text", knowledge=True)
        assert answer["knowledge"] == []
        assert [each["code"] for each in answer["warnings"]] == ["knowledge_unavailable"]
    assert path.read_bytes() == b"not a database" * 100


@pytest.mark.ticks_often
def test_a_damaged_memory_is_named_though_nobody_calls(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    daemon, path, kept = start_daemon(), home.data / "knowledge.db", home.data / "kept.db"
    with daemon.client() as client:
        client.knowledge_add(content="text")
    daemon.stop()
    path.rename(kept)
    path.write_bytes(b"not a database" * 100)
    with daemon.start().client() as client:
        wait_until(lambda: client.status()["state"] == "degraded", what="the damage")
        (warned,) = client.status()["warnings"]
        assert warned["code"] == "knowledge_unavailable"
        assert str(path) in warned["message"] and "backup" in warned["remedy"]
        (found,) = client.search(query="text", knowledge=True)["warnings"]
        assert found == warned
        kept.rename(path)
        wait_until(lambda: client.status()["state"] == "ready", what="the restored file")
        assert client.knowledge_search(query="text")["entries"]


@pytest.mark.ticks_often
def test_a_folder_in_the_place_of_memory_is_named_until_it_is_away(client: Client, home: Home) -> None:
    path = home.data / "knowledge.db"
    path.mkdir()
    with pytest.raises(Unavailable, match="not a regular file"):
        client.knowledge_add(content="text")
    status = client.status()
    assert (status["state"], [each["code"] for each in status["warnings"]]) == ("degraded", ["knowledge_unavailable"])
    path.rmdir()
    wait_until(lambda: client.status()["warnings"] == [], what="the end of the warning")
    assert client.knowledge_add(content="text")["created"]


def test_the_command(home: Home, daemon: Daemon) -> None:
    def run(*words: str, stdin: str | None = None, code: int = 0) -> str:
        done = home.run("knowledge", *words, stdin=stdin or "")
        assert done.returncode == code, (done.stdout, done.stderr)
        return str(done.stdout)

    assert run("add", "Ada prefers short commits", "--domain", "people") == "entry 1 is remembered\n"
    assert run("add", "-", "--domain", "people", stdin="Ada prefers short commits") == "entry 1 was remembered before\n"
    assert "Ada prefers short commits" in run("search", "short", "commits")
    run("search", "walrus", code=1)
    found = home.run("search", "commits", "--knowledge")
    assert (found.returncode, "Ada prefers short commits" in found.stdout) == (0, True)
    assert [entry["id"] for entry in home.run_json("search", "commits", "--domain", "people")["knowledge"]] == [1]
    assert home.run("search", "commits", "--knowledge", "-l").returncode == 2
    assert "people" in run("stats")
    without_stdin = ["sh", "-c", '"$0" knowledge add <&-', str(LIVEDEX)]
    done = subprocess.run(without_stdin, env=home.env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == "livedex: content is missing: there is no stdin to read it from\n"
    assert run("delete", "1") == "entry 1 is deleted\n"
    assert run("delete", "1", code=1) == "there is no entry 1\n"
    answer: dict[str, Any] = json.loads(run("list", "--json", code=1))
    assert answer == {"entries": [], "total": 0}


PLUGIN = """
import time

class Notes:
    def __init__(self):
        self.notes = {}
    def add_chunk(self, content, domain="general", **kw):
        number = len(self.notes) + 1
        self.notes[number] = {"id": number, "content": content, "domain": domain, **kw}
        return number
    def add_finding(self, content, source=None, confidence=None, **kw):
        return self.add_chunk(content, "findings", source=source, **kw)
    def search(self, query, k=5, *, domain=None):
        if query == "hang":
            time.sleep(3)
        return [note for note in self.notes.values() if query in note["content"]][:k]
    def get_hot_memory(self, max_chars=6000):
        return ""
    def list_chunks(self, *a, **kw):
        return list(self.notes.values())
    def stats(self):
        return {"entries": len(self.notes)}
    def delete_by_id(self, chunk_id):
        return self.notes.pop(chunk_id, None) is not None

def register(registry):
    registry.register_knowledge_store("notes", lambda config: Notes())
"""


def test_a_plugin_takes_the_place_of_the_store_and_gives_it_back(
    home: Home, start_daemon: Callable[..., Daemon]
) -> None:
    folder = home.path / "plugins"
    folder.mkdir(mode=0o700)
    (folder / "notes.py").write_text(PLUGIN)

    def config(backend: str) -> str:
        return f'[plugins]\npaths = ["{folder}"]\n\n[knowledge]\nbackend = "{backend}"\n'

    with start_daemon(config("")).client() as client:
        client.knowledge_add(content="in the built-in store")
        home.config.write_text(config("notes"))
        client.server_reload()
        assert client.knowledge_stats()["backend"] == "notes"
        assert client.knowledge_add(content="in the plugin", domain="a") == {"id": 1, "created": True}
        assert [entry["content"] for entry in client.knowledge_search(query="in")["entries"]] == ["in the plugin"]
        home.config.write_text(config("notez"))
        client.server_reload()
        unused = [each for each in client.status()["warnings"] if each["code"] == "knowledge_unavailable"]
        assert len(unused) == 1, "also before it is used"
        assert [entry["content"] for entry in client.knowledge_list()["entries"]] == ["in the built-in store"]
        (warned,) = [each for each in client.status()["warnings"] if each["code"] == "knowledge_unavailable"]
        assert "notez" in warned["message"]
        home.config.write_text(config(""))
        client.server_reload()
        assert client.knowledge_stats()["backend"] == "sqlite"
        assert [each for each in client.status()["warnings"] if each["code"] == "knowledge_unavailable"] == []
        home.config.write_text(config("notes"))
        client.server_reload()
        answer = client.search(query="hang", knowledge=True, timeout_ms=1000)
        assert ([each["code"] for each in answer["warnings"]], answer["fresh"]) == (["knowledge_unavailable"], True)
