"""Changes without events: a stale hit is never served, and the reconcile finds the changes by itself."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import in_namespaces, inside, needs_namespaces
from helpers.support import Daemon, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

if sys.platform != "linux":
    pytest.skip("what raises no event differs from system to system", allow_module_level=True)

SOON = '[watch]\nreconcile_every = "1s"\n'  # the shortest interval of the configuration


@pytest.fixture
def outside(tmp_path: Path) -> Tree:
    """A folder outside all roots, on the same disk."""
    return Tree(tmp_path / "outside")


@pytest.fixture
def soon(start_daemon: Callable[..., Daemon], tree: Tree) -> Iterator[Client]:
    """A client of a daemon that compares often."""
    tree.write("first.txt", "the first file\n")
    with start_daemon(SOON).client() as connected:
        add_root(connected, tree)
        yield connected


def is_never_shown_as_it_was(client: Client, path: str, old: str, new: str) -> None:
    """By a search, by a retrieve, and found by its new words once one of them has read the file."""
    assert path not in found(client, old)
    assert found(client, new) == [path]


def test_a_hard_link_outside(soon: Client, tree: Tree, outside: Tree) -> None:
    path = tree.write("linked.txt", "hardold word\n")
    os.link(path, outside / "other.txt")
    assert found(soon, "hardold") == ["linked.txt"]
    outside.write("other.txt", "hardnew word\n")
    is_never_shown_as_it_was(soon, "linked.txt", "hardold", "hardnew")
    outside.write("other.txt", "hardnewer and longer\n")
    chunks = soon.call("files/retrieve", {"path": str(path)})["chunks"]
    assert "hardnewer" in chunks[0]["text"]
    outside.write("other.txt", "hardest\n")  # and no client searches for its former words
    wait_until(lambda: found(soon, "hardest") == ["linked.txt"], 60, what="the reconcile")


def test_a_store_through_a_mapping(soon: Client, tree: Tree) -> None:
    path = tree.write("mapped.txt", "mapold words\n" + "x" * 4096)
    assert found(soon, "mapold") == ["mapped.txt"]
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        before = path.stat()
        mapping[:6] = b"mapnew"
        is_never_shown_as_it_was(soon, "mapped.txt", "mapold", "mapnew")
        mapping.flush()
        mapping[:6] = b"mapend"
        mapping.flush()
    assert path.stat().st_size == before.st_size
    wait_until(lambda: found(soon, "mapend") == ["mapped.txt"], 60, what="the reconcile")
    assert found(soon, "mapnew") == []


@needs_namespaces
def test_a_bind_mount_and_an_overlay(start_daemon: Callable[..., Daemon], tree: Tree, outside: Tree) -> None:
    """The root is written by another path: through the bind mount's source, and in an overlay's lower layer."""
    for name in ("source", "lower", "upper", "work"):
        outside.mkdir(name)
    tree.mkdir("bound")
    tree.mkdir("laid")
    outside.write("source/b.txt", "bindold word\n")
    outside.write("lower/l.txt", "lowold word\n")
    script = (
        'mount --bind "$1/source" "$2/bound"; '
        'mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work,userxattr" "$2/laid"'
    )
    if subprocess.run([*in_namespaces(script, str(outside), str(tree)), "true"], check=False).returncode:
        pytest.skip("no overlay may be mounted here")
    daemon = start_daemon(SOON, wrap=in_namespaces(script, str(outside), str(tree)))
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "bindold") == ["bound/b.txt"]
        assert found(client, "lowold") == ["laid/l.txt"]
        outside.write("source/b.txt", "bindnew word\n")
        assert found(client, "bindnew") == ["bound/b.txt"], "the kernel watches the folder, not the way to it"
        outside.write("source/more/c.txt", "bindmore word\n")
        assert found(client, "bindmore") == ["bound/more/c.txt"]
        outside.write("lower/l.txt", "lownew and longer\n")
        assert "laid/l.txt" not in found(client, "lowold"), "never shown as it was"
        wait_until(lambda: found(client, "lownew") == ["laid/l.txt"], 60, what="the reconcile")
        inside(daemon, 'echo "upper word" > "$1/laid/l.txt"; echo "other word" > "$1/laid/new.txt"', tree.path)
        assert found(client, "upper") == ["laid/l.txt"]
        assert found(client, "other") == ["laid/new.txt"]


@needs_namespaces
def test_a_root_that_is_mounted_read_only(start_daemon: Callable[..., Daemon], tree: Tree) -> None:
    """Nothing is written into it, and the next search sees a write by the other path."""
    tree.write("a.txt", "readonly word\n")
    script = 'mount --bind "$1" "$1"; mount -o remount,bind,ro "$1"'
    with start_daemon(wrap=in_namespaces(script, str(tree))).client() as client:
        add_root(client, tree)
        for number in range(20):
            tree.write("a.txt", f"writable word{number}x\n")
            assert found(client, f"word{number}x") == ["a.txt"]


def test_the_same_size_and_times_while_the_daemon_is_down(
    start_daemon: Callable[..., Daemon], tree: Tree, outside: Tree
) -> None:
    """In place, and by another file in its place; the second keeps the times but not the inode."""
    tree.write("place.txt", "oldplace word\n")
    tree.write("other.txt", "oldother word\n")
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "oldplace") == ["place.txt"]
    daemon.stop()
    for name in ("place.txt", "other.txt"):
        before = (tree / name).stat()
        text = (tree / name).read_text().replace("old", "new")
        (tree.write if name == "place.txt" else tree.save)(name, text)
        os.utime(tree / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    daemon.start()
    with daemon.client() as client:
        for name in ("place", "other"):
            is_never_shown_as_it_was(client, f"{name}.txt", f"old{name}", f"new{name}")


def test_an_inode_that_is_used_again(soon: Client, tree: Tree) -> None:
    """A file that is made right after another was deleted often has the same inode: its bytes decide."""
    same = 0
    for number in range(30):
        path = tree.write("reused.txt", f"reused a{number}a\n")
        inode = path.stat().st_ino
        assert found(soon, f"a{number}a") == ["reused.txt"]
        path.unlink()
        same += tree.write("reused.txt", f"reused b{number}b\n").stat().st_ino == inode
        is_never_shown_as_it_was(soon, "reused.txt", f"a{number}a", f"b{number}b")
    print(f"{same} of 30 had the inode of the one before")


STRANGE = {"1901": -2_177_452_800, "1970": 0, "2099": 4_070_908_800, "9999": 253_370_764_800}


def test_strange_times_of_files(soon: Client, tree: Tree) -> None:
    """Times are compared for equality, never for order; and no time of a filesystem stops the indexing."""
    for year, seconds in STRANGE.items():
        name = f"of {year}.txt"
        path = tree.write(name, f"before{year}x\n")
        os.utime(path, (seconds, seconds))
        assert found(soon, f"before{year}x") == [name]
        path.write_text(f"afters{year}x\n")
        os.utime(path, (seconds, seconds))
        is_never_shown_as_it_was(soon, name, f"before{year}x", f"afters{year}x")
        (hit,) = soon.call("search", {"query": f"afters{year}x"})["hits"]
        assert hit["modified_at"]
    assert soon.call("index/audit", {})["differences"] == []

    def files_read() -> int:
        assert soon.call("index/run", {})["failed"] == []
        return int(soon.call("status")["work"]["files_read"])

    wait_until(lambda: files_read() == files_read(), what="files that have settled, and are not read again")
