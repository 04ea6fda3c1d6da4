"""livedex lists the files of this checkout that git lists, except those that one of livedex's own rules excludes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, add_root
from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

IGNORE_FILES = (".gitignore", ".livedexignore", ".ignore")


def listed(client: Client, root: Path) -> dict[str, str]:
    """Return every file of a root by its relative path, with its status; all pages."""
    files: dict[str, str] = {}
    while True:
        page = client.call("files/list", {"root": str(root), "limit": 1000, "offset": len(files), "timeout_ms": 20_000})
        for file in page["files"]:
            files[os.path.relpath(file["path"], root)] = file["status"]
        if len(files) >= page["total"]:
            return files


@pytest.mark.needs("git")
def test_this_checkout_holds_what_git_lists(client: Client) -> None:
    """Leave out files that are tracked but ignored, ignore files, and files with a rule of livedex's own."""
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a git checkout")
    add_root(client, CHECKOUT)

    def git(*words: str) -> set[str]:
        command = ["git", "-C", str(CHECKOUT), "ls-files", "-z", *words]
        names = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\0")
        return {os.fsdecode(name) for name in names if name}

    expected = git("-co", "--exclude-standard") - git("-ci", "--exclude-standard")
    expected = {name for name in expected if (CHECKOUT / name).exists() and Path(name).name not in IGNORE_FILES}
    have = set(listed(client, CHECKOUT))
    for name in expected - have:
        answer = client.call("files/explain", {"path": str(CHECKOUT / name)})
        assert answer["rule"]["file"] == "built-in", answer
    assert have <= expected
