"""A content is chunked once and never again: `work.files_chunked` does not grow, whatever happens to the files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers import change_scenarios
from helpers.chunk_coverage import write_odd_files
from helpers.fault_injection import SETTLES_AT_ONCE, cutting_slowly
from helpers.support import CHECKOUT, Daemon, Tree, add_root, found, wait_converted, wait_ready, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client


@pytest.fixture
def root(tree: Tree, client: Client) -> Tree:
    """Files of every pipeline and every encoding."""
    write_odd_files(tree / "all/odd")
    for folder in ("docs", "ipc"):
        shutil.copytree(CHECKOUT / folder, tree / "all" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    add_root(client, tree)
    wait_until(lambda: client.call("status")["documents_pending"] == 0, 30, what="the converted documents")
    return tree


def test_nothing_is_chunked_twice(root: Tree, daemon: Daemon, client: Client) -> None:
    before, files = change_scenarios.chunked(client), client.call("status")["files"]
    change_scenarios.touch_all(root.path)
    assert change_scenarios.chunked(client) == before
    root.rename("all", "renamed")
    assert change_scenarios.chunked(client) == before
    shutil.copytree(root / "renamed/odd", root / "copied")
    assert change_scenarios.chunked(client) == before
    root.remove("renamed/odd")
    assert change_scenarios.chunked(client) == before
    root.rename("copied", "renamed/odd")
    assert change_scenarios.chunked(client) == before
    assert client.call("status")["files"] == files
    client.close()
    daemon.restart()
    with daemon.client() as again:
        wait_ready(again)
        assert change_scenarios.chunked(again) == 0
        assert again.call("status")["files"] == files


@pytest.mark.needs("git")
def test_nothing_is_chunked_twice_by_git(root: Tree, client: Client) -> None:
    files = client.call("status")["files"]
    root.git("init", "-q", "-b", "main")
    root.git("add", "-A")
    root.git("commit", "-qm", "one")
    change_scenarios.commit_another_branch(root, "other")
    wait_converted(client)  # else a checkout comes first, and the second work tree still waits for the document
    before = change_scenarios.chunked(client)
    for branch in ("main", "other", "main"):
        root.git("checkout", "-q", branch)
        assert change_scenarios.chunked(client) == before
    assert client.call("status")["files"] == files
    second = root.path.with_name("second")
    root.git("worktree", "add", "-q", "--detach", str(second), "other")
    add_root(client, second)
    assert change_scenarios.chunked(client) == before
    assert client.call("status")["files"] == 2 * files - 1  # one file is gone on the other branch


def test_a_first_index_that_was_killed_goes_on_where_it_was(
    start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path
) -> None:
    many = 1_500
    slow, environment = cutting_slowly(tmp_path, SETTLES_AT_ONCE)
    tree.write_all({f"d{number % 30}/f{number}.txt": f"word{number} of a file\n" * 40 for number in range(many - 1)})
    tree.write("d29/slow.txt", "the last word of a file\n")  # cut only after the kill, so that it comes in time
    daemon = start_daemon(**environment)
    with daemon.client() as client:
        client.call("roots/add", {"path": str(tree)})
        wait_until(lambda: client.call("status")["files"] > many // 10, 60, what="a tenth of it")
        done = client.call("status")["files"]
        daemon.kill()
    (slow / "slow.txt").touch()
    daemon.start()
    with daemon.client() as client:
        status = wait_ready(client)
        assert status["files"] == many
        assert status["work"]["files_read"] <= many - done
        assert len(found(client, "of a file")) == 1_000
