"""Children that cannot start, or are of another version: no file is blamed, and all are indexed afterwards."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import KILLED_BY_A_FILE, with_code
from helpers.support import Daemon, Tree, add_root, found, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import Unavailable

HEAL_S = 10  # promised, from the end of the cause

# The daemon starts its children with a program that the test can remove.
BY_A_LINK = """
import os, sys
if "livedex_indexing.chunk.chunk_child" not in sys.orig_argv and "LINK" in os.environ:
    sys.executable = os.environ["LINK"]
"""

# A file names the code that a process runs; the test rewrites it: an upgrade in place.
BY_A_FILE = """
import hashlib, os
from livedex_indexing.child import code_version

def read_from_disk():
    with open(os.environ["VERSION"], "rb") as file:
        return hashlib.blake2b(file.read(), digest_size=16).digest()

code_version.read_from_disk = read_from_disk
code_version.OWN = read_from_disk()
"""


def warnings(client: Client) -> dict[str, str]:
    return {warning["code"]: warning["remedy"] for warning in client.call("status")["warnings"]}


def statuses(client: Client) -> dict[str, str]:
    records = client.call("files/list", {"timeout_ms": 1000})["files"]
    return {os.path.basename(record["path"]): record["status"] for record in records}


def wait_for_all(client: Client, count: int) -> None:
    """No request here asks for a fresh answer: only the daemon itself causes the files to be indexed."""

    def indexed() -> bool:
        state = client.call("status")
        return bool(state["files"] == count and state["pending"] == 0 and not state["warnings"])

    wait_until(indexed, HEAL_S, what="every file being indexed")


def test_files_wait_while_there_is_no_interpreter(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    link = tmp_path / "python"
    script = f'#!/bin/sh\nexec {sys.executable} "$@"\n'
    daemon = start_daemon(LINK=str(link), **with_code(tmp_path / "seam", BY_A_LINK))
    with daemon.client() as client:
        add_root(client, tree)
        tree.write_all({f"f{number:02}.txt": f"zebra{number}\n" for number in range(30)})
        wait_until(lambda: "chunk_worker" in warnings(client), what="the warning")
        assert "restart the daemon" in warnings(client)["chunk_worker"]
        answer = client.call("search", {"query": "zebra1", "timeout_ms": 20_000})
        assert (answer["fresh"], answer["reason"]) == (False, "unsettled")
        assert set(statuses(client).values()) == {"pending"}
        with pytest.raises(Unavailable, match="files wait to be indexed: the chunk worker does not run"):
            client.call("index/run", {"force": True})
        link.write_text(script)
        link.chmod(0o755)
        wait_for_all(client, 30)
        assert found(client, "zebra7") == ["f07.txt"]
        link.unlink()
        with pytest.raises(Unavailable, match="chunk worker does not run"):
            client.call("index/audit")


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no prlimit")
def test_one_moment_without_descriptors_costs_nothing(client: Client, daemon: Daemon, tree: Tree) -> None:
    add_root(client, tree)
    usual = resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE)
    few = len(os.listdir(f"/proc/{daemon.pid}/fd")) + 3  # a file can be read, but no pipe can be created
    resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (few, usual[1]))
    try:
        tree.write("a.txt", "zebra\n")
        wait_until(lambda: "chunk_worker" in warnings(client), what="the warning")
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, usual)
    wait_for_all(client, 1)
    assert found(client, "zebra") == ["a.txt"]


def test_an_upgrade_under_the_daemon_blames_no_file(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    version = tmp_path / "version"
    version.write_text("one")
    daemon = start_daemon(VERSION=str(version), **with_code(tmp_path / "seam", BY_A_FILE))
    with daemon.client() as client:
        add_root(client, tree)
        version.write_text("two")
        tree.write("note.txt", "zebra\n")
        wait_until(lambda: "restart_needed" in warnings(client), what="the warning")
        assert "livedex down" in warnings(client)["restart_needed"]
        assert not client.call("search", {"query": "zebra", "timeout_ms": 500})["fresh"]
        assert statuses(client) == {"note.txt": "pending"}
    daemon.stop()
    daemon.start()
    with daemon.client() as client:
        assert found(client, "zebra") == ["note.txt"]
        assert warnings(client) == {}


def test_a_quarantine_ends_with_the_version_that_pronounced_it(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    version, deaths = tmp_path / "version", tmp_path / "deaths"
    version.write_text("one")
    deaths.touch()
    daemon = start_daemon(
        VERSION=str(version), DEATHS=str(deaths), **with_code(tmp_path / "seam", BY_A_FILE + KILLED_BY_A_FILE)
    )
    tree.write("killer.txt", "killerword\n")
    tree.write("mate.txt", "mate\n")
    with daemon.client() as client:
        add_root(client, tree)
        assert statuses(client) == {"killer.txt": "failed", "mate.txt": "indexed"}
        assert deaths.stat().st_size == 2
    for text, expected in (("one", 2), ("two", 4), ("two", 4)):
        daemon.stop()
        version.write_text(text)
        daemon.start()
        with daemon.client() as client:
            client.call("index/run", {"paths": [str(tree)]})
            assert statuses(client) == {"killer.txt": "failed", "mate.txt": "indexed"}
        assert deaths.stat().st_size == expected
