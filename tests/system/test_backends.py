"""Backends of plugins in a real daemon: filled, asked, lost and found again, and never a reason to find nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.fault_injection import SETTLES_AT_ONCE, with_code
from helpers.support import CHECKOUT, Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import LivedexError

PAGE = (CHECKOUT / "docs" / "plugins.md").read_text()
(MEMORY,) = re.findall(r'```python\n("""memory\.py: .*?)```', PAGE, re.DOTALL)
(SMALL,) = re.findall(r'```python\n("""small\.py: .*?)```', PAGE, re.DOTALL)
# A backend outside of the daemon: a folder with a file for each document, and files that say how to fail.
OUTSIDE = """
import hashlib, json, os, time
from livedex_indexing.plugins import BaseBackend, FileRecord, Hit

class Outside(BaseBackend):
    def __init__(self, config):
        self.folder = config["plugin"]["folder"]
        self.check("factory")
    def check(self, where):
        path = os.path.join(self.folder, "fail-" + where)
        if not os.path.exists(path):
            return
        how = open(path).read()
        if how == "raise":
            raise OSError("the server is gone")
        if how == "hang":
            time.sleep(60)
        return how
    def name(self, path):
        return os.path.join(self.folder, hashlib.md5(path.encode()).hexdigest() + ".json")
    def index(self, document):
        self.check("index")
        with open(os.path.join(self.folder, "calls"), "a") as file:
            file.write(document.path + "\\n")
        kept = {"path": document.path, "hash": document.content_hash, "texts": [c.text for c in document.chunks]}
        with open(self.name(document.path), "w") as file:
            json.dump(kept, file)
    def delete(self, path):
        self.check("index")
        gone = [one for one in self.documents() if one["path"] == path or one["path"].startswith(path + "/")]
        for one in gone:
            os.unlink(self.name(one["path"]))
        return bool(gone)
    def documents(self):
        names = [name for name in sorted(os.listdir(self.folder)) if name.endswith(".json")]
        return [json.load(open(os.path.join(self.folder, name))) for name in names]
    def list_files(self, **filters):
        return [FileRecord(one["path"], "indexed", 0, 1, content_hash=one["hash"]) for one in self.documents()]
    def search(self, query):
        how = self.check("search")
        if how == "nonsense":
            return [("a", 1)]
        if how == "nan":
            return [Hit("/a", 0, float("nan"))]
        words = query.text.lower().split()
        hits = []
        for one in self.documents():
            if query.path and not (one["path"] + "/").startswith(query.path + "/"):
                continue
            for ordinal, text in enumerate(one["texts"]):
                score = sum(text.lower().count(word) for word in words)
                if score:
                    hits.append(Hit(one["path"], ordinal, float(score)))
        return sorted(hits, key=lambda hit: -hit.score)[query.offset:query.offset + query.limit]

def register(registry):
    registry.register_backend("outside", Outside)
"""

# A call that hangs is given up after 2 s.
IMPATIENT = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.backend import mirror
    mirror.SEARCH_S = 2.0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "outside"
    made.mkdir()
    return made


@pytest.fixture
def configuration(tree: Tree, tmp_path: Path, folder: Path) -> Callable[[str], str]:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "outside.py").write_text(OUTSIDE)
    (plugins / "memory.py").write_text(MEMORY)
    tree.write_all({"a.md": "# Sea\n\nwalrus walrus walrus\n", "b.txt": "one walrus\n", "c.txt": "a goat\n"})

    def text(backend: str) -> str:
        root = f'[[roots]]\npath = "{tree}"\n[index]\nbackend = "{backend}"  # the one\n'
        return f'{root}[plugins]\npaths = ["{plugins}"]\n[plugin.outside]\nfolder = "{folder}"\n'

    return text


def found(client: Client, query: str = "walrus", **params: Any) -> list[str]:
    client.sync(timeout_ms=30_000)
    answer = client.search(query=query, timeout_ms=30_000, **params)
    return [hit["relative_path"] for hit in answer["hits"]]


def lost(client: Client) -> str:
    said = [one["message"] for one in client.status()["warnings"] if one["code"] == "backend_unavailable"]
    return "; ".join(said)


def ranks(client: Client, name: str) -> Client:
    assert client.sync(timeout_ms=30_000)["synced"]
    wait_until(lambda: client.status()["backend"] == name and not lost(client), what=f"the backend {name} ranks")
    return client


def calls(folder: Path) -> list[str]:
    return [Path(line).name for line in (folder / "calls").read_text().splitlines()]


def test_a_backend_of_the_page_ranks(
    tree: Tree, configuration: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configuration("memory")).client() as client:
        ranks(client, "memory")
        hits = client.search(query="walrus", timeout_ms=30_000, explain=True)["hits"]
        assert [(hit["relative_path"], hit["score"]) for hit in hits] == [("a.md", 3.0), ("b.txt", 1.0)]
        assert hits[0]["snippet"] and hits[0]["highlights"], "cut from the live file"
        assert hits[0]["heading"] == "Sea"
        tree.write("b.txt", "walrus " * 9)
        assert found(client) == ["b.txt", "a.md"], "as fresh as the built-in index"
        tree.write("copy/a.md", "# Sea\n\nwalrus walrus walrus\n")
        tree.remove("b.txt")
        (hit,) = client.search(query="walrus", timeout_ms=30_000)["hits"]
        assert {hit["relative_path"], *(path[len(str(tree)) + 1 :] for path in hit["also_at"])} == {"a.md", "copy/a.md"}
        assert found(client, path=str(tree / "copy")) == ["copy/a.md"]
        assert found(client, limit=1, offset=1, group="file") == []
        assert found(client, "one goat lang:markdown") == []
        assert found(client, "a goat", mode="exact") == ["c.txt"]
        assert found(client, "") != [] and found(client, "goat") == ["c.txt"]


def test_a_search_in_a_root_or_above_it_is_in_all_of_it(
    start_daemon: Callable[..., Daemon], configuration: Callable[[str], str], tree: Tree
) -> None:
    """The plugin gets the root as it is, without a slash at its end."""
    tree.write("sea/c.txt", "a walrus at sea\n")
    with start_daemon(configuration("outside")).client() as client:
        ranks(client, "outside")
        for path in (str(tree), str(tree.path.parent), "/"):
            assert sorted(found(client, mode="keyword", path=path)) == ["a.md", "b.txt", "sea/c.txt"], path
        assert found(client, mode="keyword", path=f"{tree}/sea") == ["sea/c.txt"]


def test_it_gets_the_converted_text_of_a_document(
    tree: Tree, folder: Path, tmp_path: Path, configuration: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    (tmp_path / "plugins" / "small.py").write_text(SMALL)
    tree.write("animals.csv", "name,size\nnarwhal,large\n")
    config = configuration("outside") + '[parsing]\noverrides = { ".csv" = "csv" }\n'
    with start_daemon(config).client() as client:
        wait_until(lambda: found(client, "narwhal") == ["animals.csv"], what="the document converted")
        wait_until(lambda: client.status()["backend"] == "outside", what="the backend in use")
        (hit,) = client.search(query="narwhal", timeout_ms=30_000)["hits"]
        assert "| narwhal | large |" in hit["snippet"] and hit["metadata"]["parsed_by"] == "csv"
        texts = [text for one in folder.glob("*.json") for text in json.loads(one.read_text())["texts"]]
        assert any("| narwhal | large |" in text for text in texts)


def test_only_what_differs_is_sent_after_a_start(
    tree: Tree, folder: Path, tmp_path: Path, configuration: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    env = with_code(tmp_path / "seam", SETTLES_AT_ONCE)
    daemon = start_daemon(configuration("outside"), **env)
    with daemon.client() as client:
        ranks(client, "outside")
        assert found(client) == ["a.md", "b.txt"]
        assert sorted(calls(folder)) == ["a.md", "b.txt", "c.txt"]
    daemon.stop()
    (folder / "calls").unlink()
    tree.write("b.txt", "two walrus walrus\n")
    tree.remove("c.txt")
    tree.write("d.txt", "a new walrus\n")
    with start_daemon(configuration("outside"), **env).client() as client:
        assert client.sync(timeout_ms=30_000)["synced"]
        ranks(client, "outside")
        assert found(client) == ["a.md", "b.txt", "d.txt"] and found(client, "goat") == []
        assert sorted(set(calls(folder))) == ["b.txt", "d.txt"]


@pytest.mark.parametrize(
    ("where", "how", "reason"),
    [
        ("search", "raise", "OSError: the server is gone"),
        ("search", "hang", "it does not answer within"),
        ("search", "nonsense", "it returns a list of tuple, not of Hit"),
        ("search", "nan", "it returns the score nan"),
        ("index", "raise", "OSError: the server is gone"),
    ],
)
def test_a_lost_backend_costs_its_ranking_alone(
    where: str, how: str, reason: str, tree: Tree, folder: Path, tmp_path: Path,
    configuration: Callable[[str], str], start_daemon: Callable[..., Daemon],
) -> None:  # fmt: skip
    env = with_code(tmp_path / "seam", IMPATIENT) if how == "hang" else {}
    with start_daemon(configuration("outside"), **env).client() as client:
        ranks(client, "outside")
        (folder / f"fail-{where}").write_text(how)
        if where == "index":
            tree.write("b.txt", "walrus " * 9)
            wait_until(lambda: reason in lost(client), what="the loss")
        answer = client.search(query="walrus", timeout_ms=2_000)
        assert {hit["relative_path"] for hit in answer["hits"]} == {"a.md", "b.txt"} and answer["fresh"]
        said = [one["message"] for one in answer["warnings"] if one["code"] == "backend_unavailable"]
        assert len(said) == 1 and reason in said[0]
        tree.write("e.txt", "a late walrus\n")
        assert "e.txt" in found(client), "nothing waits for a lost backend"
        (folder / f"fail-{where}").unlink()
        ranks(client, "outside")
        assert "e.txt" in found(client) and "e.txt" in calls(folder)


@pytest.mark.parametrize("backend", ["nowhere", "outside"])
def test_a_backend_that_cannot_be_made(
    backend: str, folder: Path, configuration: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    (folder / "fail-factory").write_text("raise")
    with start_daemon(configuration(backend)).client() as client:
        reason = "there is no backend 'nowhere'" if backend == "nowhere" else "the server is gone"
        wait_until(lambda: reason in lost(client), what="the reason")
        assert client.status()["backend"] == "sqlite" and set(found(client)) == {"a.md", "b.txt"}


def test_index_switches_when_the_new_one_is_complete(
    home: Home, folder: Path, configuration: Callable[[str], str], start_daemon: Callable[..., Daemon]
) -> None:
    with start_daemon(configuration("memory")).client() as client:
        ranks(client, "memory")
        (folder / "fail-index").write_text("raise")
        with pytest.raises(LivedexError, match=r"the server is gone.*nothing was changed"):
            client.index_run(backend="outside")
        assert client.status()["backend"] == "memory" and 'backend = "memory"  # the one' in home.config.read_text()
        assert lost(client) == ""
        (folder / "fail-index").unlink()
        done = home.run("index", "--backend", "outside")
        assert done.returncode == 0, done.stderr
        assert client.status()["backend"] == "outside" and 'backend = "outside"  # the one' in home.config.read_text()
        assert found(client) == ["a.md", "b.txt"]
        assert home.run("index", "--backend", "sqlite").returncode == 0
        assert client.status()["backend"] == "sqlite" and lost(client) == ""
