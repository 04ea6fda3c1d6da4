"""The answers of the socket and the command: every field of the contract, with its type, and no other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.answer_shapes import ANY, TIME, faults
from helpers.support import LIVEDEX, Home, Tree, add_root, wait_ready
from livedex_ipc.client import Client
from livedex_ipc.methods import METHODS

WARNING = {"code": str, "message": str, "remedy": str}
ROOT = {
    "path": str,
    "state": ("online", "indexing", "recovering", "missing", "denied"),
    "watching": ("native", "polling", "mixed", "none"),
    "files": int,
    "pending": int,
    "overflows": int,
    "last_reconciled": (TIME, None),
}
STATUS = {
    "state": ("starting", "indexing", "ready", "degraded"),
    "version": str,
    "pid": int,
    "uptime_s": float,
    "generation": int,
    **dict.fromkeys(("pending", "pending_bytes"), int),
    "files": int,
    "chunks": int,
    "skipped": int,
    "failed": int,
    "db_path": str,
    "db_bytes": int,
    "backend": "sqlite",
    "embedder": None,
    "vectors_pending": int,
    "documents_pending": int,
    "gateways": [{"host": str, "bytes_sent": int}],
    "work": {"files_read": int, "bytes_done": int, "files_chunked": int, "files_parsed": int, "chunks_embedded": int},
    "roots": [ROOT],
    "freshness": {"p50_ms": (float, None), "p99_ms": (float, None), "samples": int},
    "warnings": [WARNING],
}
METADATA = {"frontmatter?": dict, "alt?": str, "src?": str, "encoding?": str, "lossy?": True, "fallback?": ANY}
HIT = {
    "path": str,
    "root": str,
    "relative_path": str,
    "kind": ("markdown_text", "markdown_code", "markdown_table", "markdown_image", "code", "plain"),
    "language": (str, None),
    "heading": (str, None),
    "symbol": (str, None),
    "start_line": int,
    "end_line": int,
    "start_column": int,
    "start_byte": int,
    "end_byte": int,
    "score": float,
    "snippet": str,
    "snippet_line": int,
    "line": int,
    "column": int,
    "text": str,
    "snippet_byte": int,
    "highlights": [[int]],
    "content_hash": str,
    "modified_at": TIME,
    "metadata": METADATA,
}
SEARCH = {
    "hits": [HIT],
    "fresh": True,
    "generation": int,
    "pending": 0,
    "mode": "keyword",
    "took_ms": float,
    "next_offset": (int, None),
    "warnings": [WARNING],
}
SUBSCRIBED = {
    "subscription": 1,
    "hits": [HIT],
    "fresh": True,
    "generation": int,
    "pending": 0,
    "warnings": [WARNING],
}
COPIED = {"also_at": [str], "also_at_b64": [(str, None)], "also_at_total": int}
EXPLAINED = {
    "context_before": str,
    "context_after": str,
    "explain": {"total": float, "parts": [{"name": str, "value": float}]},
}
LISTED = {
    "path": str,
    "status": ("indexed", "pending", "skipped", "failed"),
    "size": int,
    "chunks": int,
    "language": (str, None),
    "content_hash": (str, None),
    "indexed_at": TIME,
    "reason?": str,
    "path_b64?": str,
}
CHUNK = {
    "ordinal": int,
    "text": str,
    "context": str,
    "kind": str,
    "language": (str, None),
    "heading": (str, None),
    "symbol": (str, None),
    "start_line": int,
    "end_line": int,
    "start_byte": int,
    "end_byte": int,
    "metadata": METADATA,
}
FAILED = {"path": str, "stage": str, "message": str}
RUN = {
    "scanned": int,
    "documents_pending": int,
    "indexed": int,
    "unchanged": int,
    "skipped": int,
    "removed": int,
    "failed": [FAILED],
    "took_ms": float,
}
RULE = {"file": str, "line": int, "pattern": str}
EXPLAIN = {"path": str, "status": str, "reason": (str, None), "rule": (RULE, None), "fresh": True}
PROVIDED = [{"kind": str, "name": str}]
PLUGINS = {"plugins": [{"name": "livedex", "source": str, "state": "loaded", "provides": PROVIDED}]}

GUIDE = """---
tags: [alpha, beta]
title: A guide
---
# Café

Some alpha words.

```python
alpha = 1
```

| alpha | b |
|-------|---|
| 1     | 2 |

![alpha picture](picture.png)
"""


@pytest.fixture
def root(tree: Tree, client: Client) -> Tree:
    tree.write_all(
        {
            "guide.md": GUIDE,
            "code.py": "class Kind:\n    def alpha(self):\n        return 1\n",
            "copy/a.txt": "alpha beta\n",
            "copy/b.txt": "alpha beta\n",
            "latin.txt": "alpha caf\xe9 d\xe9j\xe0 vu\n".encode("latin-1"),
            "binary.dat": b"\0\1\2",
            "empty.txt": "",
            "shut.log": "alpha",
            ".gitignore": "# logs\n*.log\n",
        }
    )
    add_root(client, tree)
    return tree


def results(root: Tree) -> Iterator[tuple[str, dict[str, Any], Any]]:
    code, root_path = str(root / "code.py"), str(root)
    grouped = {**SEARCH, "hits": [{**HIT, **{f"{name}?": shape for name, shape in COPIED.items()}, "matches": int}]}
    explained = {
        **SEARCH,
        "hits": [{**HIT, **EXPLAINED, **{f"{name}?": shape for name, shape in COPIED.items()}}],
    }
    info: dict[str, Any] = {"name": "livedex", "version": str, "protocol": 1, "pid": int, "config_path": str}
    yield "server/info", {}, {**info, "capabilities": {"barrier": str}}
    yield "server/ping", {}, {}
    yield "server/reload", {}, {}
    yield "rpc.discover", {}, ANY
    yield "search", {"query": "alpha", "group": "file", "limit": 3, "timeout_ms": 20_000}, grouped
    yield "search", {"query": "alpha", "explain": True, "context_lines": 1, "timeout_ms": 20_000}, explained
    yield "search", {"query": "alpha", "path": code, "timeout_ms": 20_000}, SEARCH
    yield "search", {"query": "nothinglikeit", "timeout_ms": 20_000}, SEARCH
    matching: dict[str, Any] = {"files": [{"path": str, "matches?": int}], "next_cursor": None, "pending": 0}
    matching |= {"generation": int, "took_ms": float, "warnings": [], "fresh": True}
    yield "search/files", {"query": "alpha", "count": True, "timeout_ms": 20_000}, matching
    yield "search/subscribe", {"query": "alpha", "timeout_ms": 20_000}, SUBSCRIBED
    yield "search/unsubscribe", {"subscription": 1}, {}
    yield "sync", {}, {"synced": True, "pending": 0, "generation": int, "waited_ms": float}
    yield "status", {}, STATUS
    yield "roots/list", {}, {"roots": [ROOT]}
    yield "roots/add", {"path": str(root / "copy")}, {"roots": [ROOT]}
    yield "roots/remove", {"path": str(root / "copy")}, {"roots": [ROOT]}
    yield "index/run", {"paths": [root_path]}, RUN
    yield "index/audit", {}, {"checked": int, "differences": [], "repaired": 0}
    yield "files/list", {}, {"files": [LISTED], "total": int, "warnings": [], "fresh": True}
    found = [{"path": str, "root": str, "relative_path": str, "status": "indexed"}]
    yield "files/find", {"query": "cpy"}, {"files": found, "total": int, "warnings": [], "fresh": True}
    yield "files/explain", {"path": code}, EXPLAIN
    yield (
        "files/explain",
        {"path": str(root / "shut.log")},
        {**EXPLAIN, "status": "ignored", "reason": str, "rule": RULE},
    )
    yield "files/explain", {"path": "/"}, {**EXPLAIN, "status": "outside", "rule": None}
    yield "files/retrieve", {"path": code}, {"path": str, "content_hash": str, "chunks": [CHUNK], "fresh": True}
    yield "files/delete", {"path": code}, {"deleted": 1}
    yield "plugins/list", {}, PLUGINS
    yield "server/shutdown", {}, {}


def test_every_result_has_the_fields_of_the_contract(root: Tree, client: Client) -> None:
    answered = {}
    for method, params, shape in results(root):
        answer = client.call(method, params)
        assert faults(answer, shape, method) == []
        answered[method] = answer
    # test_exchange and test_knowledge have these, and test_versions the one that ends the daemon.
    elsewhere = {method for method in METHODS if method.startswith(("exchange/", "knowledge/"))}
    assert set(answered) == set(METHODS) - elsewhere - {"server/restart"}


def test_a_hit_is_a_slice_of_its_file(root: Tree, client: Client) -> None:
    hits: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        page = client.call("search", {"query": "alpha", "offset": offset, "timeout_ms": 20_000})
        hits, offset = hits + page["hits"], page["next_offset"]
    assert {hit["kind"] for hit in hits} == {
        "markdown_text", "markdown_code", "markdown_table", "markdown_image", "code", "plain",
    }  # fmt: skip
    for hit in hits:
        data = Path(hit["path"]).read_bytes()
        text = data[hit["snippet_byte"] :].decode(errors="replace")
        assert text.startswith(hit["snippet"]) or hit["relative_path"] == "latin.txt"
        assert data[: hit["snippet_byte"]].count(b"\n") + 1 == hit["snippet_line"]
        assert data[: hit["start_byte"]].count(b"\n") + 1 == hit["start_line"]
        assert hit["path"] == f"{hit['root']}/{hit['relative_path']}"
        for start, end in hit["highlights"]:
            assert hit["snippet"][start:end].lower() == "alpha"
    image = next(hit for hit in hits if hit["kind"] == "markdown_image")
    assert (image["metadata"]["alt"], image["metadata"]["src"]) == ("alpha picture", "picture.png")
    assert image["metadata"]["frontmatter"] == {"tags": ["alpha", "beta"], "title": "A guide"}
    assert image["heading"] == "Café"
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)


def test_the_rule_that_decided_is_named(root: Tree, client: Client, home: Home) -> None:
    answered = client.call("files/explain", {"path": str(root / "shut.log")})
    assert answered["rule"] == {"file": str(root / ".gitignore"), "line": 2, "pattern": "*.log"}
    answered = client.call("files/explain", {"path": str(root / "node_modules/x/y.js")})
    assert answered["rule"] == {"file": "built-in", "line": 0, "pattern": answered["rule"]["pattern"]}
    home.config.write_text(f'# first\n[[roots]]\npath = "{root}"\nignore = [\n  "*.none",\n  "c*.py",\n]\n')
    client.call("server/reload")
    answered = client.call("files/explain", {"path": str(root / "code.py")})
    assert answered["rule"] == {"file": str(home.config), "line": 6, "pattern": "c*.py"}
    home.config.write_text(f'[[roots]]\npath = "{root}"\nignore = ["*.none", "c*.py"]\n')
    client.call("server/reload")
    assert client.call("files/explain", {"path": str(root / "code.py")})["rule"]["line"] == 3


def test_json_of_a_command_is_the_result_of_its_method(root: Tree, home: Home) -> None:
    code = str(root / "code.py")
    commands: dict[tuple[str, ...], Any] = {
        ("status",): STATUS,
        ("up",): STATUS,
        ("sync",): {"synced": True, "pending": 0, "generation": int, "waited_ms": float},
        ("roots", "list"): {"roots": [ROOT]},
        ("index", code): RUN,
        ("audit",): {"checked": int, "differences": [], "repaired": 0},
        ("list",): {"files": [LISTED], "total": int, "warnings": [], "fresh": True},
        ("retrieve", code): {"path": str, "content_hash": str, "chunks": [CHUNK], "fresh": True},
        ("why", code): EXPLAIN,
        ("why", code, "/"): {"results": [EXPLAIN]},
        ("search", "alpha", "--path", code): SEARCH,
        ("config", "path"): {"path": str},
        ("config", "validate"): {"valid": True, "path": str, "faults": []},
        ("doctor",): {"ok": True, "checks": [{"name": str, "state": str, "message": str, "fix": (str, None)}]},
        ("delete", code): {"deleted": 1},
        ("plugins",): PLUGINS,
        ("down",): {},
    }
    for words, shape in commands.items():
        assert faults(home.run_json(*words), shape, " ".join(words)) == []
    shown = home.run_json("config", "show")["settings"]
    assert shown["chunking.chunk_size"] == {"value": 2048, "origin": "default", "line": None}
    assert shown["roots"]["origin"] == "file"


def test_exit_codes(root: Tree, home: Home) -> None:
    expected = {
        ("search", "alpha"): 0,
        ("search", "nothinglikeit"): 1,
        ("search", "nothinglikeit", "--files"): 1,
        ("search", "alpha", "--path", "/nope"): 2,
        ("search", "alpha", "--nope"): 2,
        ("list", "--status", "failed"): 1,
        ("list", "--status", "skipped"): 0,
        ("retrieve", str(root / "nope")): 1,
        ("retrieve", str(root / "binary.dat")): 1,
        ("retrieve", "/etc/passwd"): 2,
        ("why", "/etc/passwd"): 0,
        ("forget", "/etc/passwd"): 2,
        ("retrieve", str(root / "code.py"), "--start-line", "9", "--end-line", "3"): 2,
        ("delete", str(root / "nope")): 1,
        ("roots", "remove", "/nope"): 1,
        ("roots", "add", "/nope"): 2,
        ("index", "/nope"): 2,
        ("audit",): 0,
        ("sync",): 0,
        ("daemon",): 4,
        ("nope",): 2,
    }
    assert {words: home.run(*words).returncode for words in expected} == expected


@pytest.mark.skipif(sys.platform == "darwin", reason="names are UTF-8 there")
def test_names_that_are_not_text_go_round(root: Tree, client: Client, home: Home) -> None:
    """Each answer with such a path gives its bytes, and each param takes them."""
    path = os.fsencode(root.path) + b"/odd\xff\nname.txt"
    with open(path, "wb") as file:
        file.write(b"oddword text\n")
    hit = client.call("search", {"query": "oddword", "timeout_ms": 20_000})["hits"][0]
    encoded = hit["path_b64"]
    assert hit["path"] == path.decode("utf-8", "replace")
    for method in ("files/explain", "files/retrieve"):
        answer = client.call(method, {"path_b64": encoded})
        assert (answer["path"], answer["path_b64"]) == (hit["path"], encoded)
    assert client.call("files/list", {"path_b64": encoded})["files"][0]["path_b64"] == encoded
    assert client.call("search", {"query": "oddword", "path_b64": encoded})["hits"][0] == hit
    assert client.call("index/run", {"paths_b64": [encoded]})["scanned"] == 1

    def run(*words: str | bytes) -> bytes:
        command = [os.fsencode(LIVEDEX), *map(os.fsencode, words)]
        return subprocess.run(command, env=home.env, capture_output=True, check=True).stdout

    assert run("search", "oddword", "--files") == path.replace(b"\n", b"\\n") + b"\n"
    assert run("search", "oddword", "--vimgrep").count(b"\n") == 1
    assert json.loads(run("why", "--json", path))["status"] == "indexed"
    assert json.loads(run("delete", "--json", path)) == {"deleted": 1}
    assert json.loads(run("why", "--json", path))["reason"] == "forgotten"
    assert json.loads(run("index", "--json", "--force", path))["indexed"] == 1


def test_names_that_look_like_options(root: Tree, home: Home) -> None:
    root.write("-n.txt", "dashword")
    for words in (["why"], ["retrieve"], ["index", "--force"], ["delete"]):
        command = [str(LIVEDEX), *words, "--", "-n.txt"]
        subprocess.run(command, env=home.env, cwd=root.path, capture_output=True, check=True)
    refused = subprocess.run([LIVEDEX, "why", "-n.txt"], env=home.env, cwd=root.path, capture_output=True, check=False)
    assert refused.returncode == 2
    assert b"--" in refused.stderr


def test_people_and_machines(root: Tree, home: Home) -> None:
    assert home.run("search", "alpha").stdout != home.run("search", "alpha", "--json").stdout
    assert json.loads(home.run("search", "alpha", "--files", "--json").stdout)["hits"]
    lines = home.run("search", "alpha", "lang:python", "--vimgrep", "--path", str(root / "code.py")).stdout
    assert lines == f"{root}/code.py:2:9:    def alpha(self):\n"
    failed = home.run("retrieve", "/etc/passwd", "--json")
    assert failed.stdout == ""
    assert faults(json.loads(failed.stderr), {"error": {"code": 2, "message": str, "data": dict}}) == []
    answered = home.run("retrieve", "/etc/passwd")
    assert answered.stderr.startswith("livedex: no root contains /etc/passwd")


def test_counts_add_up_after_every_kind_of_change(root: Tree, client: Client) -> None:
    def adds_up() -> int:
        assert client.call("sync")["synced"]
        status, total = client.call("status"), client.call("files/list")["total"]
        assert status["files"] + status["skipped"] + status["failed"] == total
        assert isinstance(total, int)
        return total

    before = adds_up()
    root.write("more.dat", b"\0")
    assert adds_up() == before + 1
    (root / "link").symlink_to("code.py")
    assert adds_up() == before + 2
    root.remove("more.dat")
    root.remove("code.py")
    assert adds_up() == before
    client.call("files/delete", {"path": str(root / "copy")})
    assert adds_up() == before
    assert wait_ready(client)["warnings"] == []
