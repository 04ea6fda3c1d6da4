"""A filesystem mounted over a folder of a root, and unmounted, is seen by the very next search."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from helpers.fault_injection import in_namespaces, inside, needs_namespaces
from helpers.support import Daemon, Tree, add_root, codes, found, wait_until

pytestmark = needs_namespaces
# COVER_FULL mounts it filled: over a root, an empty one may be seen for a moment, and would make the root missing.
COVER = 'mount -t tmpfs tmpfs "$1"; mkdir -p "$1/deep"; echo "okapi $2" > "$1/deep/m.txt"'
COVER_FULL = f'cover() {{ {COVER}; }}; mkdir "$1.new"; cover "$1.new" "$2"; mount --move "$1.new" "$1"'


@pytest.mark.parametrize("folder", ["sub", "sub/deep"])
def test_a_mount_inside_a_root(start_daemon: Callable[..., Daemon], tree: Tree, folder: str) -> None:
    tree.write_all({"x.txt": "zebra\n", "sub/deep/z.txt": "gnu\n", "sub/deep/deep/y.txt": "gnu too\n"})
    daemon = start_daemon(wrap=in_namespaces("true"))
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(3):
            scope = {"path": str(tree / "sub")} if number else {}
            inside(daemon, COVER, tree / folder, number)
            assert found(client, f"okapi {number}", **scope) == [f"{folder}/deep/m.txt"]
            assert found(client, "gnu") == []
            inside(daemon, 'echo "quagga $2" > "$1/deep/n.txt"', tree / folder, number)
            assert found(client, f"quagga {number}", **scope) == [f"{folder}/deep/n.txt"]
            inside(daemon, 'umount "$1"', tree / folder)
            assert sorted(found(client, "gnu", **scope)) == ["sub/deep/deep/y.txt", "sub/deep/z.txt"]
            assert found(client, "okapi") == []
            tree.write("sub/deep/z.txt", f"gnu lynx{number}\n")
            assert found(client, f"lynx{number}") == ["sub/deep/z.txt"]


def test_a_mount_over_a_root_and_above_it(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    root = Tree(tree / "above/root")
    root.write("x.txt", "zebra\n")
    daemon = start_daemon(wrap=in_namespaces("true"))
    with daemon.client() as client:
        add_root(client, root.path)
        inside(daemon, COVER_FULL, root, 1)
        assert found(client, "okapi") == ["deep/m.txt"]
        assert found(client, "zebra") == []
        inside(daemon, 'umount "$1"', root)
        assert found(client, "zebra") == ["x.txt"]
        inside(daemon, COVER_FULL.replace("deep", "root"), tree / "above", 2)
        assert found(client, "okapi 2") == ["m.txt"]
        inside(daemon, 'umount "$1"', tree / "above")
        assert found(client, "zebra") == ["x.txt"]


def test_an_empty_disk_over_a_root(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    """It may be a disk that is gone: the root is missing until there is something in it."""
    tree.write("x.txt", "zebra\n")
    daemon = start_daemon(wrap=in_namespaces("true"))
    with daemon.client() as client:
        add_root(client, tree)
        inside(daemon, 'mount -t tmpfs tmpfs "$1"', tree)
        assert found(client, "zebra") == []
        assert "root_missing" in codes(client)
        inside(daemon, 'echo quagga > "$1/q.txt"', tree)
        wait_until(lambda: found(client, "quagga") == ["q.txt"], what="the return of the root")
        inside(daemon, 'umount "$1"', tree)
        assert found(client, "zebra") == ["x.txt"]


def test_a_folder_that_is_mounted_at_a_second_place(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    """The kernel has one watch for both names."""
    tree.write_all({"x/deep/a.txt": "zebra\n", "y/hidden.txt": "gnu\n"})
    daemon = start_daemon(wrap=in_namespaces("true"))
    with daemon.client() as client:
        add_root(client, tree)
        inside(daemon, 'mount --bind "$1/x" "$1/y"', tree)
        assert found(client, "zebra", path=str(tree / "y")) == ["y/deep/a.txt"]
        for name in ("x", "y"):
            inside(daemon, 'echo "okapi$2" > "$1/$2/deep/new$2.txt"', tree, name)
            for other in ("x", "y"):
                assert found(client, f"okapi{name}", path=str(tree / other)) == [f"{other}/deep/new{name}.txt"]
            inside(daemon, 'rm "$1/$2/deep/new$2.txt"', tree, name)
            listed = client.call("files/list", {"timeout_ms": 20_000})
            assert listed["fresh"] and listed["total"] == 2
        inside(daemon, 'umount "$1/y"', tree)
        assert found(client, "gnu") == ["y/hidden.txt"]
        tree.write("x/deep/late.txt", "lynx\n")
        assert found(client, "lynx", path=str(tree / "x")) == ["x/deep/late.txt"]
