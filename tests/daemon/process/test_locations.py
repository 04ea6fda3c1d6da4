"""The folders: the daemon and the command use the same ones, and no other user can read them."""

from __future__ import annotations

import json
import os
import stat
import sys
from itertools import product
from pathlib import Path

import pytest

from helpers.other_user import NOBODY, as_nobody
from helpers.support import Home
from livedex_daemon.process.locations import locate, make_private
from livedex_ipc import paths
from livedex_ipc.errors import Unavailable

XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "LIVEDEX_HOME", "LIVEDEX_SOCKET")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in XDG:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def mode_of(path: str | Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_the_command_looks_in_the_same_places(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = user / "runtime"
    runtime.mkdir(0o700)
    choices = [(None, str(user / "elsewhere"), "")] * 3 + [(None, str(runtime))] + [(None, str(user / "home"), "rel")]
    for values in product(*choices, (None, "/s.sock")):
        for name, value in zip(XDG, values, strict=True):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        found = locate()
        assert (found.config_path, found.data_dir, found.log_dir, found.state_dir, found.socket_path) == (
            paths.config_path(),
            paths.data_dir(),
            paths.log_dir(),
            paths.state_dir(),
            paths.socket_path(),
        ), values


def test_everything_below_one_home(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDEX_HOME", str(user / "h"))
    found = locate()
    places = [found.config_path, found.data_dir, found.log_path, found.socket_path]
    assert places == [f"{user}/h/{name}" for name in ("config.toml", "data", "log/livedex.log", "livedex.sock")]
    inside = [found.index_db, found.forgotten_db, found.lock_path, found.cookie_dir]
    assert len(set(inside)) == 4
    assert {os.path.dirname(path) for path in inside} == {found.data_dir}


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_folders_are_private_whatever_the_umask(user: Path, umask: int) -> None:
    found = locate()
    before = os.umask(umask)
    try:
        found.prepare()
        found.prepare()
    finally:
        os.umask(before)
    for folder in (found.data_dir, found.log_dir, found.cookie_dir, os.path.dirname(found.data_dir)):
        assert mode_of(folder) == 0o700


def test_a_folder_that_others_may_read_is_closed(user: Path) -> None:
    folder = user / "data"
    folder.mkdir()
    folder.chmod(0o755)
    make_private(str(folder))
    assert mode_of(folder) == 0o700


def test_what_must_not_hold_our_files(user: Path) -> None:
    folder = user / "data"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(Unavailable, match=r"0777.*chmod 700"):
        make_private(str(folder))
    assert mode_of(folder) == 0o777
    (user / "link").symlink_to(folder)
    with pytest.raises(Unavailable, match=r"is a link.*LIVEDEX_HOME"):
        make_private(str(user / "link"))
    (user / "dangling").symlink_to("gone")
    with pytest.raises(Unavailable, match="is a link"):
        make_private(str(user / "dangling"))
    (user / "file").touch()
    with pytest.raises(Unavailable, match="is not a folder"):
        make_private(str(user / "file"))
    with pytest.raises(Unavailable, match=r"Not a directory.*LIVEDEX_HOME"):
        make_private(str(user / "file" / "data"))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a folder away")
@pytest.mark.skipif(sys.platform == "darwin", reason="its file systems take UTF-8 alone")
def test_a_path_that_is_not_utf8_is_named_before_anything_is_made(home: Home, tmp_path: Path) -> None:
    other = {**home.env, "LIVEDEX_HOME": os.fsdecode(bytes(tmp_path) + b"/caf\xe9")}
    for words in (["status"], ["exchange", "stats"]):
        done = home.run(*words, env=other)
        assert done.returncode == 4
        assert "caf\\xe9/data is not UTF-8, and SQLite opens no such path: set LIVEDEX_HOME" in done.stderr
    assert not os.path.exists(bytes(tmp_path) + b"/caf\xe9/data")
    checks = json.loads(home.run("--json", "doctor", env=other).stdout)["checks"]
    (folder, *_others) = [check for check in checks if check["name"] == "folders"]
    assert (folder["state"], folder["fix"]) == ("failed", "set LIVEDEX_HOME to another folder")


def test_a_folder_of_another_user(user: Path) -> None:
    folder = user / "data"
    folder.mkdir(0o700)
    os.chown(folder, NOBODY, -1)
    with pytest.raises(Unavailable, match=r"uid 65534.*chown"):
        make_private(str(folder))


def test_a_home_that_cannot_be_written(home: Home) -> None:
    home.path.chmod(0o555)
    with as_nobody(), pytest.raises(Unavailable, match=r"Permission denied.*LIVEDEX_HOME") as raised:
        make_private(str(home.path / "data"))
    assert raised.value.data == {"path": str(home.path / "data")}
    home.path.chmod(0o700)
