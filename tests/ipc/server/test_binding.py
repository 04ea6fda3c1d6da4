"""Binding the socket: private under any umask, and nothing is removed unless it is ours and dead."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.support import Home
from livedex_ipc.errors import Conflict, InvalidParams, Unavailable
from livedex_ipc.paths import SOCKET_PATH_LIMIT
from livedex_ipc.server.binding import bind, identity, unbind


@pytest.fixture
def folder(home: Home) -> Path:
    return home.path


@pytest.fixture(params=[0o000, 0o022, 0o177])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_the_socket_and_its_folders_are_private(folder: Path) -> None:
    path = folder / "a" / "b" / "s"
    with bind(str(path)):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        for made in (path.parent, path.parent.parent):
            assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_it_listens_at_once(folder: Path) -> None:
    with bind(str(folder / "s")), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(folder / "s"))
        assert client.getpeername() == str(folder / "s")


def test_a_dead_socket_is_replaced(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    before = identity(str(path))
    with bind(str(path)):
        assert identity(str(path)) is not None
    assert before is not None


def test_a_daemon_that_answers_keeps_its_place(folder: Path) -> None:
    path = folder / "s"
    with bind(str(path)):
        bound = identity(str(path))
        with pytest.raises(Conflict, match=r"answers on .* already"):
            bind(str(path))
        assert identity(str(path)) == bound


def test_a_daemon_with_a_full_queue_keeps_its_place(folder: Path) -> None:
    path = str(folder / "s")
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(path)
        busy.listen(0)
        waiting.connect(path)
        with pytest.raises(Conflict, match="answers"):
            bind(path)


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link", "link to a socket", "fifo"])
def test_what_is_no_socket_is_refused_and_stays(folder: Path, kind: str) -> None:
    path, other = folder / "s", folder / "other"
    if kind == "file":
        path.write_text("precious")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        if kind == "link":
            other.write_text("precious")
        elif kind == "link to a socket":
            with socket.socket(socket.AF_UNIX) as dead:
                dead.bind(str(other))
        path.symlink_to(other)
    before = path.lstat()
    with pytest.raises(Conflict, match="is not a socket"):
        bind(str(path))
    assert path.lstat().st_ino == before.st_ino
    assert other.exists() == (kind in ("link", "link to a socket"))


@pytest.mark.skipif(os.geteuid() != 0, reason="giving a file away needs root")
def test_a_socket_of_another_user_is_refused_and_stays(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    os.chown(path, 65534, 65534)
    with pytest.raises(Conflict, match="uid 65534"):
        bind(str(path))
    assert path.exists()


def test_a_path_that_is_too_long_names_the_limit(folder: Path) -> None:
    start = f"{folder}/"
    longest = start + "x" * (SOCKET_PATH_LIMIT - 1 - len(start))
    with bind(longest):
        pass
    with pytest.raises(InvalidParams, match=str(SOCKET_PATH_LIMIT)):
        bind(longest + "x")


def test_a_folder_that_cannot_be_made_is_reported(folder: Path) -> None:
    (folder / "file").touch()
    with pytest.raises(Unavailable, match="no socket at"):
        bind(str(folder / "file" / "sub" / "s"))


def test_of_many_that_bind_at_once_one_wins(folder: Path) -> None:
    path = str(folder / "s")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(path)
    won: list[socket.socket] = []
    lost: list[Conflict] = []
    start = threading.Barrier(8)

    def take() -> None:
        start.wait()
        try:
            won.append(bind(path))
        except Conflict as error:
            lost.append(error)

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 7)
    won[0].close()


def test_only_the_socket_that_was_bound_is_removed(folder: Path) -> None:
    path = folder / "s"
    with bind(str(path)) as first:
        bound = identity(str(path))
        assert bound is not None
        path.rename(folder / "moved")
        with bind(str(path)) as second:
            unbind(str(path), bound)
            assert path.exists()
            assert identity(str(path)) != bound
            second.close()
        first.close()
    path.unlink()
    (folder / "moved").rename(path)
    unbind(str(path), bound)
    assert not path.exists()
    unbind(str(path), bound)
    assert identity(str(path)) is None
