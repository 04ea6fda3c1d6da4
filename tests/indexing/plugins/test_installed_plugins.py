"""Plugins of installed packages: what is found in their metadata, and which code runs after an upgrade."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from pathlib import Path

import pytest

from helpers.plugin_package import install, uninstall
from livedex_indexing.plugins import PIPELINE, Registry
from livedex_indexing.plugins.plugin_loader import LoadedPlugin, Plugins, load

CODE = """
from livedex_sample.names import NAME

def register(registry):
    registry.register_pipeline(NAME, lambda config: None)
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir(mode=0o700)
    monkeypatch.syspath_prepend(str(folder))
    return folder


def put(site: Path, version: str, name: str) -> None:
    install(site, "livedex_sample", version, {"__init__.py": CODE, "names.py": f"NAME = {name!r}\n"})


def loaded() -> Plugins:
    return load([], Registry(), {"LIVEDEX_LOAD_PLUGINS": "livedex_sample"})


def only() -> LoadedPlugin:
    (plugin,) = loaded().found
    return plugin


def test_after_an_upgrade_the_new_code_runs(site: Path) -> None:
    for version, name in (("1", "first"), ("2", "second one"), ("2", "the same version, installed again")):
        put(site, version, name)
        assert loaded().registry.names(PIPELINE) == (name,)
        module = sys.modules["livedex_sample"]
        assert only().state == "loaded" and sys.modules["livedex_sample"] is module, "as long as it is the same"


def test_a_package_whose_code_is_gone_fails_until_it_is_installed_again(site: Path) -> None:
    put(site, "1", "first")
    assert only().state == "loaded"
    shutil.rmtree(site / "livedex_sample")
    gone = only()
    assert gone.state == "failed" and "No module named 'livedex_sample'" in str(gone.reason)
    put(site, "1", "first again")
    assert loaded().registry.names(PIPELINE) == ("first again",)
    uninstall(site, "livedex_sample")
    assert loaded().found == ()


def test_nothing_stays_of_a_package_whose_import_failed(site: Path) -> None:
    for version, name, fault in (("1", "first", "1 / 0"), ("2", "second one", "")):
        modules = {"__init__.py": f"from . import names\n{fault}\n", "names.py": f"NAME = {name!r}\n", "mine.py": CODE}
        install(site, "livedex_sample", version, modules, "livedex_sample = livedex_sample.mine")
        assert only().state == ("failed" if fault else "loaded")
    assert loaded().registry.names(PIPELINE) == ("second one",)


def test_a_part_of_a_shared_package_is_imported_anew_alone(site: Path) -> None:
    others = []
    for version, name in (("1", "first"), ("2", "second one")):
        modules = {"mine.py": f"def register(registry): registry.register_pipeline({name!r}, print)\n"}
        install(site, "livedex_shared", version, modules, "livedex_sample = livedex_shared.mine")
        (site / "livedex_shared" / "other.py").write_text("")
        assert loaded().registry.names(PIPELINE) == (name,)
        others.append(import_module("livedex_shared.other"))
    assert others[0] is others[1], "what others loaded of a namespace stays"


DAMAGED = (b"[livedex.plugins]\nx = \xff\n", b"[livedex.plugins\nx : \n", b"# livedex.plugins\n=")


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_metadata_is_named(site: Path, text: bytes) -> None:
    put(site, "1", "first")
    (site / "livedex_sample-1.dist-info" / "entry_points.txt").write_bytes(text)
    plugin = only()
    assert plugin.state == "refused" and plugin.reason is not None
    assert "entry_points.txt is damaged" in plugin.reason and "--force-reinstall livedex_sample" in plugin.reason


def test_what_pip_has_put_aside_is_no_plugin(site: Path) -> None:
    put(site, "2", "first")
    shutil.copytree(site / "livedex_sample-2.dist-info", site / "~ivedex_sample-1.dist-info")
    assert only().state == "loaded"


def test_a_path_that_an_import_ignores_is_ignored(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(site, "1", "first")
    for odd in (5, None, b"/tmp", site):
        monkeypatch.syspath_prepend(odd)
    assert only().state == "loaded"
