"""A home, a socket or a configuration that cannot be used: a clear error with the remedy, and nothing is touched."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.other_user import HUMBLE, needs_permissions
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, codes, found, wait_until
from helpers.syscall_faults import Faults, Order, faulty_socket, with_faults
from livedex_ipc.client import Client
from livedex_ipc.errors import ConfigInvalid, Unavailable

BROKEN = """[[roots]]
path = 5
ignor = ["x"]

[index]
max_file_size = "8 parsecs"

[chunking]
chunk_sise = 3
overlap = -1

[log]
level = "loud"

[shipping]
default = ""
"""


def test_every_fault_at_once(home: Home) -> None:
    home.config.write_text(BROKEN)
    done = home.run("config", "validate", "--json")
    reported = json.loads(done.stdout)
    assert (done.returncode, reported["valid"], reported["path"]) == (2, False, str(home.config))
    assert {(fault["key"], fault["line"], fault["nearest"]) for fault in reported["faults"]} == {
        ("roots[0].path", 2, None),
        ("roots[0].ignor", 3, "roots.ignore"),
        ("index.max_file_size", 6, None),
        ("chunking.chunk_sise", 9, "chunking.chunk_size"),
        ("chunking.overlap", 10, None),
        ("log.level", 13, None),
        ("shipping", 15, None),
    }
    assert json.loads(home.run("daemon", "--check-config", "--json").stdout) == reported
    for words in (["status"], ["daemon"], ["up"]):
        failed = home.run(*words, "--json")
        assert failed.returncode == 2
        assert json.loads(failed.stderr)["error"]["data"]["faults"] == reported["faults"]
    checks = home.run("doctor", "--json")
    assert checks.returncode == 4
    assert [check["name"] for check in json.loads(checks.stdout)["checks"] if check["state"] == "failed"] == [
        "configuration"
    ]


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO])
def test_a_configuration_that_cannot_be_read_is_read_later(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], code: int
) -> None:
    daemon = start_daemon(**with_faults(tmp_path / "seam", faulty_socket(home.path)))
    faults = Faults(faulty_socket(home.path))
    with daemon.client() as client:
        add_root(client, tree)
        with faults.on(open=Order(code, name="config.toml")):
            for method, params in (("server/reload", {}), ("roots/add", {"path": str(tree)})):
                with pytest.raises(Unavailable, match=rf"config\.toml cannot be read: {os.strerror(code)}; try again"):
                    client.call(method, params)
            home.config.write_text(f'{home.config.read_text()}\n[[roots]]\npath = "{tree.mkdir("inner")}"\n')
            wait_until(lambda: codes(client) == {"config_refused"}, what="the warning")
        wait_until(lambda: len(client.call("roots/list")["roots"]) == 2, what="the edit")
        assert not codes(client)
    faults.close()


def test_a_folder_that_cannot_be_examined_may_be_one(
    home: Home, tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    daemon = start_daemon(**with_faults(tmp_path / "seam", faulty_socket(home.path)))
    faults = Faults(faulty_socket(home.path))
    refused = pytest.raises(Unavailable, match=r"cannot be examined: .*; try again")
    with daemon.client() as client, faults.on(stat=Order(errno.ENOMEM, name=tree.path.name)), refused:
        client.call("roots/add", {"path": str(tree)})
    faults.close()


def test_a_broken_edit_is_refused_and_the_old_stays_in_force(client: Client, home: Home, tree: Tree) -> None:
    tree.write("kept.txt", "keptword")
    add_root(client, tree)
    before = home.config.read_text()
    home.config.write_text(BROKEN)
    with pytest.raises(ConfigInvalid) as raised:
        client.call("server/reload")
    assert len((raised.value.data or {})["faults"]) == 7
    status = client.call("status")
    assert status["state"] == "degraded"
    assert [warning["code"] for warning in status["warnings"]] == ["config_refused"]
    assert found(client, "keptword") == ["kept.txt"]
    refused = home.run("roots", "add", str(tree.mkdir("more")))
    assert refused.returncode == 2
    assert home.config.read_text() == BROKEN
    home.config.write_text(before)
    wait_until(lambda: client.call("status")["state"] == "ready", what="the mended configuration")


def test_an_emptied_configuration_keeps_the_roots(client: Client, daemon: Daemon, home: Home, tree: Tree) -> None:
    """By an editor that is still saving, or a full disk. Nothing else may make the loss complete."""
    tree.write("kept.txt", "keptword")
    add_root(client, tree)
    before = home.config.read_text()
    home.config.write_text("")
    wait_until(lambda: client.call("status")["warnings"], what="the refusal")
    (told,) = client.call("status")["warnings"]
    assert (told["code"], "roots = []" in told["remedy"]) == ("config_refused", True)
    assert found(client, "keptword") == ["kept.txt"]
    roots = ["roots", "add", str(tree.mkdir("more"))], ["roots", "remove", str(tree)]
    for words in (*roots, ["index", "--backend", "sqlite"]):
        refused = home.run(*words)
        assert refused.returncode == 2 and "roots = []" in refused.stderr, refused.stderr
    assert home.config.read_text() == ""
    daemon.stop()
    failed = home.run("status")
    assert failed.returncode == 2
    assert "write `roots = []`" in failed.stderr
    home.config.write_text(before)
    daemon.start()
    with daemon.client() as again:
        assert found(again, "keptword") == ["kept.txt"]
        home.config.write_text("roots = []\n")
        wait_until(lambda: again.call("roots/list")["roots"] == [], what="the root to go")
        assert again.call("status")["warnings"] == []


def test_a_broken_configuration_on_sighup(daemon: Daemon, client: Client, home: Home) -> None:
    home.config.write_text("[log\n")
    os.kill(daemon.pid, signal.SIGHUP)
    wait_until(lambda: client.call("status")["warnings"], what="the refusal")
    assert "line 1" in client.call("status")["warnings"][0]["message"]


@pytest.mark.parametrize("kind", ["folder", "fifo", "latin-1", "mark", "open to all"])
def test_a_configuration_that_is_no_file_of_ours(home: Home, kind: str) -> None:
    if kind == "folder":
        home.config.mkdir()
    elif kind == "fifo":
        os.mkfifo(home.config)
    else:
        text = {"latin-1": b"# \xe9\n", "mark": b"\xef\xbb\xbf", "open to all": b""}[kind]
        home.config.write_bytes(text)
        home.config.chmod(0o666 if kind == "open to all" else 0o600)
    done = home.run("status")
    assert done.returncode == 2
    assert str(home.config) in done.stderr


def test_a_socket_path_too_long(home: Home) -> None:
    for name, value in (("LIVEDEX_SOCKET", f"/tmp/{'x' * 120}"), ("LIVEDEX_HOME", f"/tmp/{'x' * 105}")):
        done = home.run("status", env={name: value})
        assert (done.returncode, "limit is" in done.stderr, "LIVEDEX_SOCKET" in done.stderr) == (2, True, True)
        assert not Path(value).exists()


@pytest.mark.parametrize("what", ["file", "folder", "link", "loop"])
def test_something_else_where_the_socket_should_be(home: Home, what: str) -> None:
    if what in ("link", "loop"):
        home.socket.symlink_to("/nope" if what == "link" else home.socket.name)
    elif what == "folder":
        home.socket.mkdir()
    else:
        home.socket.touch()
    done = home.run("status")
    assert done.returncode == 4
    assert str(home.socket) in done.stderr and "move it away or set LIVEDEX_SOCKET" in done.stderr
    assert os.path.lexists(home.socket)


def test_a_home_behind_a_link(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    """As on macOS, where /tmp and /var are links, or if a user moved the data to another disk."""
    elsewhere = home.path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (home.path / "link").symlink_to(elsewhere)
    tree.write("a.txt", "firstword\n")
    where = {"LIVEDEX_HOME": str(home.path / "link" / "home"), "LIVEDEX_SOCKET": str(home.socket)}
    daemon = start_daemon(**where)
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "firstword") == ["a.txt"]
    daemon.restart()
    with daemon.client() as client:
        assert found(client, "firstword") == ["a.txt"]
    assert (elsewhere / "home" / "data" / "index.db").is_file()


def test_a_stale_socket_is_replaced(home: Home) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(home.socket))
    wait_until(lambda: home.run_json("status")["state"] == "ready", what="the end of the start")


@needs_permissions
def test_a_home_that_cannot_be_written(home: Home) -> None:
    closed = home.path / "closed"
    closed.mkdir(0o500)
    for words in (["status"], ["up", "/usr"], ["daemon"]):
        command = [*HUMBLE, str(LIVEDEX), *words]
        env = {**home.env, "LIVEDEX_HOME": str(closed)}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 4, done.stderr
        assert str(closed) in done.stderr
        assert "LIVEDEX_HOME" in done.stderr


def test_a_file_where_the_home_should_be(home: Home, tree: Tree) -> None:
    done = home.run("status", env={"LIVEDEX_HOME": str(tree.write("file", "precious"))})
    assert done.returncode == 4
    assert "LIVEDEX_HOME" in done.stderr
    assert (tree / "file").read_text() == "precious"


@needs_permissions
def test_a_configuration_that_cannot_be_written(start_daemon: Callable[..., Daemon], home: Home, tree: Tree) -> None:
    command = [*HUMBLE, str(LIVEDEX), "up"]
    subprocess.run(command, env=home.env, capture_output=True, check=True)
    home.path.chmod(0o500)
    done = home.run("roots", "add", str(tree))
    assert done.returncode == 4
    assert str(home.config) in done.stderr
    assert home.run_json("roots", "list")["roots"] == []
