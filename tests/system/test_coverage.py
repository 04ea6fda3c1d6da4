"""The chunks of a file cover it: their texts, their bytes and their lines, in any encoding."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from helpers import chunk_coverage
from helpers.disk_inventory import listed
from helpers.support import CHECKOUT, Tree, add_root, wait_ready

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon


@pytest.mark.needs("rg")
def test_chunks_cover_their_files(client: Client, tree: Tree) -> None:
    chunk_coverage.write_odd_files(tree / "odd")
    for folder in ("indexing", "docs"):
        shutil.copytree(CHECKOUT / folder, tree / folder, ignore=chunk_coverage.TEXTS_ONLY)
    add_root(client, tree)
    files = listed(client, tree.path)
    assert {record["status"] for record in files.values()} == {"indexed"}
    assert len(files) > len(chunk_coverage.ODD_FILES)
    found = chunk_coverage.check(client, tree.path, files)
    assert found.faults == []
    assert found.files == len(files)


@pytest.mark.needs("rg")
def test_chunks_cover_their_files_after_an_edit(client: Client, tree: Tree) -> None:
    """Every unusual file gets the bytes of another, so that its name no longer shows its content."""
    chunk_coverage.write_odd_files(tree.path)
    add_root(client, tree)
    names = list(chunk_coverage.ODD_FILES)
    for name, other in zip(names, names[7:] + names[:7], strict=True):
        tree.save(name, chunk_coverage.ODD_FILES[other])
    client.call("sync")
    wait_ready(client)
    found = chunk_coverage.check(client, tree.path, listed(client, tree.path))
    assert found.faults == []
    assert found.files == len(names)
