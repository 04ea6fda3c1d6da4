"""The locations of files: the same as with platformdirs, in any environment."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest

from livedex_ipc import paths
from livedex_ipc.errors import InvalidParams

VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LIVEDEX_HOME", "LIVEDEX_SOCKET")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("home", ["/home/someone", "", "relative", None])
@pytest.mark.parametrize("value", ["/xdg/x", "", "relative", None])
def test_folders_are_those_of_platformdirs(
    monkeypatch: pytest.MonkeyPatch, home: str | None, value: str | None
) -> None:
    for name, setting in [("HOME", home), *((name, value) for name in VARIABLES[:3])]:
        if setting is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, setting)
    dirs = platformdirs.PlatformDirs("livedex", appauthor=False)
    assert paths.config_path() == os.path.join(dirs.user_config_dir, "config.toml")
    assert paths.data_dir() == dirs.user_data_dir
    assert paths.state_dir() == dirs.user_state_dir
    assert paths.log_dir() == dirs.user_log_dir


def test_livedex_home_holds_everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/elsewhere")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("LIVEDEX_HOME", "/h")
    found = (paths.config_path(), paths.data_dir(), paths.log_dir(), paths.socket_path())
    assert found == ("/h/config.toml", "/h/data", "/h/log", "/h/livedex.sock")


@pytest.mark.parametrize("variable", ["LIVEDEX_HOME", "LIVEDEX_SOCKET"])
def test_a_tilde_is_the_home_of_the_user(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    for value, meant in (("~/x", "/home/ada/x"), ("~", "/home/ada"), ("/a/~/x", "/a/~/x")):
        monkeypatch.setenv(variable, value)
        assert paths.files_environment()[variable] == meant
    assert paths.socket_path() == ("/a/~/x/livedex.sock" if variable == "LIVEDEX_HOME" else "/a/~/x")


def test_a_relative_home_is_taken_from_the_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LIVEDEX_HOME", "h")
    monkeypatch.setenv("LIVEDEX_SOCKET", "s")
    assert paths.home() == str(tmp_path / "h")
    assert paths.socket_path() == str(tmp_path / "s")


@pytest.mark.parametrize("variable", ["LIVEDEX_HOME", "LIVEDEX_SOCKET"])
def test_a_relative_one_needs_a_working_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv(variable, "here")
    with pytest.raises(InvalidParams, match=f"{variable} is 'here', which is relative, and the working folder is gone"):
        paths.socket_path()


def test_the_socket_is_in_the_runtime_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert paths.socket_path() == str(tmp_path / "livedex" / "livedex.sock")


def test_without_the_variable_it_is_the_folder_that_systemd_makes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / str(os.geteuid())
    folder.mkdir(0o700)
    monkeypatch.setattr(paths, "RUN_USER", str(tmp_path))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    assert paths.socket_path() == str(folder / "livedex" / "livedex.sock")
    folder.chmod(0o777)
    assert paths.runtime_dir() is None


def test_a_runtime_folder_that_others_can_write_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(paths, "RUN_USER", "/nowhere")
    monkeypatch.setenv("XDG_STATE_HOME", "/state")
    link, file = tmp_path / "link", tmp_path / "file"
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    link.symlink_to(tmp_path)
    file.touch()
    for value in ("relative", "", str(tmp_path / "missing"), str(tmp_path / "open"), str(link), f"{link}/", str(file)):
        monkeypatch.setenv("XDG_RUNTIME_DIR", value)
        assert paths.socket_path() == "/state/livedex/livedex.sock", value
