"""Roots that are mounts: unmounted, mounted over, mounted again; none of their files counts as deleted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import in_namespaces, inside, needs_namespaces
from helpers.support import Daemon, Tree, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

if sys.platform != "linux":
    pytest.skip("mounts of one's own are Linux's", allow_module_level=True)

pytestmark = needs_namespaces
WITHIN_S = 20.0  # twice the time that the contract permits for a root's return
BIND = 'mount --bind "$1" "$2"'


class Mounts:
    """Three roots: one is a mount, one is mounted over, and something is mounted inside the third."""

    def __init__(self, folder: Tree) -> None:
        self.disk, self.other = Tree(folder / "disk"), Tree(folder / "other")
        self.mount, self.covered, self.outer = (Tree(folder / name) for name in ("mount", "covered", "outer"))
        self.disk.write_all({"root/a.txt": "alpha one\n", "root/sub/b.txt": "alpha two\n"})
        self.covered.write_all({"a.txt": "beta one\n", "sub/b.txt": "beta two\n"})
        self.outer.write_all({"a.txt": "gamma one\n", "in/b.txt": "gamma two\n"})
        self.other.write("c.txt", "beta gamma other\n")
        self.root = self.mount / "root"

    @property
    def config(self) -> str:
        roots = "".join(f'[[roots]]\npath = "{path}"\n' for path in (self.root, self.covered, self.outer))
        return f'[watch]\nreconcile_every = "1s"\n{roots}'

    @property
    def mounted(self) -> list[str]:
        return in_namespaces(BIND, str(self.disk), str(self.mount))


@pytest.fixture
def mounts(tmp_path: Path) -> Mounts:
    return Mounts(Tree(tmp_path.resolve() / "roots"))


def state(client: Client, root: object) -> str:
    return next(str(one["state"]) for one in client.call("roots/list")["roots"] if one["path"] == str(root))


def files(client: Client, root: object) -> int:
    """Return how many files of a root are in the index, served or not."""
    return next(int(one["files"]) for one in client.call("roots/list")["roots"] if one["path"] == str(root))


def is_found(client: Client, root: object, word: str, *paths: str) -> None:
    """Search in one root, as soon as the contract promises it."""
    ask = {"query": word, "roots": [str(root)], "timeout_ms": 5_000}
    wait_until(
        lambda: {hit["relative_path"] for hit in client.call("search", ask)["hits"]} == set(paths),
        WITHIN_S,
        what=f"{word} in {paths}",
    )


def chunked(client: Client) -> int:
    number = client.call("status")["work"]["files_chunked"]
    assert isinstance(number, int)
    return number


def test_mounts_come_and_go(start_daemon: Callable[..., Daemon], mounts: Mounts) -> None:
    daemon = start_daemon(mounts.config, wrap=mounts.mounted)
    with daemon.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
        assert set(found(client, "alpha")) == {"a.txt", "sub/b.txt"}
        before = chunked(client)
        # The disk of a root goes and leaves a folder without it; an empty folder, and then files, cover another; and in
        # the third a mount appears, which no event reports.
        inside(daemon, 'umount "$1"', mounts.mount)
        assert found(client, "alpha") == [], "at once, and what is asked for now is not taken for deleted"
        inside(daemon, 'mount -t tmpfs tmpfs "$1"', mounts.covered)
        assert found(client, "beta") == []
        inside(daemon, BIND, mounts.other.path, mounts.outer / "in")
        assert found(client, "gamma two") != ["in/b.txt"], "what lies below a mount cannot be read and is not shown"
        is_found(client, mounts.outer, "gamma", "a.txt", "in/c.txt")
        for root in (mounts.root, mounts.covered):
            wait_until(lambda root=root: state(client, root) == "missing", WITHIN_S, what="missing")  # type: ignore[misc]
        assert [files(client, root) for root in (mounts.root, mounts.covered)] == [2, 2], "their entries are kept"
        answer = client.call("search", {"query": "alpha beta"})
        assert [hit["path"] for hit in answer["hits"] if not hit["path"].startswith(str(mounts.outer))] == []
        assert [warning["code"] for warning in answer["warnings"]].count("root_missing") == 2
        assert client.call("status")["state"] == "degraded"
        mounts.other.write("d.txt", "gamma more\n")
        is_found(client, mounts.outer, "more", "in/d.txt")

        inside(daemon, BIND, mounts.disk.path, mounts.mount)
        inside(daemon, BIND, mounts.other.path, mounts.covered)
        inside(daemon, 'umount "$1"', mounts.outer / "in")
        is_found(client, mounts.root, "alpha", "a.txt", "sub/b.txt")
        is_found(client, mounts.covered, "beta", "c.txt")
        is_found(client, mounts.outer, "two", "in/b.txt")
        inside(daemon, 'umount "$1"; umount "$1"', mounts.covered)
        is_found(client, mounts.covered, "beta", "a.txt", "sub/b.txt")
        assert {state(client, root) for root in (mounts.root, mounts.covered, mounts.outer)} == {"online"}
        assert chunked(client) == before + 2, "only what was new was chunked: the covering file, and the one added"
        mounts.disk.write("root/e.txt", "alpha three\n")
        mounts.covered.write("e.txt", "beta three\n")
        assert found(client, "alpha three")[0] == "e.txt", "both are watched again"
        assert len(found(client, "beta")) == 3


def test_a_disk_that_is_not_there_at_the_start(start_daemon: Callable[..., Daemon], mounts: Mounts) -> None:
    daemon = start_daemon(mounts.config, wrap=mounts.mounted)
    with daemon.client() as client:
        assert client.call("sync", {"timeout_ms": 60_000})["synced"]
    daemon.stop()
    daemon.wrap = in_namespaces("true")
    daemon.start()
    with daemon.client() as client:
        assert state(client, mounts.root) == "missing"
        assert found(client, "alpha") == []
        assert set(found(client, "beta")) == {"a.txt", "sub/b.txt"}
    daemon.stop()
    daemon.wrap = mounts.mounted
    daemon.start()
    with daemon.client() as client:
        is_found(client, mounts.root, "alpha", "a.txt", "sub/b.txt")
        assert chunked(client) == 0, "nothing was forgotten"
