"""One daemon per home: of many that are started one stays; the others end at once and change nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from helpers.support import Daemon, Home, Tree, add_root, found, wait_until

MANY = 10


def start(home: Home) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "livedex_daemon", "daemon", "--json"]
    return subprocess.Popen(
        command, env=home.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


def test_of_many_that_start_at_once_one_stays(home: Home) -> None:
    daemons = [start(home) for _ in range(MANY)]
    try:
        wait_until(lambda: sum(daemon.poll() is not None for daemon in daemons) == MANY - 1, 60, what="all but one")
        (stayed,) = (daemon for daemon in daemons if daemon.poll() is None)
        wait_until(lambda: home.server_pid() == stayed.pid, what="the one that stayed")
        for ended in daemons:
            if ended is not stayed:
                assert ended.stderr is not None
                reported = json.loads(ended.stderr.read().strip().splitlines()[-1])["error"]
                assert (ended.returncode, reported["code"]) == (4, 4)
                assert reported["data"]["pid"] == stayed.pid
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.wait(20)
            assert daemon.stderr is not None
            daemon.stderr.close()


def test_a_second_one_touches_nothing(home: Home, daemon: Daemon, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
        before = {path: path.stat() for path in home.data.rglob("*") if path.suffix == ".db"}
        with start(home) as second:
            assert second.wait(20) == 4
        assert {path: path.stat() for path in before} == before
        assert found(client, "firstword") == ["a.txt"]
        assert home.server_pid() == daemon.pid


@pytest.mark.ticks_often
def test_no_second_one_starts_though_lock_and_socket_are_removed(home: Home, daemon: Daemon, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
        with daemon.paused():
            (home.data / "daemon.lock").unlink()
            home.socket.unlink()
            with start(home) as second:
                assert second.wait(20) == 4
        wait_until(lambda: home.server_pid() == daemon.pid, 10, what="a socket to come in by")
        lock = home.data / "daemon.lock"
        wait_until(lambda: lock.exists() and lock.read_text() == f"{daemon.pid}\n", 10, what="the lock")
        assert found(client, "firstword") == ["a.txt"]


@pytest.mark.ticks_often
def test_one_of_two_gives_way_if_their_folder_was_removed(home: Home, daemon: Daemon, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
    with daemon.paused():
        shutil.rmtree(home.data)
        home.socket.unlink()
        second = start(home)
        wait_until(lambda: home.server_pid() == second.pid, 20, what="the second")
    try:
        assert daemon.process is not None and daemon.process.wait(20) == 0
        with daemon.client() as client:
            assert client.call("server/info")["pid"] == second.pid
            wait_until(lambda: client.status()["state"] == "ready", 20, what="the index of the second")
            assert found(client, "firstword") == ["a.txt"]
    finally:
        second.terminate()
        second.wait(20)
        assert second.stderr is not None
        second.stderr.close()
