"""The daemon's socket, or its folder, is removed or replaced: clients find the daemon again, foreign files stay."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import with_code
from helpers.support import Daemon, Home, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

NOTICED_S = 5.0  # the promise


def listening(path: Path) -> socket.socket:
    """Another program's socket in the daemon's place."""
    beside = path.with_name("other.sock")
    other = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    other.bind(str(beside))
    other.listen()
    os.replace(beside, path)
    return other


def warned(client: Client) -> bool:
    status = client.call("status")
    there = "socket_lost" in {warning["code"] for warning in status["warnings"]}
    assert not there or status["state"] == "degraded"
    return there


def remove(path: Path) -> None:
    path.unlink()


def a_dead_socket(path: Path) -> None:
    listening(path).close()


def rename_it(path: Path) -> None:
    path.rename(path.with_name("elsewhere.sock"))


@pytest.mark.ticks_often
@pytest.mark.parametrize("lose", [remove, a_dead_socket, rename_it], ids=lambda lose: lose.__name__)
def test_it_is_bound_again(home: Home, daemon: Daemon, client: Client, lose: Callable[[Path], None]) -> None:
    for _ in range(2):
        with daemon.paused():
            lose(home.socket)
        wait_until(lambda: home.server_pid() == daemon.pid, NOTICED_S, what="a socket to come in by")
        assert home.socket.stat().st_mode & 0o777 == 0o600
        with daemon.client() as newcomer:
            assert newcomer.call("server/info")["pid"] == daemon.pid
        assert client.call("server/info")["pid"] == daemon.pid, "who was connected stays so"
    assert daemon.stop() == 0
    assert not home.socket.exists()


@pytest.mark.ticks_often
@pytest.mark.parametrize("kind", ["file", "folder", "link", "answering socket"])
def test_what_is_not_ours_stays(home: Home, daemon: Daemon, client: Client, tmp_path: Path, kind: str) -> None:
    other = None
    with daemon.paused():
        home.socket.unlink()
        if kind == "file":
            home.socket.write_text("precious")
        elif kind == "folder":
            home.socket.mkdir()
        elif kind == "link":
            home.socket.symlink_to(tmp_path / "nowhere")
        else:
            other = listening(home.socket)
    before = os.lstat(home.socket)
    wait_until(lambda: warned(client), NOTICED_S, what="the warning")
    after = os.lstat(home.socket)
    assert (before.st_ino, before.st_mode, before.st_size) == (after.st_ino, after.st_mode, after.st_size)
    if other is not None:
        other.close()
    home.socket.rename(tmp_path / "away") if kind == "folder" else home.socket.unlink()
    wait_until(lambda: not warned(client) and home.server_pid() == daemon.pid, NOTICED_S, what="health")


# A start that takes a second until the first client is served, and a daemon that checks its socket meanwhile.
SLOW_START = """
import asyncio, sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon import app
    from livedex_daemon.process import tick
    app.BEGIN_S, tick.EVERY_S = 1.0, 0.05

    async def never(*_):
        await asyncio.Event().wait()

    app.Freshness.ensure = never
"""


def test_who_came_early_is_served_though_the_socket_is_lost(
    home: Home, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    daemon = start_daemon(**with_code(tmp_path / "seam", SLOW_START))
    with daemon.client() as early:
        home.socket.unlink()
        assert early.call("server/info")["pid"] == daemon.pid
    wait_until(lambda: home.server_pid() == daemon.pid, NOTICED_S, what="a socket to come in by")


def test_the_folder_is_removed(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    folder = home.path / "run"
    home.socket = folder / "s.sock"
    daemon = start_daemon(LIVEDEX_SOCKET=str(home.socket))
    shutil.rmtree(folder)
    wait_until(lambda: home.server_pid() == daemon.pid, NOTICED_S, what="a socket to come in by")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_was_put_in_its_place_outlives_the_daemon(home: Home, daemon: Daemon) -> None:
    other = listening(home.socket)
    theirs = home.socket.lstat().st_ino
    assert daemon.stop() == 0
    assert home.socket.lstat().st_ino == theirs
    other.close()
    home.socket.unlink()
