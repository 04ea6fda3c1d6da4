"""The disk of the index is full, read-only or broken: searches go on, and nothing is promised that could be lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.fault_injection import Disk, in_namespaces, injected, inside, needs_namespaces, with_small_disk
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

HEALED_S = 10.0  # the promise

Fault = Callable[[Daemon, Home], AbstractContextManager[None]]

if sys.platform != "linux":
    pytest.skip("namespaces and strace are Linux's", allow_module_level=True)


@pytest.fixture
def daemon(home: Home, start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon(wrap=with_small_disk(home.data, 8))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write_all({f"f{number}.txt": f"some words and number{number}\n" for number in range(30)})
    tree.write("forgettable.txt", "canaryword\n")
    add_root(client, tree)
    yield client


@contextmanager
def full(daemon: Daemon, home: Home) -> Iterator[None]:
    disk = Disk(daemon, home.data)
    disk.fill()
    yield
    disk.free()


def failing(error: str) -> Fault:
    """Writes to the index fail as after a remount that the kernel forces on a disk with open files."""

    @contextmanager
    def fault(daemon: Daemon, home: Home) -> Iterator[None]:
        index = home.data / "index.db"
        paths = [word for suffix in ("", "-wal") for word in ("-P", f"{index}{suffix}")]
        with injected(daemon, *paths, "-e", "trace=pwrite64", "-e", f"inject=pwrite64:error={error}"):
            yield

    return fault


NEEDED = [needs_namespaces, pytest.mark.needs("strace")]
FAULTS = [
    pytest.param(full, "disk_full", id="full", marks=needs_namespaces),
    pytest.param(failing("EROFS"), "backend_unavailable", id="read-only", marks=NEEDED),
    pytest.param(failing("EIO"), "backend_unavailable", id="EIO", marks=NEEDED),
    pytest.param(failing("EDQUOT"), "backend_unavailable", id="quota", marks=NEEDED),
    pytest.param(failing("ENOSPC"), "disk_full", id="ENOSPC", marks=NEEDED),
]


def refused(client: Client, method: str, params: dict[str, Any]) -> bool:
    with pytest.raises(Unavailable) as error:
        client.call(method, params)
    return error.value.code == 4 and "index.db" in error.value.message


@pytest.mark.parametrize(("fault", "code"), FAULTS)
def test_searches_go_on_and_it_heals(
    indexed: Client, tree: Tree, home: Home, daemon: Daemon, tmp_path: Any, fault: Fault, code: str
) -> None:
    other = Tree(tmp_path / "other")
    other.write("other.txt", "otherword\n")
    config = home.config.read_text()
    with fault(daemon, home):
        text = "".join(f"later{number} " for number in range(4_000))
        tree.write_all({f"late{number}.txt": f"{number} {text}" for number in range(6)})
        tree.write("f0.txt", "changedword\n")
        wait_until(lambda: code in codes(indexed), what=f"the warning {code}")
        status = indexed.call("status")
        assert status["state"] == "degraded"
        assert code == "disk_full" or "quota" in status["warnings"][0]["remedy"]
        answer = indexed.call("search", {"query": "words", "limit": 100, "timeout_ms": 30_000})
        assert (answer["fresh"], answer["reason"]) == (False, "store")
        assert len(answer["hits"]) == 29, "all but the one that changed, whose old text is not shown"
        assert code in {warning["code"] for warning in answer["warnings"]}
        assert refused(indexed, "roots/add", {"path": str(other)})
        assert home.config.read_text() == config, "refused means that nothing was done"
        assert refused(indexed, "files/delete", {"path": str(tree / "forgettable.txt")})
        assert indexed.call("search", {"query": "canaryword", "fresh": False})["hits"]
    wait_until(lambda: code not in codes(indexed), HEALED_S, what="health")
    assert found(indexed, "changedword") == ["f0.txt"]
    assert found(indexed, "number0") == []
    assert len(found(indexed, "later3999", group="file")) == 6
    assert found(indexed, "canaryword") == ["forgettable.txt"]
    assert indexed.call("index/audit", {})["differences"] == []
    add_root(indexed, other)
    assert found(indexed, "otherword") == ["other.txt"]


@pytest.mark.needs("strace")
def test_a_start_on_a_full_disk_serves_what_a_killed_daemon_left(
    home: Home, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    tree.write_all({"a.txt": "firstword\n", "b.txt": "otherword\n"})
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    daemon.kill()
    tree.write("a.txt", "secondword\n")
    paths = [word for suffix in ("", "-wal") for word in ("-P", str(home.data / f"index.db{suffix}"))]
    full = ["-e", "trace=pwrite64", "-e", "inject=pwrite64:error=ENOSPC"]
    daemon.wrap = ["strace", "-D", "-f", "-qq", "-o", os.devnull, *paths, *full]
    with daemon.start().client() as client:
        wait_until(lambda: "disk_full" in codes(client), what="the warning")
        (hit,) = client.call("search", {"query": "otherword", "fresh": False})["hits"]
        assert hit["relative_path"] == "b.txt"
        assert client.call("search", {"query": "firstword", "fresh": False})["hits"] == []
    assert daemon.stop() == 0
    daemon.wrap = ()
    with daemon.start().client() as client:
        assert found(client, "secondword") == ["a.txt"]
        assert client.call("status")["state"] == "ready"


@needs_namespaces
def test_a_full_disk_of_the_log_costs_lines_only(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    tree.write("a.txt", "firstword\n")
    daemon = start_daemon(wrap=with_small_disk(home.path / "log", 1))
    disk = Disk(daemon, home.path / "log")
    disk.fill()
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(20):
            client.call("server/reload")
            tree.write("a.txt", f"word{'abcdefghijklmnopqrst'[number]}\n")
            assert found(client, f"word{'abcdefghijklmnopqrst'[number]}") == ["a.txt"]
        assert client.call("status")["state"] == "ready"
    disk.free()
    assert daemon.stop() == 0


@needs_namespaces
def test_a_log_that_cannot_be_written_is_a_warning_until_it_can(
    home: Home, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    tree.write("a.txt", "firstword\n")
    log = home.path / "log"
    read_only = in_namespaces('mkdir -p "$1"; mount -t tmpfs -o ro,mode=0700 tmpfs "$1"', str(log))
    daemon = start_daemon(wrap=read_only)
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "firstword") == ["a.txt"]
        (warning,) = client.call("status")["warnings"]
        assert (warning["code"], str(home.log) in warning["message"]) == ("log_unavailable", True)
        assert client.call("status")["state"] == "ready", "no promise depends on the log"
        assert "config_applied" in home.stderr.read_text()
        inside(daemon, 'mount -o remount,rw "$1"', log)
        wait_until(lambda: codes(client) == set(), HEALED_S, what="a log")
        assert "log_lines_lost" in Path(f"/proc/{daemon.pid}/root{home.log}").read_text()
    assert daemon.stop() == 0


def in_full_disk(home: Home, folder: Path, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell's script where ``folder`` ($1) is a disk with these options and no free space."""
    mount = f'mkdir -p "$1"; mount -t tmpfs -o {options},mode=0700 tmpfs "$1"'
    env = {**home.env, "PATH": f"{Path(LIVEDEX).parent}{os.pathsep}{home.env['PATH']}"}
    command = [*in_namespaces(mount, str(folder)), "sh", "-ec", script, "sh", str(folder)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)


@needs_namespaces
@pytest.mark.parametrize("options", ["nr_inodes=1", "size=4k"])
def test_a_log_without_room_at_the_start(home: Home, tree: Tree, options: str) -> None:
    """The client that starts the daemon passes a stderr that nobody reads later."""
    tree.write("a.txt", "firstword\n")
    home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    fill = 'head -c 5000 /dev/zero > "$1/full" || true\n'
    script = f"{fill} livedex sync && livedex search firstword && livedex --json status && livedex down"
    done = in_full_disk(home, home.path / "log", options, script)
    assert (done.returncode, "1 hit in 1 file" in done.stdout) == (0, True), done.stderr
    assert '"log_unavailable"' in done.stdout


@needs_namespaces
def test_a_start_on_a_full_disk_serves_the_index_and_heals(home: Home, tree: Tree) -> None:
    tree.write_all({"a.txt": "firstword\n", "b.txt": "otherword\n"})
    home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    script = f"""livedex sync && livedex down
        echo secondword > {tree}/a.txt
        head -c 60m /dev/zero > "$1/full" || true
        livedex --json search otherword; livedex --json search firstword || true; livedex --json status
        rm "$1/full"
        until livedex sync 2> /dev/null; do :; done
        livedex --json search secondword && livedex --json status && livedex down"""
    done = in_full_disk(home, home.data, "size=50m", script)
    assert done.returncode == 0, done.stderr + home.logs()
    other, first, full, second, healed = [json.loads(line) for line in done.stdout.splitlines() if line[:1] == "{"]
    assert [hit["relative_path"] for hit in other["hits"]] == ["b.txt"] and first["hits"] == []
    assert (other["fresh"], other["reason"]) == (first["fresh"], first["reason"]) == (False, "store")
    assert [warning["code"] for warning in full["warnings"]] == ["disk_full"]
    assert [hit["relative_path"] for hit in second["hits"]] == ["a.txt"] and second["fresh"]
    assert (healed["state"], healed["warnings"]) == ("ready", [])


@needs_namespaces
@pytest.mark.parametrize("options", ["nr_inodes=1", *(f"size={kib}k" for kib in (4, 40, 100, 180, 260))])
def test_a_first_start_on_a_full_disk_says_so_and_the_next_one_works(home: Home, tree: Tree, options: str) -> None:
    tree.write("a.txt", "firstword\n")
    home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    script = """! livedex status
        mount -o remount,size=50m,nr_inodes=1000 "$1"
        livedex sync && livedex search firstword && livedex --json status && livedex down"""
    done = in_full_disk(home, home.data, options, script)
    assert done.returncode == 0, done.stderr + home.logs()
    (told,) = done.stderr.splitlines()
    assert (str(home.data) in told, "free some space on" in told) == (True, True), told
    assert "1 hit in 1 file" in done.stdout
    assert '"state":"ready"' in done.stdout and '"warnings":[]' in done.stdout
