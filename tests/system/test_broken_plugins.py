"""Plugins that break in every way: the daemon stays up and names them, and the built-in part gives the answers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.breaking_plugin import BREAKS
from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import Unavailable

# One class for all kinds: each method breaks as the plugin's settings say, in the place that they say.
PLUGIN = (
    BREAKS
    + """
from livedex_indexing.plugins import Hit

def broken(config, where):
    how = config["plugin"].get(where, "")
    breaks(how)
    return how

ANSWERS = {"none": None, "nonsense": ["nonsense"]}

class Broken:
    identity = "broken"
    def __init__(self, config):
        self.config = config
    @property
    def dimensions(self):
        how = broken(self.config, "dimensions")
        return {"none": None, "nonsense": "many"}.get(how, 4)
    def embed(self, text):
        return ANSWERS.get(broken(self.config, "call"), [1.0, 0.0, 0.0, 0.0])
    def embed_batch(self, texts):
        return ANSWERS.get(broken(self.config, "call"), [[1.0, 0.0, 0.0, 0.0] for text in texts])
    def index(self, document):
        broken(self.config, "index")
    def search(self, query, k=5, *, domain=None):
        return ANSWERS.get(broken(self.config, "call"), [])
    def delete(self, path):
        return False
    def clear(self):
        pass
    def list_files(self, **filters):
        return []
    def retrieve(self, path):
        return []
    def status(self):
        return {"files": 0, "chunks": 0}
    def close(self):
        broken(self.config, "close")
    def add_chunk(self, content, domain="general", **kw):
        return ANSWERS.get(broken(self.config, "call"), 1)
    def add_finding(self, content, **kw):
        return self.add_chunk(content)
    def get_hot_memory(self, max_chars=6000):
        return ANSWERS.get(broken(self.config, "call"), "")
    def list_chunks(self, *a, **kw):
        return ANSWERS.get(broken(self.config, "call"), [])
    def stats(self):
        return ANSWERS.get(broken(self.config, "call"), {"entries": 0})
    def delete_by_id(self, chunk_id):
        return False

def made(config):
    return None if broken(config, "factory") == "none" else Broken(config)

def register(registry):
    broken_module = "MODULE"
    registry.register_embedder("broken", made)
    registry.register_backend("broken", made)
    registry.register_knowledge_store("broken", made)
"""
)
SWITCHED_ON = {
    "embedder": '[embedding]\nembedder = "broken"\ntimeout = 1\n',
    "backend": '[index]\nbackend = "broken"\n',
    "knowledge": '[knowledge]\nbackend = "broken"\n',
}
CODES = {kind: f"{kind}_unavailable" for kind in SWITCHED_ON}
SAYS = {"raises": "out of order", "ends": "SystemExit", "none": "None", "hangs": "return", "missing": "there is no"}


@pytest.fixture
def configured(tree: Tree, tmp_path: Path) -> Callable[[str, str], str]:
    """Return the configuration of a plugin that provides some kind, with its settings."""
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "broken.py").write_text(PLUGIN)
    (plugins / "gone.py").write_text("import a_package_that_is_not_here\n")

    def text(kind: str, settings: str) -> str:
        root = f'[[roots]]\npath = "{tree}"\n[plugins]\npaths = ["{plugins}"]\n'
        return f"{root}{SWITCHED_ON[kind]}[plugin.broken]\n{settings}\n"

    return text


def said(client: Client, code: str) -> str:
    return "; ".join(one["message"] for one in client.status()["warnings"] if one["code"] == code)


def is_right(client: Client, tree: Tree, name: str) -> None:
    """A new file is found at once, and by words alone the built-in index ranks."""
    tree.write(f"{name}.txt", f"a late {name} walrus\n")
    answer = client.search(query=f"{name} walrus", timeout_ms=10_000)
    assert answer["fresh"] and answer["hits"][0]["relative_path"] == f"{name}.txt"


IMPATIENT = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.backend import mirror
    from livedex_daemon.knowledge import plugin_memory
    mirror.SEARCH_S = plugin_memory.CALL_S = 1.0
"""
WAYS = [
    ("factory", "raises"), ("factory", "none"), ("factory", "ends"),
    ("call", "raises"), ("call", "none"), ("call", "nonsense"), ("call", "hangs"), ("call", "ends"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["embedder", "backend"])
def test_it_is_named_and_the_built_in_part_answers(
    kind: str, home: Home, tree: Tree, tmp_path: Path, configured: Callable[[str, str], str],
    start_daemon: Callable[..., Daemon],
) -> None:  # fmt: skip
    tree.write("a.txt", "one walrus\n")
    hangs = {"embedder": "return", "backend": "does not answer within"}[kind]
    ways = [*WAYS, *((where, "raises") for where in {"embedder": ("dimensions",), "backend": ("index",)}[kind])]
    settings = configured(kind, 'factory = "raises"')
    with start_daemon(settings, **with_code(tmp_path / "seam", IMPATIENT)).client() as client:
        pid = home.server_pid()
        assert client.sync(timeout_ms=30_000)["synced"]
        for where, how in ways:
            home.config.write_text(configured(kind, f'{where} = "{how}"'))
            client.server_reload()
            reason = hangs if how == "hangs" else SAYS.get(how, "")

            def is_named(reason: str = reason) -> bool:
                text = said(client, CODES[kind])
                return f"{kind} 'broken'" in text and reason in text

            wait_until(is_named, 30, what=f"{where} {how}")
            is_right(client, tree, f"{where}{how}")
        home.config.write_text(configured(kind, "").replace('= "broken"', '= "gone"'))
        client.server_reload()
        wait_until(lambda: "there is no" in said(client, CODES[kind]), what="the missing name")
        for shown in (said(client, "plugin_refused"), home.run("plugins").stdout, home.run("doctor").stdout):
            assert "a_package_that_is_not_here" in shown
        is_right(client, tree, "missing")
        home.config.write_text(configured(kind, ""))
        client.server_reload()
        wait_until(lambda: not said(client, CODES[kind]), 60, what="a plugin that works again")
        assert client.status()["state"] == "ready" and home.server_pid() == pid, "the same daemon"


def test_a_broken_store_of_memory_is_an_error_that_names_it(
    home: Home, tree: Tree, tmp_path: Path, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configured("knowledge", ""), **with_code(tmp_path / "seam", IMPATIENT)).client() as client:
        pid = home.server_pid()
        assert client.sync(timeout_ms=30_000)["synced"]
        for where, how in WAYS:
            home.config.write_text(configured("knowledge", f'{where} = "{how}"'))
            client.server_reload()
            if where == "factory":
                assert client.knowledge_stats()["backend"] == "sqlite"
                (warned,) = client.knowledge_search(query="walrus")["warnings"]
                assert warned["code"] == "knowledge_unavailable" and SAYS.get(how, "") in warned["message"], how
            else:
                for _ in range(2):
                    with pytest.raises(Unavailable, match="the knowledge store 'broken' failed"):
                        client.call("knowledge/search", {"query": "walrus"}, timeout_s=60)
            is_restart = any("`livedex down`" in one["remedy"] for one in client.status()["warnings"])
            assert is_restart == (how == "hangs"), "what else is wrong with it is over with the next call"
            reason = "search answers nonsense" if where == "call" and how in ("none", "nonsense") else SAYS.get(how, "")
            assert reason in said(client, CODES["knowledge"]) != ""
            answer = client.search(query="walrus", knowledge=True, timeout_ms=2_000)
            assert "knowledge_unavailable" in {one["code"] for one in answer["warnings"]}
            is_right(client, tree, f"{where}{how}")
        home.config.write_text(configured("knowledge", 'close = "ends"'))
        client.server_reload()
        assert client.knowledge_stats()["backend"] == "broken" and not said(client, CODES["knowledge"])
        home.config.write_text(configured("knowledge", "").replace('= "broken"', '= ""'))
        client.server_reload()
        assert client.knowledge_stats()["backend"] == "sqlite" and home.server_pid() == pid, "the same daemon"


def ends(home: Home) -> None:
    """Run a daemon in whose plugin the process ends."""
    run = [sys.executable, "-m", "livedex_daemon", "daemon"]
    with home.stderr.open("ab") as stderr:
        done = subprocess.run(run, env={**os.environ, **home.env}, stderr=stderr, timeout=60, check=False)
    assert done.returncode == 3


def is_left_out(client: Client, tree: Tree, module: Path) -> None:
    """The daemon goes on without the plugin until its module changes."""
    assert client.sync(timeout_ms=30_000)["synced"]
    assert "'broken'" in said(client, "plugin_refused") and "crashed in its code" in said(client, "plugin_refused")
    is_right(client, tree, "later")
    module.write_text(PLUGIN.replace("os._exit(3)", "pass"))
    client.server_reload()
    wait_until(lambda: "crashed" not in said(client, "plugin_refused"), what="the changed plugin loaded")


@pytest.mark.parametrize("kind", ["embedder", "backend"])
def test_code_that_ends_the_process_is_left_out_after_three_times(
    kind: str, home: Home, tree: Tree, tmp_path: Path, configured: Callable[[str, str], str],
    start_daemon: Callable[..., Daemon],
) -> None:  # fmt: skip
    tree.write("a.txt", "one walrus\n")
    text = configured(kind, 'call = "dies"')
    home.config.write_text(text)
    for _ in range(3):
        ends(home)
    with start_daemon(text).client() as client:
        is_left_out(client, tree, tmp_path / "plugins" / "broken.py")


def test_a_module_that_ends_the_process_is_left_out_after_two(
    home: Home, tree: Tree, tmp_path: Path, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    tree.write("a.txt", "one walrus\n")
    text = configured("embedder", "")
    module = tmp_path / "plugins" / "broken.py"
    module.write_text(PLUGIN.replace('broken_module = "MODULE"', "os._exit(3)"))
    home.config.write_text(text)
    ends(home)
    ends(home)
    daemon = start_daemon(text)
    with daemon.client() as client:
        wait_until(lambda: "crashed in its code" in said(client, "plugin_refused"), what="the plugins' load")
    daemon.stop()
    for _ in range(2):
        ends(home)  # it was stopped: the plugin is tried again
    with daemon.start().client() as client:
        is_left_out(client, tree, module)


COPY = """
import os, time

if not os.path.exists({path!r}):
    copy = os.fork()
    if copy == 0:
        time.sleep(600)
        os._exit(0)
    with open({path!r}, "w") as file:
        file.write(str(copy))

def register(registry):
    pass
"""


def test_a_copy_that_a_plugin_made_has_nothing_of_the_daemon(
    home: Home, tmp_path: Path, configured: Callable[[str, str], str], start_daemon: Callable[..., Daemon]
) -> None:
    daemon, pid = start_daemon(configured("embedder", "")), tmp_path / "pid"
    with daemon.client() as client:
        (tmp_path / "plugins" / "copies.py").write_text(COPY.format(path=str(pid)))
        client.server_reload()
        copy = int(pid.read_text())
        try:
            daemon.kill()
            with pytest.raises(Unavailable, match="closed the connection"):
                client.call("status", timeout_s=10)
            assert home.run("status", "--no-spawn").returncode == 3, "nothing listens"
            with daemon.start().client() as again:
                again.status()
        finally:
            os.kill(copy, signal.SIGKILL)
