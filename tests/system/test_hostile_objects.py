"""Objects of plugins that raise what is no ``Exception``, where nobody expects it: named, and hindering nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.support import Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import Unavailable

PLUGIN = """
from livedex_indexing.plugins import BaseBackend, BaseEmbedder

class Odd(BaseException):
    pass

def raises(*ignored):
    raise {fault}

class Part(BaseBackend, BaseEmbedder):
    dimensions = 2
    suffixes = (".odd",)
    def search(self, query, k=5, *, domain=None):
        return []
    def list_files(self, **filters):
        return {listed}
    def stats(self):
        return {{"entries": 0}}
    def embed(self, text):
        return [1.0, 0.0]
    index = delete = clear = retrieve = status = chunk = convert = add_chunk = add_finding = list_chunks = embed
    get_hot_memory = delete_by_id = embed

for name in {properties}:
    setattr(Part, name, property(raises))

def register(registry):
    make = {make}
    registry.register_embedder("odd", make)
    registry.register_backend("odd", make)
    registry.register_knowledge_store("odd", make)
    registry.register_parser("odd", make)
    registry.register_pipeline("odd", make)
"""
MADE, FAILING = "lambda config: Part()", "raises"
USED = {
    "embedder": '[embedding]\nembedder = "odd"\n',
    "backend": '[index]\nbackend = "odd"\n',
    "knowledge": '[knowledge]\nbackend = "odd"\n',
    "parser": '[parsing]\noverrides = { ".odd" = "odd" }\n',
    "pipeline": '[chunking]\npipelines = { ".txt" = "odd" }\n',
}
CODES = {kind: f"{kind}_unavailable" for kind in USED} | {"parser": "parser_missing"}
EXTRAS = ("version", "identity", "host", "bytes_sent", "close")


def code(fault: str, make: str, *properties: str, listed: str = "[]") -> str:
    return PLUGIN.format(fault=fault, make=make, properties=repr(properties), listed=listed)


@pytest.fixture
def configured(tree: Tree, tmp_path: Path) -> Callable[[str, str], str]:
    """Write the plugin's code, and return the configuration that uses it for something."""
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)

    def text(kind: str, plugin: str) -> str:
        (plugins / "odd.py").write_text(plugin)
        return f'[[roots]]\npath = "{tree}"\n[plugins]\npaths = ["{plugins}"]\n{USED[kind]}'

    return text


def said(client: Client, kind: str) -> str:
    return "; ".join(one["message"] for one in client.status()["warnings"] if one["code"] == CODES[kind])


def goes_on(client: Client, tree: Tree, name: str) -> None:
    tree.write(f"{name}.txt", f"a late {name} walrus\n")
    answer = client.search(query=f"{name} walrus", timeout_ms=10_000)
    assert answer["fresh"] and answer["hits"][0]["relative_path"] == f"{name}.txt"
    assert "thread_dead" not in {one["code"] for one in client.status()["warnings"]}


@pytest.mark.parametrize("kind", list(USED))
def test_each_is_named(
    kind: str, home: Home, tree: Tree, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    cases = [
        (code("Odd('odd fault')", FAILING), "Odd: odd fault"),
        (code("KeyboardInterrupt('stop it')", FAILING), "KeyboardInterrupt: stop it"),
        (code("SystemExit", MADE, "dimensions", "suffixes", "search", "chunk", "stats"), "SystemExit"),
    ]
    with start_daemon(configured(kind, code("Odd", MADE))).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        for number, (plugin, reason) in enumerate(cases):
            home.config.write_text(configured(kind, plugin))
            client.server_reload()
            if kind == "knowledge":
                with suppress(Unavailable):
                    client.knowledge_stats()
            goes_on(client, tree, f"file{number}")
            wait_until(lambda reason=reason: reason in said(client, kind), what=reason)  # type: ignore[misc]
        home.config.write_text(configured("parser" if kind == "knowledge" else "knowledge", code("Odd", MADE)))
        client.server_reload()
        wait_until(lambda: not said(client, kind), what="no warning about what is used no more")


@pytest.mark.parametrize("kind", list(USED))
def test_none_ends_the_daemon_by_what_it_may_have(
    kind: str, home: Home, tree: Tree, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configured(kind, code("SystemExit('the end')", MADE, *EXTRAS))).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        if kind == "knowledge":
            assert client.knowledge_stats()["backend"] == "odd"
        goes_on(client, tree, "first")
        if kind in ("embedder", "parser"):
            wait_until(lambda: "SystemExit: the end" in said(client, kind), what="the fault of what it uses")
        home.config.write_text(configured(kind, code("SystemExit('the end')", MADE, "host", "bytes_sent", "close")))
        client.server_reload()
        if kind == "knowledge":
            assert client.knowledge_stats()["backend"] == "odd"
        goes_on(client, tree, "second")


@pytest.mark.parametrize("listed", ["None", "5", "[None]", "[5]", "(raises() for _ in [1])"])
def test_a_backend_that_lists_nonsense_is_named(
    listed: str, tree: Tree, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configured("backend", code("Odd('odd fault')", MADE, listed=listed))).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        wait_until(lambda: "the backend 'odd' is lost" in said(client, "backend"), what="the fault")
        goes_on(client, tree, "file")


def test_a_backend_that_is_gone_ranks_no_more(
    home: Home, tree: Tree, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    text = configured("backend", code("Odd", MADE))
    with start_daemon(text).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        wait_until(lambda: client.status()["backend"] == "odd", what="the backend in use")
        home.config.write_text(text.replace("paths = ", "# "))
        client.server_reload()
        wait_until(lambda: "there is no backend 'odd'" in said(client, "backend"), what="the fault")
        assert client.status()["backend"] == "sqlite", "as the warning says"
        goes_on(client, tree, "file")
