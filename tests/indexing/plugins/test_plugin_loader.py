"""Which plugins are loaded: ownership, selection, collisions and faults."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from livedex_indexing.plugins import BACKEND, BUILT_IN, PIPELINE, PluginUnavailable, Registry
from livedex_indexing.plugins.plugin_loader import LoadedPlugin, load, load_failed

PIPELINE_TEXT = """
class Whole:
    def chunk(self, text, suffix):
        return []

def register(registry):
    registry.register_pipeline({name!r}, lambda config: Whole())
"""


def write(folder: Path, module: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{module}.py"
    path.write_text(text)
    path.chmod(0o600)
    return path


def only(folder: Path, env: dict[str, str] | None = None) -> LoadedPlugin:
    (plugin,) = load([str(folder)], Registry(), env or {}).found
    return plugin


def test_a_module_is_the_plugin_of_its_name(tmp_path: Path) -> None:
    write(tmp_path, "whole", PIPELINE_TEXT.format(name="one"))
    (tmp_path / "notes.txt").write_text("no plugin")
    plugin = only(tmp_path)
    assert (plugin.source.name, plugin.state, plugin.reason) == ("whole", "loaded", None)
    assert [(provided.kind, provided.name) for provided in plugin.provides] == [("pipeline", "one")]
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize("name", ["my-plugin", "2nd", "a b", "\x1b[2J", "\udcff"])
def test_a_file_that_no_module_can_have_is_named(name: str, tmp_path: Path) -> None:
    write(tmp_path, name, "1 / 0")
    write(tmp_path, ".hidden", "1 / 0")
    plugin = only(tmp_path)
    assert plugin.state == "refused" and "rename it" in str(plugin.reason)
    assert plugin.source.name.isprintable() and plugin.source.target.isprintable()
    assert "my_plugin.py" in str(plugin.reason) or name != "my-plugin"


@pytest.mark.parametrize("mode", [0o602, 0o606, 0o666])
def test_a_file_that_others_may_write_is_not_run(mode: int, tmp_path: Path) -> None:
    write(tmp_path, "open", f"open({str(tmp_path / 'ran')!r}, 'w')").chmod(mode)
    plugin = only(tmp_path)
    assert plugin.state == "refused" and "others may write" in str(plugin.reason)
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_others_may_write_is_refused_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path / "plugins", "mine", f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "plugins").chmod(0o777)
    plugin = only(tmp_path / "plugins")
    assert (plugin.source.name, plugin.state) == ("plugins", "refused")
    assert plugin.reason is not None and "others may write" in plugin.reason and "chmod go-w" in plugin.reason
    assert not (tmp_path / "ran").exists()


def test_a_folder_above_that_others_may_write_is_refused_too(tmp_path: Path) -> None:
    write(tmp_path / "above", "unused", "")
    write(tmp_path / "above" / "plugins", "mine", f"open({str(tmp_path / 'ran')!r}, 'w')")
    (tmp_path / "above").chmod(0o777)
    assert only(tmp_path / "above" / "plugins").state == "refused"
    assert not (tmp_path / "ran").exists()


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    plugin = only(tmp_path / "nowhere")
    assert plugin.state == "refused" and plugin.reason is not None and "No such file" in plugin.reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("def register(", "SyntaxError"),
        ("import nothing_of_this_name", "ModuleNotFoundError"),
        ("x = 1", "has no function register(registry)"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("class Mute(Exception):\n    def __str__(self):\n        raise self\n\nraise Mute", "Mute: its text cannot"),
        ("def register(registry):\n    registry.register_pipeline('', print)", "ValueError"),
        ("def register(registry):\n    registry.register_pipeline('x', 5)", "TypeError"),
        ("def register(registry):\n    registry.register_pipelin('x', print)", "AttributeError"),
    ],
)
def test_a_plugin_that_raises_hinders_no_other(text: str, reason: str, tmp_path: Path) -> None:
    write(tmp_path, "broken", text)
    write(tmp_path, "whole", PIPELINE_TEXT.format(name="one"))
    plugins = load([str(tmp_path)], Registry(), {})
    broken, whole = plugins.found
    assert broken.state == "failed" and broken.reason is not None and reason in broken.reason
    assert whole.state == "loaded" and plugins.registry.names(PIPELINE) == ("one",)


def test_a_plugin_that_fails_half_way_registers_nothing(tmp_path: Path) -> None:
    write(tmp_path, "half", PIPELINE_TEXT.format(name="one") + "    raise OSError('gone')\n")
    registry = load([str(tmp_path)], Registry(), {}).registry
    assert registry.names(PIPELINE) == ()
    with pytest.raises(PluginUnavailable, match="there is no pipeline 'one' \\(known: none\\)"):
        registry.create(PIPELINE, "one", {})
    with pytest.raises(PluginUnavailable, match="there is no backend 'one' \\(known: sqlite\\)"):
        registry.create(BACKEND, "one", {})


def test_a_name_taken_twice_names_both_owners(tmp_path: Path) -> None:
    registry = Registry()
    registry.owned_by(BUILT_IN).register_pipeline("markdown", lambda config: None)
    write(tmp_path, "first", PIPELINE_TEXT.format(name="one"))
    write(tmp_path, "second", PIPELINE_TEXT.format(name="one"))
    write(tmp_path, "third", PIPELINE_TEXT.format(name="markdown"))
    plugins = load([str(tmp_path)], registry, {})
    assert [plugin.state for plugin in plugins.found] == ["loaded", "failed", "failed"]
    assert "the pipeline 'one' of 'second' is already that of 'first'" in str(plugins.found[1].reason)
    assert "the pipeline 'markdown' of 'third' is already that of 'livedex'" in str(plugins.found[2].reason)
    assert registry.owner(PIPELINE, "one") == "first"


def test_two_folders_with_one_name_name_both(tmp_path: Path) -> None:
    paths = [write(tmp_path / folder, "same", PIPELINE_TEXT.format(name=folder)) for folder in ("a", "b")]
    plugins = load([str(tmp_path / "a"), str(tmp_path / "b")], Registry(), {})
    assert [plugin.state for plugin in plugins.found] == ["loaded", "failed"]
    assert all(str(path) in str(plugins.found[1].reason) for path in paths)
    same = plugins.named("same")
    assert same is not None and same.state == "loaded"


@pytest.mark.parametrize(("value", "names"), [("", []), ("b", ["b"]), (" a , c", ["a"]), ("a,b", ["a", "b"])])
def test_the_variable_selects(value: str, names: list[str], tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path, name, PIPELINE_TEXT.format(name=name))
    plugins = load([str(tmp_path)], Registry(), {"LIVEDEX_LOAD_PLUGINS": value})
    assert [plugin.source.name for plugin in plugins.found] == names


def test_entry_points_are_found_and_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "livedex_sample-1.0.dist-info"
    metadata.mkdir()
    (metadata / "entry_points.txt").write_text(
        "[console_scripts]\nx = y:z\n[livedex.plugins]\n"
        "Sample = livedex_sample_plugin:register\nbare = livedex_sample_plugin\n"
    )
    write(tmp_path, "livedex_sample_plugin", PIPELINE_TEXT.format(name="sampled"))
    monkeypatch.syspath_prepend(str(tmp_path))
    found = load([], Registry(), {"LIVEDEX_LOAD_PLUGINS": "Sample"}).found
    assert [(plugin.source.name, plugin.state, plugin.source.stamp) for plugin in found] == [
        ("Sample", "loaded", "livedex_sample-1.0")
    ]
    assert [plugin.state for plugin in load([], Registry(), {"LIVEDEX_LOAD_PLUGINS": "bare"}).found] == ["loaded"]
    module = tmp_path / "livedex_sample_plugin.py"
    for path in (module, tmp_path):
        path.chmod(0o777)
        found = load([], Registry(), {"LIVEDEX_LOAD_PLUGINS": "Sample"}).found
        assert [plugin.state for plugin in found] == ["refused"], path
        path.chmod(0o700)


def test_the_name_of_what_comes_with_livedex_is_taken(tmp_path: Path) -> None:
    registry = Registry()
    registry.owned_by(BUILT_IN).register_pipeline("markdown", lambda config: None)
    write(tmp_path, BUILT_IN, "1 / 0")
    (plugin,) = load([str(tmp_path)], registry, {}).found
    assert plugin.state == "failed" and "give the plugin another one" in str(plugin.reason)
    assert registry.names(PIPELINE) == ("markdown",), "what comes with livedex stays"


@pytest.mark.parametrize("name", ["", "a\nb", "\x1b[31m", "\udcff", "n" * 101, 3])
def test_a_name_can_be_typed_and_shown(name: object, tmp_path: Path) -> None:
    write(tmp_path, "odd", PIPELINE_TEXT.format(name=name))
    plugin = only(tmp_path)
    assert plugin.state == "failed" and "must be printable text of 1 to 100 characters" in str(plugin.reason)


def test_one_that_closes_the_standard_files_gets_them_open_again(tmp_path: Path) -> None:
    write(tmp_path, "closes", "def register(registry): pass\n")
    code = (
        "import os, sys\nfrom livedex_indexing.plugins import Registry, plugin_loader\n"
        "os.close(0), os.close(2)\nplugin_loader.load([sys.argv[1]], Registry(), {})\n"
        "print(os.fstat(0).st_rdev == os.fstat(2).st_rdev == os.stat(os.devnull).st_rdev, flush=True)\n"
        "os.execv(sys.executable, [sys.executable, '-c', 'import os; print(os.fstat(0) and os.fstat(2) and 0)'])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n0\n", "a child has them, too"


def test_one_that_raised_is_loaded_once_it_has_what_it_lacked(tmp_path: Path) -> None:
    lacks = tmp_path / "lacks"
    write(tmp_path, "a", f"open({str(lacks)!r}).close()\n" + PIPELINE_TEXT.format(name="late"))
    write(tmp_path, "b", PIPELINE_TEXT.format(name="one"))
    plugins = load([str(tmp_path)], Registry(), {})
    assert [plugin.state for plugin in load_failed(plugins).found] == ["failed", "loaded"]
    lacks.touch()
    mended = load_failed(plugins)
    assert [plugin.state for plugin in mended.found] == ["loaded", "loaded"]
    assert mended.registry.names(PIPELINE) == ("late", "one") and plugins.registry.names(PIPELINE) == ("one",)


def test_one_that_raises_again_takes_nothing_from_another_of_its_name(tmp_path: Path) -> None:
    folders = [str(tmp_path / folder) for folder in "ab"]
    write(tmp_path / "a", "same", "1 / 0")
    write(tmp_path / "b", "same", PIPELINE_TEXT.format(name="one"))
    again = load_failed(load(folders, Registry(), {}))
    assert [plugin.state for plugin in again.found] == ["failed", "loaded"]
    assert again.registry.names(PIPELINE) == ("one",)
    (tmp_path / "a" / "same.py").write_text(PIPELINE_TEXT.format(name="two"))
    assert load_failed(again).registry.names(PIPELINE) == ("one",), "the name is taken"
