"""Contents, not files: what was cut into chunks once is never cut again, whatever becomes of the files that hold it."""

from __future__ import annotations

from pathlib import Path

import pytest

from livedex_ipc.client import Client
from support import Daemon, Tree, add_root, found, wait_ready

FILES = 200


@pytest.fixture
def root(tree: Tree, client: Client) -> Tree:
    for number in range(FILES):
        tree.write(f"src/pkg{number % 7}/mod{number}.py", f"def function_{number}():\n    return {number}\n")
    tree.write("doc/readme.md", "# Title\n\ntext\n")
    add_root(client, tree)
    return tree


def chunked(client: Client) -> int:
    """How many files were cut into chunks since the daemon started, with everything before it done."""
    assert client.call("sync")["synced"]
    count = client.call("status")["work"]["files_chunked"]
    assert isinstance(count, int)
    return count


def test_touch(root: Tree, client: Client) -> None:
    before = chunked(client)
    for path in root.path.rglob("*.py"):
        path.touch()
    assert chunked(client) == before


def test_renamed_folder(root: Tree, client: Client) -> None:
    before = chunked(client)
    root.rename("src", "source")
    assert len(found(client, "path:source/")) == FILES
    assert chunked(client) == before


def test_copy(root: Tree, client: Client) -> None:
    before = chunked(client)
    for path in sorted((root / "src/pkg0").iterdir()):
        root.write(f"copy/{path.name}", path.read_bytes())
    assert chunked(client) == before
    assert found(client, "path:copy/")


def test_restart(root: Tree, daemon: Daemon, client: Client) -> None:
    client.close()
    daemon.restart()
    with daemon.client() as again:
        wait_ready(again)
        assert chunked(again) == 0
        assert again.call("status")["files"] == FILES + 1


@pytest.mark.needs("git")
def test_checkout_there_and_back(root: Tree, client: Client) -> None:
    root.git("init", "-q", "-b", "main")
    root.git("add", "-A")
    root.git("commit", "-qm", "one")
    root.git("checkout", "-qb", "other")
    for number in range(0, FILES, 2):
        root.write(f"src/pkg{number % 7}/mod{number}.py", f"def renamed_{number}():\n    pass\n")
    root.git("commit", "-qam", "two")
    before = chunked(client)
    for branch in ("main", "other", "main"):
        root.git("checkout", "-q", branch)
        assert chunked(client) == before


@pytest.mark.needs("git")
def test_second_worktree(root: Tree, client: Client, tmp_path: Path) -> None:
    root.git("init", "-q", "-b", "main")
    root.git("add", "-A")
    root.git("commit", "-qm", "one")
    before = chunked(client)
    second = tmp_path / "second"
    root.git("worktree", "add", "-q", str(second), "HEAD")
    add_root(client, second)
    assert chunked(client) == before
    assert client.call("status")["files"] == 2 * (FILES + 1)
