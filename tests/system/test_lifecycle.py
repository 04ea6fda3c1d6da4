"""A daemon's life: started on demand and once, reloaded live, private, told to forget files, and ended."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, end_process, found, is_alive, wait_ready, wait_until
from livedex_ipc.client import Client

CLIENTS = 30
SECRETS = (
    ".env",
    ".env.local",
    ".envrc",
    "id_rsa",
    "server.pem",
    ".netrc",
    ".npmrc",
    ".ssh/id_ed25519",
    ".aws/credentials",
)


# -- starting and ending


def test_started_on_demand_and_only_once(home: Home) -> None:
    with ThreadPoolExecutor(CLIENTS) as pool:
        pids = set(pool.map(lambda _: home.run_json("status")["pid"], range(CLIENTS)))
    assert pids == {home.server_pid()}


def test_the_socket_is_printed_with_a_daemon_behind_it(home: Home) -> None:
    assert (home.run("socket", "--no-spawn").returncode, home.server_pid()) == (3, None)
    done = home.run("socket")
    assert (done.returncode, done.stdout) == (0, f"{home.socket}\n")
    assert home.server_pid() is not None
    assert home.run_json("socket", "--no-spawn") == {"socket": str(home.socket)}


def test_what_never_starts_a_daemon(home: Home) -> None:
    for words in (["down"], ["config", "show"], ["config", "validate"], ["completion", "bash"], ["doctor"]):
        assert home.run(*words).returncode == 0
        assert home.server_pid() is None
    for words, env in (
        (["--no-spawn", "status"], {}),
        (["status", "--no-spawn"], {}),
        (["search", "x"], {"LIVEDEX_NO_SPAWN": "1"}),
    ):
        done = home.run(*words, "--json", env=env)
        assert done.returncode == 3
        assert json.loads(done.stderr)["error"]["code"] == 4
        assert "livedex up" in done.stderr
    assert home.server_pid() is None


def test_up_and_down(home: Home, tree: Tree) -> None:
    tree.write("a.txt", "alpha")
    status = home.run_json("up", str(tree))
    assert (status["state"], status["files"], status["roots"][0]["path"]) == ("ready", 1, str(tree))
    second = home.run("daemon")
    assert (second.returncode, f"{status['pid']}" in second.stderr) == (4, True)
    assert home.run_json("down") == {}
    wait_until(lambda: not is_alive(status["pid"]), what="the end of the daemon")
    assert not home.socket.exists()
    assert home.run_json("down") == {}
    assert [hit["relative_path"] for hit in home.run_json("search", "alpha")["hits"]] == ["a.txt"]


def test_two_homes_side_by_side(home: Home, tree: Tree) -> None:
    first = home.run_json("up", str(tree))
    with_own = {"LIVEDEX_HOME": str(home.path / "two")}
    second = home.run_json("status", **with_own)
    assert second["pid"] != first["pid"]
    assert (second["roots"], second["db_path"]) == ([], str(home.path / "two/data/index.db"))
    end_process(second["pid"])


# -- privacy


def test_everything_is_private_whatever_the_umask(home: Home, tree: Tree) -> None:
    tree.write("a.txt", "alpha")
    home.path.chmod(0o777)
    as_nowhere_else = {"LIVEDEX_HOME": str(home.path / "deep/inside"), "LIVEDEX_SOCKET": str(home.socket)}
    script = f"umask 000 && '{LIVEDEX}' up '{tree}' && '{LIVEDEX}' delete '{tree}/a.txt'"
    subprocess.run(["sh", "-c", script], env={**home.env, **as_nowhere_else}, capture_output=True, check=True)
    made = [home.socket, home.path / "deep", *(home.path / "deep").rglob("*")]
    assert {"livedex.sock", "config.toml", "index.db", "livedex.log", "forgotten.db"} <= {path.name for path in made}
    loose = {str(path): oct(path.lstat().st_mode) for path in made if stat.S_IMODE(path.lstat().st_mode) & 0o077}
    assert loose == {}


def test_the_folders_above_ours_are_private_too(home: Home) -> None:
    """As on a new account, where livedex is the first program to store its state."""
    user = home.path / "user"
    bare = {name: value for name, value in home.env.items() if name != "LIVEDEX_HOME"}
    script = f"umask 000 && '{LIVEDEX}' status && '{LIVEDEX}' down"
    subprocess.run(["sh", "-c", script], env={**bare, "HOME": str(user)}, capture_output=True, check=True)
    loose = {str(path): oct(path.lstat().st_mode) for path in user.rglob("*") if path.lstat().st_mode & 0o077}
    assert loose == {}


def test_secrets_and_texts_stay_out(client: Client, home: Home, tree: Tree) -> None:
    tree.write_all(dict.fromkeys(SECRETS, "canaryword") | {".env.example": "exampleword"})
    tree.write(".gitignore", "!.env\n!id_rsa\n")
    add_root(client, tree)
    client.call("search", {"query": "privatequery"})
    assert found(client, "canaryword") == []
    assert found(client, "exampleword") == [".env.example"]
    for name in SECRETS:
        reported = client.call("files/explain", {"path": str(tree / name)})
        assert (reported["status"], reported["rule"]["file"]) == ("ignored", "built-in")
    held = b"".join(file.read_bytes() for file in home.data.rglob("*") if file.is_file())
    assert b"canaryword" not in held
    for text in ("canaryword", "exampleword", "privatequery"):
        assert text not in home.logs()
    home.config.write_text(f'[[roots]]\npath = "{tree}"\nignore = ["!.env"]\n')
    client.call("server/reload")
    assert found(client, "canaryword") == [".env"]


# -- configuration, live


@pytest.fixture
def configured(start_daemon: Callable[..., Daemon], tree: Tree) -> Iterator[tuple[Daemon, Client]]:
    tree.write_all(
        {
            "long.txt": "".join(f"line {number} word{number}\n" for number in range(400)),
            "a.tmp": "tmpword",
            "big.txt": "bigword " + "x " * 2000,
            "note.org": "# Heading\n\norgword\n",
        }
    )
    daemon = start_daemon(f'[[roots]]\npath = "{tree}"\n')
    with daemon.client() as client:
        wait_ready(client)
        yield daemon, client


def put(home: Home, tree: Tree, text: str = "") -> None:
    """Save the configuration as an editor does, with ``text`` after the root's path."""
    beside = home.path / "config.new"
    beside.write_text(f'[[roots]]\npath = "{tree}"\n{text}')
    beside.rename(home.config)


def test_chunk_size_both_ways(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    _, client = configured
    before = client.call("status")["chunks"]
    put(home, tree, "[chunking]\nchunk_size = 200\noverlap = 20\n")
    client.call("server/reload")
    assert found(client, "word399") == ["long.txt"]
    chunks = client.call("files/retrieve", {"path": str(tree / "long.txt"), "timeout_ms": 20_000})["chunks"]
    assert "".join(chunk["text"] for chunk in chunks) == (tree / "long.txt").read_text()
    assert max(len(chunk["text"]) for chunk in chunks) <= 200
    assert client.call("status")["chunks"] > before
    put(home, tree)
    client.call("server/reload")
    assert client.call("sync")["synced"]
    assert client.call("status")["chunks"] == before


def test_a_pipeline_by_suffix(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    _, client = configured
    for text, kind in (('[chunking]\npipelines = { ".org" = "markdown" }\n', "markdown_text"), ("", "plain")):
        put(home, tree, text)
        client.call("server/reload")
        assert found(client, "orgword") == ["note.org"]
        assert client.call("search", {"query": "orgword", "timeout_ms": 20_000})["hits"][0]["kind"] == kind


def test_ignore_by_edit_and_by_signal(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    daemon, client = configured
    put(home, tree, 'ignore = ["*.tmp"]\n')
    wait_until(lambda: found(client, "tmpword") == [], what="the edit")
    put(home, tree)
    os.kill(daemon.pid, signal.SIGHUP)
    wait_until(lambda: found(client, "tmpword") == ["a.tmp"], what="the signal")


def test_max_file_size_both_ways(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    _, client = configured
    put(home, tree, '[index]\nmax_file_size = "1KiB"\n')
    client.call("server/reload")
    assert found(client, "bigword") == []
    assert client.call("files/explain", {"path": str(tree / "big.txt")})["reason"] == "too_large"
    put(home, tree)
    client.call("server/reload")
    assert found(client, "bigword") == ["big.txt"]


def test_roots_in_the_file(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    _, client = configured
    other = Tree(tree.path.parent / "other")
    other.write("other.txt", "otherword")
    put(home, tree, f'[[roots]]\npath = "{other}"\n')
    client.call("server/reload")
    wait_ready(client)
    assert found(client, "otherword") == ["other.txt"]
    put(home, tree)
    client.call("server/reload")
    assert client.call("search", {"query": "otherword", "fresh": False})["hits"] == []


def test_observer_and_log_level(configured: tuple[Daemon, Client], home: Home, tree: Tree) -> None:
    """While polling, nothing reports an edit of the file; it is noticed all the same."""
    _, client = configured

    def watching() -> str:
        return str(client.call("roots/list")["roots"][0]["watching"])

    put(home, tree, '[watch]\nobserver = "polling"\npoll_every = "100ms"\n[log]\nlevel = "warning"\n')
    client.call("server/reload")
    assert watching() == "polling"
    tree.write("polled.txt", "polledword")
    assert found(client, "polledword") == ["polled.txt"]
    logged = home.logs()
    put(home, tree, '[log]\nlevel = "warning"\n')
    wait_until(lambda: watching() == "native", what="the edit while polling")
    tree.write("seen.txt", "seenword")
    assert found(client, "seenword") == ["seen.txt"]
    assert home.logs() == logged


# -- forgetting


def test_forgotten_until_content_or_path_changes(client: Client, tree: Tree) -> None:
    tree.write_all({"a.txt": "alpha one", "b.txt": "alpha two", "sub/c.txt": "alpha three"})
    add_root(client, tree)
    assert client.call("files/delete", {"path": str(tree / "a.txt")}) == {"deleted": 1}
    assert client.call("files/delete", {"path": str(tree / "sub")}) == {"deleted": 1}
    assert found(client, "alpha") == ["b.txt"]
    assert client.call("files/explain", {"path": str(tree / "a.txt")})["reason"] == "forgotten"
    tree.write("sub/new.txt", "alpha new")
    (tree / "a.txt").touch()
    tree.write("a.txt", "alpha one")
    client.call("index/run")
    assert set(found(client, "alpha")) == {"b.txt", "sub/new.txt"}
    tree.rename("sub/c.txt", "sub/moved.txt")
    tree.write("a.txt", "alpha changed")
    assert set(found(client, "alpha")) == {"a.txt", "b.txt", "sub/new.txt", "sub/moved.txt"}
    tree.write("a.txt", "alpha one")  # the change ended the record
    assert "a.txt" in found(client, "alpha")


def test_marks_outlive_the_index(client: Client, daemon: Daemon, home: Home, tree: Tree) -> None:
    tree.write_all({"a.txt": "alpha one", "b.txt": "alpha two"})
    add_root(client, tree)
    client.call("files/delete", {"path": str(tree / "a.txt")})
    daemon.stop()
    for file in home.data.glob("index.db*"):
        file.unlink()
    daemon.start()
    with daemon.client() as again:
        wait_ready(again)
        assert found(again, "alpha") == ["b.txt"]
        assert again.call("index/run", {"paths": [str(tree / "a.txt")], "force": True})["indexed"] == 1
        assert set(found(again, "alpha")) == {"a.txt", "b.txt"}
