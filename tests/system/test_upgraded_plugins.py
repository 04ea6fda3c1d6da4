"""Packages with plugins that are upgraded, broken, repaired and removed under a daemon that uses them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.plugin_package import install, uninstall
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client

CODE = """
from livedex_indexing.plugins import Span
import a_package_that_it_needs

class Part:
    suffixes = (".odd",)
    def chunk(self, text, suffix):
        return [Span(0, len(text), None, {{"made_by": {version!r}}})]
    def convert(self, path):
        with open(path) as file:
            return "converted by {version}: " + file.read()

def register(registry):
    registry.register_pipeline("packaged", lambda config: Part())
    registry.register_parser("packaged", lambda config: Part())
"""
USED = """
[chunking]
pipelines = { ".txt" = "packaged" }
[parsing]
overrides = { ".odd" = "packaged" }
"""


@pytest.fixture
def site(tree: Tree, tmp_path: Path) -> Path:
    """Where packages are installed; the root has a file for the pipeline and a document for the parser."""
    tree.write_all({"a.txt": "one walrus\n", "a.odd": "one goat\n"})
    folder = tmp_path / "site"
    folder.mkdir(mode=0o700)
    (folder / "a_package_that_it_needs.py").write_text("")
    return folder


def seen_from(site: Path) -> dict[str, str]:
    """Return the environment in which Python finds what is installed there."""
    return {"PYTHONPATH": os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])}


def put(site: Path, version: str, more: str = "") -> None:
    install(site, "livedex_packaged", version, {"__init__.py": CODE.format(version=f"version {version}") + more})


def warned(client: Client) -> str:
    return "; ".join(one["message"] for one in client.status()["warnings"])


class Files:
    """One file that a pipeline cuts, and one document, with what each was made by."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def made_by(self, who: str | None) -> bool:
        cut = self.client.search(query="walrus", timeout_ms=10_000)
        (hit,) = cut["hits"]
        documents = self.client.search(query="goat", timeout_ms=10_000)["hits"]
        first = documents[0]["snippet"] if documents else ""
        converted = f"converted by {who}: " in first if who else first.startswith("one goat")
        return bool(cut["fresh"]) and hit["metadata"].get("made_by") == who and converted

    def wait(self, who: str | None) -> None:
        wait_until(lambda: self.made_by(who), 60, what=f"the files as {who} makes them")


def test_each_state_of_a_package_is_what_the_daemon_uses(
    home: Home, tree: Tree, site: Path, start_daemon: Callable[..., Daemon]
) -> None:
    put(site, "1")
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n{USED}', **seen_from(site))
    with daemon.client() as client:
        files = Files(client)
        assert client.sync(timeout_ms=60_000)["synced"]
        files.wait("version 1")
        put(site, "2", "# another text\n")
        client.server_reload()
        files.wait("version 2")

        shutil.rmtree(site / "livedex_packaged")
        client.server_reload()
        files.wait(None)
        assert "'livedex_packaged' is failed: ModuleNotFoundError" in warned(client)
        assert "livedex_packaged" in home.run("doctor").stdout
        put(site, "2", "# another text\n")  # the same version again
        client.server_reload()
        files.wait("version 2")
        assert warned(client) == ""

        uninstall(site, "livedex_packaged")
        client.server_reload()
        files.wait(None)
        assert "there is no pipeline 'packaged'" in warned(client) and "parser packaged" in warned(client)
    put(site, "3", "# a third text, between a stop and a start\n")
    with daemon.restart().client() as client:
        Files(client).wait("version 3")
        assert warned(client) == ""


def test_a_package_that_it_needs_is_installed_later(
    home: Home, tree: Tree, site: Path, start_daemon: Callable[..., Daemon]
) -> None:
    needed = site / "a_package_that_it_needs.py"
    needed.unlink()
    put(site, "1")
    with start_daemon(f'[[roots]]\npath = "{tree}"\n{USED}', **seen_from(site)).client() as client:
        files = Files(client)
        assert client.sync(timeout_ms=60_000)["synced"]
        (warning,) = [one for one in client.status()["warnings"] if one["code"] == "plugin_refused"]
        assert "No module named 'a_package_that_it_needs'" in warning["message"]
        assert "uninstall it" in warning["remedy"] and "plugins.paths" not in warning["remedy"]
        needed.write_text("")
        home.config.touch()  # as the remedy says: saved again
        files.wait("version 1")
        assert warned(client) == ""
