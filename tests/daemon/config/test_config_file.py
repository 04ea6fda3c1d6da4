"""Any kind of file at the configuration's path: a clear fault that names it, and no blocking."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.other_user import NOBODY, as_nobody
from livedex_daemon.config import settings
from livedex_ipc.errors import ConfigInvalid


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def file_fault(path: Path) -> str:
    """Return the one fault of a file that cannot be read as a configuration; it names the file."""
    with pytest.raises(ConfigInvalid) as raised:
        settings.load(str(path))
    assert raised.value.data is not None
    (fault,) = raised.value.data["faults"]
    assert str(path) in fault["message"]
    message: str = fault["message"]
    return message


def test_what_is_no_ordinary_file(tmp_path: Path, file: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "FIFO" in file_fault(tmp_path / "fifo")
    assert "is a folder, not a file: move it away" in file_fault(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert os.strerror(errno.ELOOP) in file_fault(tmp_path / "loop")
    file.symlink_to("gone.toml")
    assert "gone.toml" in file_fault(file)
    assert "device" in file_fault(Path("/dev/zero"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert "socket" in file_fault(tmp_path / "s")


def test_a_file_in_the_place_of_its_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "livedex").touch()
    for path in (tmp_path / "livedex" / "config.toml", tmp_path / "livedex" / "deeper" / "config.toml"):
        assert f"{tmp_path / 'livedex'} is not a folder: move it away" in file_fault(path)


def test_a_link_to_a_configuration_is_followed(tmp_path: Path, file: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("[chunking]\nchunk_size = 512\n")
    (tmp_path / "dotfiles.toml").chmod(0o600)
    file.symlink_to("dotfiles.toml")
    assert settings.load(str(file)).chunking.chunk_size == 512


def test_too_large(file: Path) -> None:
    with file.open("wb") as huge:
        huge.truncate(100 << 20)
    file.chmod(0o600)
    assert "at most" in file_fault(file)


@pytest.mark.parametrize("mode", [0o602, 0o622, 0o666, 0o777])
def test_writable_by_others(file: Path, mode: int) -> None:
    file.touch()
    file.chmod(mode)
    assert f"{mode:04o}" in file_fault(file)
    file.chmod(mode & ~0o022)
    settings.load(str(file))


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_owners(tmp_path: Path, file: Path) -> None:
    tmp_path.chmod(0o755)
    file.touch(0o600)
    os.chown(file, NOBODY, -1)
    message = file_fault(file)
    assert str(NOBODY) in message
    assert "chown" in message


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a file away")
def test_group_writable_is_refused_unless_the_group_is_the_users_own(file: Path) -> None:
    file.touch()
    os.chown(file, -1, 12345)
    file.chmod(0o660)
    assert "other users" in file_fault(file)


def test_unreadable(home_of_nobody: Path) -> None:
    file = home_of_nobody / "config.toml"
    file.touch()
    if os.geteuid() == 0:
        os.chown(file, NOBODY, NOBODY)
    file.chmod(0)
    with as_nobody():
        assert "permission denied" in file_fault(file)


@pytest.fixture
def home_of_nobody() -> Iterator[Path]:
    """A folder that the user of `as_nobody` may enter."""
    from helpers.support import temporary_home

    with temporary_home() as home:
        home.path.chmod(0o755)
        yield home.path
