"""Parsers of plugins that break in every way: each is named, or its documents are listed, and all others are found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.breaking_plugin import BREAKS
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, wait_converted, wait_until
from livedex_ipc.client import Client
from livedex_ipc.wire_results import HitFields

# `fine` shouts; `broken` does what its document says, and its factory what the plugin's settings say.
PLUGIN = (
    BREAKS
    + """
import ctypes

def broken(how, text=""):
    breaks(how)
    if how == "crashes":
        ctypes.string_at(0)
    if how == "floods":
        return "x" * (33 << 20)
    if how == "prints":
        os.write(1, b"noise " * 100_000)
        print("noise " * 100_000)
    return {"none": None, "bytes": text.encode(), "list": [text]}.get(how, text)

class Parser:
    def __init__(self, plugin):
        self.plugin = plugin
    @property
    def suffixes(self):
        broken(self.plugin.get("suffixes", ""))
        return (".odd",)
    def convert(self, path):
        with open(path) as file:
            how, _, text = file.read().partition(" ")
        return broken(how, text)

class Fine:
    suffixes = (".fine",)
    def __init__(self, plugin):
        self.word = plugin.get("word", "well")
    def convert(self, path):
        with open(path) as file:
            return f"{self.word} {file.read()}"

def made(config):
    plugin = config["plugin"]
    if "livedex_indexing.parse.parse_child" in sys.orig_argv:
        broken(plugin.get("child", ""))
    return None if broken(plugin.get("factory", "")) is None else Parser(plugin)

def register(registry):
    registry.register_parser("broken", made)
    registry.register_parser("fine", lambda config: Fine(config["plugin"]))
"""
)
IMPATIENT = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.plugin_host import plugin_host
    plugin_host.FACTORY_S = 1.0
"""
# What a document's record says, by what its parser does.
SAYS = {
    "raises": "parse: the parser 'broken' failed (RuntimeError)",
    "none": "parse: the parser 'broken' failed (TypeError)",
    "bytes": "parse: the parser 'broken' failed (TypeError)",
    "list": "parse: the parser 'broken' failed (TypeError)",
    "hangs": "quarantined: parse: the parser 'broken': timed out after 3 s, twice",
    "ends": "quarantined: parse: the parser 'broken': exit status 3, twice",
    "dies": "quarantined: parse: the parser 'broken': exit status 3, twice",
    "crashes": "quarantined: parse: the parser 'broken': killed by signal 11, twice",
    "floods": "parse: the parser 'broken': too large: it has more than 32 MiB of text",
}
UNUSABLE = [
    ("factory", "raises", "out of order"),
    ("factory", "none", "returned None"),
    ("factory", "ends", "SystemExit"),
    ("factory", "hangs", "does not return"),
    ("suffixes", "raises", "out of order"),
]


@pytest.fixture
def configured(tree: Tree, tmp_path: Path) -> Callable[[str], str]:
    """Return the configuration of the plugin with its settings."""
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "parsers.py").write_text(PLUGIN)
    head = f'[[roots]]\npath = "{tree}"\n[plugins]\npaths = ["{plugins}"]\n[parsing]\ntimeout = 3\n'
    overrides = 'overrides = { ".odd" = "broken", ".fine" = "fine" }\n'
    return lambda settings: f"{head}{overrides}[plugin.parsers]\n{settings}\n"


def reason(client: Client, path: Path) -> str | None:
    (record,) = client.files_list(path=str(path), timeout_ms=30_000)["files"]
    return record.get("reason") if record["status"] == "failed" else None


def said(client: Client) -> str:
    return "; ".join(one["message"] for one in client.status()["warnings"] if one["code"] == "parser_missing")


def neighbours_go_on(client: Client, tree: Tree, name: str) -> None:
    """A new file is found at once, and a new document by another parser once that has converted it."""
    assert client.sync(timeout_ms=30_000)["synced"]
    tree.write(f"{name}.txt", f"a late {name} walrus\n")
    answer = client.search(query=f"{name} walrus", timeout_ms=10_000)
    assert answer["fresh"] and answer["hits"][0]["relative_path"] == f"{name}.txt"
    tree.write(f"{name}.fine", f"goat {name}\n")

    def converted() -> list[HitFields]:
        return client.search(query=f"well goat {name}", mode="exact", timeout_ms=10_000)["hits"]

    (hit,) = wait_until(converted, 30, what=f"{name}.fine")
    assert hit["relative_path"] == f"{name}.fine" and hit["metadata"] == {"parsed_by": "fine"}


def test_its_documents_are_listed_and_all_others_are_found(
    home: Home, tree: Tree, configured: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configured("")).client() as client:
        pid = home.server_pid()
        tree.write_all({f"{how}.odd": f"{how} walrus{how}\n" for how in SAYS})
        tree.write("prints.odd", "prints ostrich\n")
        neighbours_go_on(client, tree, "meanwhile")
        wait_converted(client)
        assert {how: reason(client, tree / f"{how}.odd") for how in SAYS} == SAYS
        (hit,) = client.search(query="ostrich", timeout_ms=10_000)["hits"]
        assert hit["relative_path"] == "prints.odd", "what it prints is neither its answer nor a fault"
        assert client.search(query="noise", timeout_ms=10_000)["hits"] == []
        status = client.status()
        assert status["failed"] == len(SAYS) and "files_failed" in {one["code"] for one in status["warnings"]}
        neighbours_go_on(client, tree, "afterwards")
        tree.write("hangs.odd", "says ostrich again\n")
        wait_converted(client)
        assert reason(client, tree / "hangs.odd") is None, "a changed document is tried again"
        assert home.server_pid() == pid, "the same daemon"


def test_one_that_cannot_be_made_is_named(
    home: Home, tree: Tree, tmp_path: Path, configured: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    tree.write("a.odd", "says ostrich\n")
    with start_daemon(configured(""), **with_code(tmp_path / "seam", IMPATIENT)).client() as client:
        pid = home.server_pid()
        wait_converted(client)
        for where, how, why in UNUSABLE:
            home.config.write_text(configured(f'{where} = "{how}"'))
            client.server_reload()
            wait_until(lambda why=why: why in said(client), 30, what=f"{where} {how}: {said(client)}")  # type: ignore[misc]
            assert "'broken'" in said(client)
            neighbours_go_on(client, tree, f"{where}{how}")
        home.config.write_text(configured("").replace('= "broken"', '= "gone"'))
        client.server_reload()
        assert "the parser gone for .odd" in said(client)
        neighbours_go_on(client, tree, "gone")
        home.config.write_text(configured(""))
        client.server_reload()
        tree.write("b.odd", "says ostrich, too\n")
        wait_converted(client)
        assert said(client) == "" and home.server_pid() == pid, "the same daemon"
        hits = client.search(query="ostrich", timeout_ms=10_000)["hits"]
        assert {hit["metadata"].get("parsed_by") for hit in hits} == {"broken"}


@pytest.mark.parametrize("how", ["raises", "dies"])
def test_one_that_cannot_be_loaded_in_its_process_holds_nothing_up(
    how: str, tree: Tree, configured: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    names = [f"odd{number}.odd" for number in range(6)]
    tree.write_all({name: f"says {name}\n" for name in names})
    with start_daemon(configured(f'child = "{how}"')).client() as client:
        neighbours_go_on(client, tree, "meanwhile")
        wait_converted(client)
        for name in names:
            assert "the parser 'broken' cannot be loaded" in (reason(client, tree / name) or "")


def test_other_settings_convert_its_documents_again(
    home: Home, tree: Tree, configured: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    tree.write("a.fine", "goat\n")
    with start_daemon(configured('word = "first"')).client() as client:
        wait_converted(client)
        assert client.search(query="first goat", mode="exact", timeout_ms=10_000)["hits"]
        home.config.write_text(configured('word = "second"'))
        client.server_reload()
        wait_converted(client)
        assert client.search(query="second goat", mode="exact", timeout_ms=10_000)["hits"]


NEIGHBOUR = """
import os, sys
if "livedex_indexing.parse.parse_child" in sys.orig_argv:
    os._exit(3)

def register(registry):
    pass
"""


def test_another_plugin_that_breaks_in_its_process_costs_nothing(
    tree: Tree, tmp_path: Path, configured: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    (tmp_path / "plugins" / "a_neighbour.py").write_text(NEIGHBOUR)
    with start_daemon(configured("")).client() as client:
        neighbours_go_on(client, tree, "beside")
