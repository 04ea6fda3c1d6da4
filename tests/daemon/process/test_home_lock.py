"""A home is locked once, whatever becomes of the file and the folder that are locked."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from livedex_daemon.process.home_lock import HomeLock
from livedex_ipc.errors import Unavailable


def taken(data: Path) -> HomeLock:
    (data / "cookies").mkdir(exist_ok=True)
    return HomeLock(str(data / "daemon.lock"), str(data / "cookies"))


def _bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, _bind, lambda path: path.symlink_to("elsewhere")])
def test_what_is_no_lock_file_is_to_be_moved_away(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "daemon.lock")
    with pytest.raises(Unavailable, match="move it away"):
        taken(tmp_path)


@pytest.mark.parametrize("call", ["ftruncate", "pwrite"])
def test_the_lock_holds_though_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        lock = taken(tmp_path)
    with pytest.raises(Unavailable, match="a livedex daemon runs for this home"):
        taken(tmp_path)
    del lock


def test_a_lock_that_cannot_be_taken_is_named(tmp_path: Path) -> None:
    (tmp_path / "daemon.lock").mkdir()
    with pytest.raises(Unavailable, match=r"daemon\.lock cannot be locked: Is a directory"):
        taken(tmp_path)


def test_a_lock_that_is_no_file_leaves_nothing_open(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "daemon.lock")
    (tmp_path / "cookies").mkdir()
    opened = len(os.listdir("/dev/fd"))
    with pytest.raises(Unavailable, match=r"daemon\.lock cannot be locked: Not a regular file; move it away"):
        taken(tmp_path)
    assert len(os.listdir("/dev/fd")) == opened


def test_a_file_that_is_removed_frees_nothing(tmp_path: Path) -> None:
    lock = taken(tmp_path)
    (tmp_path / "daemon.lock").unlink()
    with pytest.raises(Unavailable, match="a livedex daemon runs for this home already, as process unknown"):
        taken(tmp_path)
    lock.renew()
    with pytest.raises(Unavailable, match=f"as process {os.getpid()};"):
        taken(tmp_path)
    lock.release()
    taken(tmp_path).release()


def test_a_folder_that_is_made_again_is_locked_again(tmp_path: Path) -> None:
    lock = taken(tmp_path)
    (tmp_path / "cookies").rmdir()
    lock.renew()
    (tmp_path / "daemon.lock").unlink()
    with pytest.raises(Unavailable, match="runs for this home already"):
        taken(tmp_path)
    lock.release()


def test_who_came_second_to_a_new_folder_gives_way(tmp_path: Path) -> None:
    lock = taken(tmp_path)
    (tmp_path / "cookies").rmdir()
    (tmp_path / "daemon.lock").unlink()
    newcomer = taken(tmp_path)
    with pytest.raises(BlockingIOError):
        lock.renew()
    newcomer.release()
    lock.release()


def test_a_command_that_looks_for_the_pid_ends_no_daemon(tmp_path: Path) -> None:
    lock = taken(tmp_path)
    (tmp_path / "daemon.lock").unlink()
    with open(tmp_path / "daemon.lock", "w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        lock.renew()
    lock.renew()
    assert (tmp_path / "daemon.lock").read_text() == f"{os.getpid()}\n"
    lock.release()


@pytest.mark.parametrize("code", [errno.EIO, errno.EMFILE])
def test_a_system_that_fails_ends_no_daemon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    lock = taken(tmp_path)
    (tmp_path / "daemon.lock").unlink()
    for name in ("lstat", "open"):
        with monkeypatch.context() as broken:
            broken.setattr(os, name, fail)
            with pytest.raises(OSError, match=os.strerror(code)):
                lock.renew()
    lock.renew()
    with pytest.raises(Unavailable, match=f"as process {os.getpid()};"):
        taken(tmp_path)
    lock.release()


def test_a_folder_that_cannot_be_locked_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on NFS."""
    real = fcntl.flock

    def files_alone(descriptor: int, how: int) -> None:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        real(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", files_alone)
    lock = taken(tmp_path)
    with pytest.raises(Unavailable, match=f"as process {os.getpid()};"):
        taken(tmp_path)
    lock.release()
