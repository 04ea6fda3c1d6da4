"""Pipelines of plugins in a real daemon: they cut files, and where they fail a warning says so and search goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_ipc.client import Client

PLUGIN = """
import os, time
from livedex_indexing.plugins import Span

class Lines:
    def chunk(self, text, suffix):
        assert os.getpid() != int(open({pid_file!r}).read() or 0), "a pipeline runs in no daemon"
        spans, at = [], 0
        for line in text.splitlines(keepends=True):
            spans.append(Span(at, at + len(line)))
            at += len(line)
        return spans

class Broken:
    def __init__(self, how):
        self.how = how
    def chunk(self, text, suffix):
        return self.how(text)

def register(registry):
    registry.register_pipeline("lines", lambda config: Lines())
    registry.register_pipeline("raises", lambda config: Broken(lambda text: 1 / 0))
    registry.register_pipeline("ends", lambda config: Broken(lambda text: os._exit(3)))
    registry.register_pipeline("hangs", lambda config: Broken(lambda text: time.sleep(600)))
    registry.register_pipeline("lies", lambda config: Broken(lambda text: [Span(0, len(text) + 1)]))
    registry.register_pipeline("none", lambda config: None)
"""
# A pipeline that hangs is given up after 3 s: half of this.
IMPATIENT = "from livedex_indexing.chunk import chunk_limits\nchunk_limits.TIME_S = 6.0\n"
BROKEN = {"raises": "ZeroDivisionError", "ends": "its process ended: exit status 3", "hangs": "it takes too long"}
BROKEN |= {"lies": "outside a text", "none": "its factory returned None"}


def configuration(tree: Tree, folder: Path, pipelines: dict[str, str]) -> str:
    table = ", ".join(f'".{suffix}" = "{name}"' for suffix, name in pipelines.items())
    root = f'[[roots]]\npath = "{tree}"\n'
    return f'{root}[chunking]\npipelines = {{ {table} }}\n[plugins]\npaths = ["{folder}"]\n'


def lines_of(client: Client, tree: Tree, name: str) -> list[int]:
    """The first lines of the chunks of a file."""
    return [chunk["start_line"] for chunk in client.files_retrieve(path=str(tree / name))["chunks"]]


def reasons(client: Client) -> dict[str, str]:
    """The messages of the warnings about pipelines, by the name between quotes in each."""
    said = [one["message"] for one in client.status()["warnings"] if one["code"] == "pipeline_unavailable"]
    return {message.split("'")[1]: message for message in said}


def test_pipelines_cut_or_degrade(home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    pid_file = tmp_path / "pid"
    pid_file.write_text("")
    (plugins / "mine.py").write_text(PLUGIN.format(pid_file=str(pid_file)))
    kinds = {name: name for name in ("lines", *BROKEN)} | {"away": "nowhere"}
    tree.write_all({f"a.{name}": f"walrus of {name}\nsecond line\n" for name in kinds})
    daemon = start_daemon(configuration(tree, plugins, kinds), **with_code(tmp_path / "seam", IMPATIENT))
    pid_file.write_text(str(home.server_pid()))
    with daemon.client() as client:
        assert client.sync(timeout_ms=110_000)["synced"]
        assert (lines_of(client, tree, "a.lines"), lines_of(client, tree, "a.lies")) == ([1, 2], [1])
        found = client.search(query="walrus", limit=20)["hits"]
        assert {hit["relative_path"] for hit in found} == {f"a.{name}" for name in kinds}, "search goes on"
        fallback = {hit["relative_path"][2:]: hit["metadata"].get("fallback") for hit in found}
        assert fallback == {name: "pipeline" if name in BROKEN else None for name in kinds}
        said = reasons(client)
        assert set(said) == {*BROKEN, "nowhere"}
        assert all(reason in said[name] for name, reason in BROKEN.items()), said
        assert "there is no pipeline 'nowhere'" in said["nowhere"]
        assert client.status()["state"] == "ready" and client.status()["failed"] == 0
        assert client.index_audit()["differences"] == []

        # Mended: its files are cut again, and the warnings end.
        mended = PLUGIN.format(pid_file=str(pid_file))
        for name in BROKEN:
            start = mended.index(f'"{name}", lambda config: ')
            mended = mended[:start] + f'"{name}", lambda config: Lines())' + mended[mended.index("\n", start) :]
        (plugins / "mine.py").write_text(mended)
        home.config.write_text(configuration(tree, plugins, {name: name for name in ("lines", *BROKEN)}))
        client.server_reload()
        wait_until(lambda: lines_of(client, tree, "a.hangs") == [1, 2], what="the file cut again")
        assert client.sync(timeout_ms=60_000)["synced"] and reasons(client) == {}


COPIES = """
import os, sys
from livedex_indexing.plugins import Span

class Copies:
    def chunk(self, text, suffix):
        os.fork()
        print(text, flush=True)
        print(text, file=sys.stderr, flush=True)
        return [Span(0, len(text))]

def register(registry):
    registry.register_pipeline("copies", lambda config: Copies())
"""


def test_one_that_copies_its_process_or_prints_harms_nothing(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "mine.py").write_text(COPIES)
    tree.write("a.txt", "first walrus\n")
    with start_daemon(configuration(tree, plugins, {"txt": "copies"})).client() as client:
        assert client.sync(timeout_ms=60_000)["synced"]
        for number in range(10):
            tree.write(f"b{number}.txt", f"later zebra{number}\n")
            answer = client.search(query=f"zebra{number}", timeout_ms=10_000)
            assert answer["fresh"] and [hit["relative_path"] for hit in answer["hits"]] == [f"b{number}.txt"]
        assert client.index_audit()["differences"] == [] and reasons(client) == {}
    assert "walrus" not in home.logs() and "zebra" not in home.logs()
