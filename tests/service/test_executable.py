"""The command that a service runs, for each way of installing livedex."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedex_service.executable import NotInstalledError, daemon_command


def make(path: Path, mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("folder", ["venv", "pipx/venvs/livedex", "share/uv/tools/livedex"])
def test_the_command_of_the_environment(tmp_path: Path, folder: str) -> None:
    python = tmp_path / folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to("/usr/bin/env")
    command = make(python.with_name("livedex"))
    assert daemon_command(str(python), []) == [str(command)], "the link to the interpreter is not followed"


def test_the_command_of_the_user(tmp_path: Path) -> None:
    command = make(tmp_path / ".local" / "bin" / "livedex")
    assert daemon_command("/usr/bin/no-python", [str(tmp_path / "none"), str(command.parent)]) == [str(command)]


def test_without_a_command_the_module(tmp_path: Path) -> None:
    make(tmp_path / "livedex", 0o644)
    python = str(tmp_path / "python")
    assert daemon_command(python, []) == [python, "-P", "-m", "livedex_ipc"]


@pytest.mark.parametrize(
    "python", ["/home/ada/.cache/uv/archive-v0/x/bin/python", "/a/.local/pipx/.cache/1/bin/python"]
)
def test_one_from_a_cache_is_refused(python: str) -> None:
    with pytest.raises(NotInstalledError, match="uv tool install livedex"):
        daemon_command(python, [])


def test_the_one_that_runs_here() -> None:
    (command,) = daemon_command()
    assert Path(command).name == "livedex"
