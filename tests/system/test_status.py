"""The status is true: its figures are measured, its warnings are provoked, and a run reports what it left out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers.fault_injection import Disk, needs_namespaces, with_code, with_small_disk
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, codes, found, wait_until
from livedex_ipc.errors import Unavailable

if TYPE_CHECKING:
    from livedex_ipc.client import Client

CHANGES = 40


def test_freshness_is_measured_change_by_change(client: Client, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    add_root(client, tree)
    found(client, "firstword")

    def figures() -> dict[str, Any]:
        said: dict[str, Any] = client.call("status")["freshness"]
        return said

    before = figures()["samples"]
    for number in range(CHANGES):
        tree.write("a.txt", f"word{number}x\n")
        assert found(client, f"word{number}x") == ["a.txt"]
    client.call("index/run")  # also of the last change, no event is left
    after = figures()
    assert CHANGES <= after["samples"] - before <= 4 * CHANGES, "a sample a change, not one a look or a read"
    assert 0 < after["p50_ms"] <= after["p99_ms"] < 60_000
    for _ in range(20):
        found(client, "firstword")
        client.call("index/run")
    assert figures()["samples"] == after["samples"], "nothing changed: nothing is measured"


def test_a_slow_commit_shows_in_the_figures(tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    """Each commit is held for 0.3 s: no figure can be smaller."""
    slow = """
import sys
if "livedex_daemon" in sys.orig_argv:
    import time
    from livedex_daemon.write.commit import Committer
    apply = Committer.apply
    Committer.apply = lambda *what: (time.sleep(0.3), apply(*what))[1]
"""
    daemon = start_daemon(**with_code(tmp_path / "seam", slow))
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(3):
            tree.write("a.txt", f"word{number}x\n")
            assert found(client, f"word{number}x") == ["a.txt"]
        said = client.call("status")["freshness"]
    assert said["samples"] >= 3 and said["p50_ms"] >= 300


def test_a_child_that_ends_at_once_is_said(tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]) -> None:
    broken = """
import sys
if "livedex_indexing.chunk.chunk_child" in sys.orig_argv:
    import os
    os._exit(3)
"""
    daemon = start_daemon(**with_code(tmp_path / "seam", broken))
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        client.call("roots/add", {"path": str(tree)})
        wait_until(lambda: "chunk_worker" in codes(client), what="the warning")
        assert client.call("status")["state"] == "degraded"
        assert not client.call("search", {"query": "firstword"})["fresh"]


def test_an_ignore_file_that_does_not_count_is_said(client: Client, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    os.mkfifo(tree / ".gitignore")
    add_root(client, tree)
    (warning,) = client.call("status")["warnings"]
    assert warning["code"] == "ignore_file" and str(tree / ".gitignore") in warning["message"] and warning["remedy"]


def test_a_run_says_what_it_could_not_look_at(client: Client, tree: Tree, tmp_path: Path) -> None:
    gone = Tree(tmp_path / "gone")
    gone.write("b.txt", "secondword\n")
    tree.write("a.txt", "firstword\n")
    add_root(client, tree)
    add_root(client, gone)
    both = client.call("status")["chunks"]
    gone.path.rename(tmp_path / "elsewhere")
    wait_until(lambda: "root_missing" in codes(client), what="the root being missed")
    for params in ({}, {"paths": [str(gone)]}):
        ran = client.call("index/run", params)
        (said,) = ran["failed"]
        assert (said["path"], said["stage"]) == (str(gone), "missing") and said["message"]
    assert client.call("status")["chunks"] == both - 1, "what is not served is not counted"
    (tmp_path / "elsewhere").rename(gone.path)
    wait_until(lambda: "root_missing" not in codes(client), what="the root's return")
    assert client.call("status")["chunks"] == both


@needs_namespaces
def test_what_would_be_written_is_refused_while_the_disk_is_full(
    home: Home, tree: Tree, start_daemon: Callable[..., Daemon]
) -> None:
    daemon = start_daemon(wrap=with_small_disk(home.data, 8))
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
        disk = Disk(daemon, home.data)
        disk.fill()
        tree.write("a.txt", "".join(f"later{number} " for number in range(3_000)))
        for method, params in (("index/run", {}), ("index/audit", {"repair": True})):
            with pytest.raises(Unavailable) as refused:
                client.call(method, params)
                client.call(method, params)  # the first one may have found the last free page
            assert refused.value.code == 4 and "index.db" in refused.value.message
        disk.free()
        wait_until(lambda: "disk_full" not in codes(client), 10.0, what="health")
        assert client.call("index/run", {})["failed"] == []
        assert found(client, "later2999")


def test_down_ends_the_daemon_of_the_socket_that_is_named(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    other = str(home.path / "other.sock")
    daemon = start_daemon(LIVEDEX_SOCKET=str(home.socket))
    done = home.run("down", env={"LIVEDEX_SOCKET": other})
    assert done.returncode == 0 and daemon.running(), "none runs there, and this one is another"
    assert home.run("down").returncode == 0
    wait_until(lambda: not daemon.running(), what="its end")


def test_status_speaks_up_while_it_is_watched(tree: Tree, client: Client, home: Home) -> None:
    add_root(client, tree)
    with subprocess.Popen(
        [LIVEDEX, "status", "--watch", "--json"], env=home.env, stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        first = json.loads(watching.stdout.readline())
        tree.write("new.txt", "new")
        client.call("sync")
        wait_until(lambda: json.loads(watching.stdout.readline())["files"] == first["files"] + 1)  # type: ignore[union-attr]
        watching.terminate()
