"""A file system that takes no notice of the case of a name (macOS, FAT, a folder of ext4 with ``casefold``).

The daemon here opens names in any case and lists them as spelled, as it would there. Renames raise the same events.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.any_case import ANY_CASE
from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found, wait_ready

if TYPE_CHECKING:
    from livedex_ipc.client import Client


@pytest.fixture
def daemon(tmp_path: Path, start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon(**with_code(tmp_path / "seam", ANY_CASE))


def rows(client: Client, tree: Tree) -> list[str]:
    listed = client.call("files/list", {"timeout_ms": 20_000})
    assert listed["fresh"], listed
    return sorted(file["path"].removeprefix(f"{tree}/") for file in listed["files"])


def test_a_file_that_is_renamed_in_case_only_has_one_row(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        tree.write("Readme.md", "# One\n\nfirstword\n")
        tree.write("sub/Other.md", "# Two\n\nfirstword\n")
        add_root(client, tree)
        for old, new in (("Readme.md", "README.md"), ("README.md", "readme.md"), ("sub/Other.md", "sub/other.MD")):
            tree.rename(old, new)
            listed = rows(client, tree)
            assert new in listed and len(listed) == 2
            assert sorted(found(client, "firstword")) == listed


def test_a_folder_that_is_renamed_in_case_only_has_each_file_once(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        for name in ("Src/a.txt", "Src/Sub/b.txt", "c.txt"):
            tree.write(name, "firstword\n")
        add_root(client, tree)
        tree.rename("Src/Sub", "Src/sub")
        assert rows(client, tree) == ["Src/a.txt", "Src/sub/b.txt", "c.txt"]
        tree.write("Src/a.txt", "secondword\n")
        tree.rename("Src", "src")
        assert rows(client, tree) == ["c.txt", "src/a.txt", "src/sub/b.txt"]
        assert found(client, "secondword") == ["src/a.txt"]
        tree.write("src/a.txt", "thirdword\n")
        assert found(client, "thirdword") == ["src/a.txt"]


def test_names_that_changed_their_case_while_no_daemon_ran_have_one_row(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        for name in ("Src/a.txt", "Readme.md"):
            tree.write(name, "firstword\n")
        add_root(client, tree)
    daemon.stop()
    tree.rename("Src", "src")
    tree.rename("Readme.md", "README.md")
    daemon.start()
    with daemon.client() as client:
        wait_ready(client)
        assert rows(client, tree) == ["README.md", "src/a.txt"]
        assert sorted(found(client, "firstword")) == ["README.md", "src/a.txt"]


def test_a_new_file_and_a_save_under_a_name_in_another_case(daemon: Daemon, tree: Tree) -> None:
    with daemon.client() as client:
        add_root(client, tree)
        tree.write("Notes.txt", "firstword\n")
        assert rows(client, tree) == ["Notes.txt"]
        tree.save("Notes.txt", "secondword\n")
        assert found(client, "secondword") == ["Notes.txt"]
        tree.remove("Notes.txt")
        tree.write("NOTES.txt", "thirdword\n")
        assert rows(client, tree) == ["NOTES.txt"] == found(client, "thirdword")
