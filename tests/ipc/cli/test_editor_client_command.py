"""`livedex editor`: its list, its recipes and folders, and the names that it knows."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, LIVEDEX, Home
from livedex_ipc import __version__
from livedex_ipc.cli.commands.editor_client_command import CLIENTS
from livedex_ipc.constants import EDITORS

FOLDER = CHECKOUT / "editors"


def test_the_names_are_those_of_the_clients() -> None:
    assert list(CLIENTS) == list(EDITORS)
    assert {path.name for path in FOLDER.iterdir()} == set(EDITORS), "a folder of editors/ for each"


def test_without_a_name_all_are_listed(home: Home) -> None:
    listed = home.run("editor").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["NAME", *EDITORS]
    assert [each["name"] for each in home.run_json("editor")["editors"]] == list(EDITORS)


@pytest.mark.parametrize("name", EDITORS)
def test_a_recipe_is_printed_and_a_folder_is_named(home: Home, name: str) -> None:
    done = home.run("editor", name)
    answer = home.run_json("editor", name)
    source = FOLDER / CLIENTS[name].source
    assert (answer["name"], answer["path"], done.stderr) == (name, str(source), "")
    if source.is_dir():
        assert (done.stdout, answer["recipe"]) == (f"{source}\n", None)
    else:
        assert done.stdout == answer["recipe"] == source.read_text()


def test_an_unknown_name_is_told_the_nearest(home: Home) -> None:
    done = home.run("--json", "editor", "hlix")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["data"]["nearest"] == "helix"


def test_no_daemon_is_started(home: Home) -> None:
    home.run("editor", "vim")
    assert home.server_pid() is None


@pytest.mark.parametrize("name", EDITORS)
def test_the_page_of_an_editor_shows_its_recipe(name: str) -> None:
    page = CHECKOUT / "docs" / "editors" / f"{name}.md"
    source = FOLDER / CLIENTS[name].source
    text = page.read_text()
    assert f"livedex editor {name}" in text
    assert source.is_dir() or source.read_text() in text
    assert f"(editors/{name}.md)" in (CHECKOUT / "docs" / "editors.md").read_text()


def test_what_belongs_to_an_editor_is_short() -> None:
    """The sizes that the house test asks of Python."""
    texts = {path: path.read_text().splitlines() for path in FOLDER.rglob("*") if path.is_file()}
    assert not {path: len(lines) for path, lines in texts.items() if len(lines) > 400}
    assert not {path: line for path, lines in texts.items() for line in lines if len(line) > 120}


def test_vs_code_gets_a_package_with_this_command(home: Home, tmp_path: Path) -> None:
    file, again = tmp_path / "a b.vsix", tmp_path / "again.vsix"
    answer = home.run_json("editor", "vscode", "--package", str(file))
    assert answer["use"] == f"code --install-extension '{file}'"
    assert home.run("editor", "vscode", "--package", str(again)).stdout == f"{again}\n"
    assert file.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(file) as package:
        packed = {name.removeprefix("extension/") for name in package.namelist() if name.startswith("extension/")}
        about = json.loads(package.read("extension/package.json"))
        manifest = package.read("extension.vsixmanifest").decode()
    assert packed == {path.name for path in (FOLDER / "vscode").iterdir()}
    assert about["contributes"]["configuration"]["properties"]["livedex.path"]["default"] == str(LIVEDEX)
    assert f'Id="livedex" Version="{__version__}"' in manifest


def test_the_client_of_vs_code_has_the_version_and_the_license_of_livedex() -> None:
    assert json.loads((FOLDER / "vscode" / "package.json").read_text())["version"] == __version__
    assert (FOLDER / "vscode" / "LICENSE.txt").read_text() == (CHECKOUT / "LICENSE").read_text()


@pytest.mark.parametrize(("name", "file", "code"), [("vim", "a", 2), ("vscode", "/dev/null/a", 4)])
def test_a_package_that_cannot_be_made_is_said(home: Home, name: str, file: str, code: int) -> None:
    done = home.run("editor", name, "--package", file)
    assert (done.returncode, done.stdout) == (code, "")
    assert "package" in done.stderr


def test_a_missing_file_is_said(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import livedex_ipc
    from livedex_ipc.cli.main import main

    (tmp_path / "livedex_ipc").mkdir()
    monkeypatch.setattr(livedex_ipc, "__file__", str(tmp_path / "livedex_ipc" / "__init__.py"))
    assert main(["editor", "vim"]) == 4
