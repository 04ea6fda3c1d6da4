"""What a name of the configuration gives: the object, or a reason that is kept until the name works."""

from __future__ import annotations

from pathlib import Path

from livedex_daemon.config import settings
from livedex_daemon.config.settings import Config
from livedex_daemon.plugin_host.plugin_host import PluginHost
from livedex_indexing.plugins import EMBEDDER, PIPELINE, Registry
from livedex_indexing.plugins.plugin_loader import load_sources
from livedex_indexing.plugins.plugin_source import find

PLUGIN = """
class Fixed:
    dimensions = 2
    def __init__(self, config):
        self.config = config
    def embed(self, text):
        return [1.0, 0.0]
    def embed_batch(self, texts):
        return [[1.0, 0.0] for text in texts]

def register(registry):
    registry.register_embedder("fixed", Fixed)
    registry.register_embedder("none", lambda config: None)
"""


def config(folder: Path, more: str = "") -> Config:
    return settings.parse(f'[plugins]\npaths = ["{folder}"]\n{more}')


def test_a_factory_gets_the_settings_of_its_plugin(tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(PLUGIN)
    host = PluginHost({})
    assert host.load(
        config(tmp_path, '[plugin.fixed]\nsizes = [1, 2]\nsince = 2026-05-01\n[plugin.fixed.a]\nb = "c"\n')
    )
    made = host.obtain(EMBEDDER, "fixed")
    assert made is not None and made.embed("x") == [1.0, 0.0]
    given = made.config  # type: ignore[attr-defined]
    assert given["plugin"] == {"sizes": (1, 2), "since": "2026-05-01", "a": {"b": "c"}}
    assert (given["index"]["backend"], given["chunking"]["chunk_size"]) == ("sqlite", 2048)
    assert host.faults() == []


def test_a_name_without_an_object_is_a_fault_until_it_is_used_no_more(tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(PLUGIN)
    host = PluginHost({})
    host.load(config(tmp_path))
    assert host.obtain(EMBEDDER, "none") is None and host.obtain(EMBEDDER, "nowhere") is None
    assert [(fault.kind, fault.name) for fault in host.faults()] == [("embedder", "none"), ("embedder", "nowhere")]
    known = host.faults()[1].reason.partition("known: ")[2].rstrip(")").split(", ")
    assert {"fixed", "none"} < set(known), "livedex's own are known, too"
    host.used(PIPELINE, [])
    assert len(host.faults()) == 2
    host.used(EMBEDDER, ["none"])
    assert [fault.name for fault in host.faults()] == ["none"]
    host.report(EMBEDDER, "none", None)
    assert host.faults() == []


def test_nothing_is_loaded_again_until_something_differs(tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(PLUGIN)
    host = PluginHost({})
    assert host.load(config(tmp_path)) and not host.load(config(tmp_path))
    assert host.load(config(tmp_path, "[plugin.fixed]\na = 1\n"))
    (tmp_path / "fixed.py").write_text(PLUGIN.replace('"fixed"', '"other"'))
    assert host.load(config(tmp_path, "[plugin.fixed]\na = 1\n"))
    names = set(host.registry.names(EMBEDDER))
    assert {"none", "other"} < names and "fixed" not in names and host.generation == 3


def test_a_plugin_that_hangs_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "hangs.py").write_text("import threading\nthreading.Event().wait(60)\n" + PLUGIN)
    (tmp_path / "whole.py").write_text(PLUGIN)
    plugins = load_sources(find([str(tmp_path)]), Registry(), limit_s=1.0)
    assert [plugin.state for plugin in plugins.found] == ["failed", "loaded"]
    assert plugins.found[0].reason == "TimeoutError: it does not return within 1 s"
