"""Folders and files that move, swap, and change their type: after each change the next search is right."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.support import Daemon, Tree, add_root, found, wait_until

if TYPE_CHECKING:
    from livedex_ipc.client import Client

pytestmark = pytest.mark.shares_daemon

SWAPS = int(os.environ.get("LIVEDEX_SWAPS", "600"))


@pytest.fixture
def indexed(client: Client, tree: Tree) -> Iterator[Client]:
    tree.write("first.txt", "the first file\n")
    add_root(client, tree)
    yield client
    assert client.call("index/audit", {})["differences"] == []


@pytest.fixture
def outside(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "outside")


def test_moved_out_and_edited_outside(indexed: Client, tree: Tree, outside: Tree) -> None:
    """Changes of a folder that is no longer below a root do not count until it is back."""
    tree.write("d/e/f.txt", "moveword one\n")
    assert found(indexed, "moveword") == ["d/e/f.txt"]
    tree.rename("d", "../outside/d")
    outside.write("d/e/f.txt", "outword one\n")
    outside.write("d/new/g.txt", "outword two\n")
    assert found(indexed, "moveword") == found(indexed, "outword") == []
    (outside / "d").rename(tree / "back")
    assert set(found(indexed, "outword")) == {"back/e/f.txt", "back/new/g.txt"}
    tree.write("back/e/f.txt", "editword\n")
    assert found(indexed, "editword") == ["back/e/f.txt"]
    tree.write("back/new/deep/er/h.txt", "deepword\n")
    assert found(indexed, "deepword") == ["back/new/deep/er/h.txt"]


def test_what_happens_in_the_dark(indexed: Client, daemon: Daemon, tree: Tree, outside: Tree) -> None:
    """Many changes while no event is read: only the final state counts."""
    for name in ("a", "b", "c"):
        tree.write(f"{name}/f.txt", f"word{name}x\n")
    for _ in range(4):
        daemon.pause()
        tree.rename("a", "t")
        tree.rename("b", "a")
        tree.rename("t", "b")  # swapped
        tree.rename("c", "b/c")
        tree.rename("a", "b/c/a")  # a chain
        outside.write("in/f.txt", "inword\n")
        (outside / "in").rename(tree / "a")  # another under an old name
        tree.write("x/y/z/leaf.txt", "leafword\n")
        tree.rename("x/y", "x2")
        tree.write("x2/z/more.txt", "moreword\n")
        daemon.resume()
        for word, place in {
            "wordax": "b/f.txt", "wordbx": "b/c/a/f.txt", "wordcx": "b/c/f.txt",
            "inword": "a/f.txt", "leafword": "x2/z/leaf.txt", "moreword": "x2/z/more.txt",
        }.items():  # fmt: skip
            assert found(indexed, word) == [place]
        daemon.pause()
        shutil.rmtree(tree / "a")
        tree.rename("b/c/a", "a")
        tree.rename("b/c", "c")
        tree.rename("b", "t")
        tree.rename("a", "b")
        tree.rename("t", "a")
        shutil.rmtree(tree / "x2")
        daemon.resume()
        for name in ("a", "b", "c"):
            assert found(indexed, f"word{name}x") == [f"{name}/f.txt"]
        assert found(indexed, "inword") == found(indexed, "leafword") == []


def test_folders_links_and_files_in_each_others_place(indexed: Client, tree: Tree) -> None:
    tree.write("foo/f.txt", "fooword\n")
    tree.write("inner.txt", "linkedword\n")
    for number in range(5):
        tree.rename("foo", "bar")
        (tree / "foo").symlink_to("bar")
        assert found(indexed, "fooword") == ["bar/f.txt"], "once, under its real name"
        assert indexed.call("files/explain", {"path": str(tree / "foo")})["reason"] == "symlink"
        (tree / "bar/up").symlink_to("..")
        (tree / "bar/dangling").symlink_to("nowhere")
        (tree / "bar/alias").symlink_to("../inner.txt")
        assert found(indexed, "fooword") == ["bar/f.txt"]
        assert found(indexed, "linkedword") == ["inner.txt"]
        for name in ("foo", "bar/up", "bar/dangling", "bar/alias"):
            tree.remove(name)
        (tree / "bar").rename(tree / "foo")
        tree.rename("inner.txt", "kept.txt")
        tree.write("inner.txt/now/folder.txt", f"folderword{number}x\n")
        assert found(indexed, f"folderword{number}x") == ["inner.txt/now/folder.txt"]
        assert found(indexed, "linkedword") == ["kept.txt"]
        tree.remove("inner.txt")
        tree.rename("kept.txt", "inner.txt")
        assert found(indexed, f"folderword{number}x") == []


def test_two_hard_links_inside(indexed: Client, tree: Tree) -> None:
    path = tree.write("one.txt", "twiceword\n")
    os.link(path, tree / "two.txt")
    assert set(found(indexed, "twiceword", group="file")) | set(copies(indexed, "twiceword")) == {"one.txt", "two.txt"}
    tree.write("two.txt", "bothword\n")  # by one of its names: the event has only that one
    assert set(copies(indexed, "bothword")) == {"one.txt", "two.txt"}
    assert found(indexed, "twiceword") == []
    assert indexed.call("status")["chunks"] == 2, "one content"
    tree.remove("one.txt")
    assert copies(indexed, "bothword") == ["two.txt"]


def copies(client: Client, query: str) -> list[str]:
    """Return all places of the hits, by their relative paths."""

    def look() -> list[str]:
        answer = client.call("search", {"query": query, "limit": 100, "timeout_ms": 20_000})
        assert answer["fresh"]
        places = [hit["relative_path"] for hit in answer["hits"]]
        return places + [Path(path).name for hit in answer["hits"] for path in hit.get("also_at", [])]

    return look()


def test_a_content_in_many_files(indexed: Client, tree: Tree) -> None:
    """It is found once, and is gone with the last of them."""
    names = [f"same/{number % 7}/f{number}.txt" for number in range(200)]
    tree.write_all(dict.fromkeys(names, "sameword and nothing else\n"))
    first = found(indexed, "sameword")
    assert len(first) == 1 and first[0] in names
    assert indexed.call("status")["chunks"] == 2
    for number, name in enumerate(names):
        tree.remove(name)
        if number % 20 == 19:
            left = found(indexed, "sameword")
            assert len(left) == (0 if number == len(names) - 1 else 1) and not set(left) & set(names[: number + 1])


def test_a_hundred_edits_during_one_run(indexed: Client, tree: Tree) -> None:
    """The last content wins, and the edits between are not all chunked."""
    before = indexed.call("status")["work"]["files_chunked"]
    for number in range(100):
        tree.write("busy.txt", f"busyword{number}x\n" + f"line {number}\n" * 2000)
    assert found(indexed, "busyword99x") == ["busy.txt"]
    assert found(indexed, "busyword98x") == []
    assert indexed.call("status")["work"]["files_chunked"] - before <= 50


def test_a_name_that_is_a_pipe_a_device_or_a_socket_in_turn(indexed: Client, tree: Tree, tmp_path: Path) -> None:
    """They replace the file between any stat and the open after it; no open may block, and all other searches go on."""
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(tmp_path)
        listener.bind("socket")
        os.chdir(here)
        strange = ["pipe", "socket"]
        with suppress(PermissionError):
            os.mknod(tmp_path / "device", stat.S_IFCHR | 0o600, os.makedev(1, 5))  # zero: without an end
            strange.append("device")
        (tmp_path / "link").symlink_to("/dev/zero")
        strange.append("link")
        ended = threading.Event()

        def swap() -> None:
            try:
                for number in range(SWAPS):
                    name = strange[number % len(strange)]
                    (tree / "turn.txt").write_text(f"turnword n{number}n\n")
                    os.link(tmp_path / name, tmp_path / f"{name}2", follow_symlinks=False)
                    os.rename(tmp_path / f"{name}2", tree / "turn.txt")
                    (tree / "turn.txt").unlink()
            finally:
                ended.set()

        swapper = threading.Thread(target=swap)
        swapper.start()
        number = 0
        while not ended.is_set():
            number += 1
            tree.write("calm.txt", f"calmword{number}x\n")
            answer = indexed.call("search", {"query": f"calmword{number}x", "timeout_ms": 20_000})
            assert [hit["relative_path"] for hit in answer["hits"]] == ["calm.txt"]
            assert answer["fresh"] or answer["reason"] == "unsettled"
            indexed.call("search", {"query": "turnword", "timeout_ms": 20_000})
        swapper.join()
        for name in strange:
            os.link(tmp_path / name, tree / "turn.txt", follow_symlinks=False)
            assert found(indexed, "turnword") == []
            (tree / "turn.txt").unlink()
    tree.write("turn.txt", "turnword at last\n")
    assert found(indexed, "turnword") == ["turn.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="sparse files differ")
def test_a_file_of_a_hundred_gigabytes(indexed: Client, tree: Tree) -> None:
    path = tree.write("huge.txt", "hugeword\n")
    assert found(indexed, "hugeword") == ["huge.txt"]
    os.truncate(path, 100 << 30)
    assert found(indexed, "hugeword") == []
    assert indexed.call("files/explain", {"path": str(path)})["reason"] == "too_large"
    os.truncate(path, 9)
    assert found(indexed, "hugeword") == ["huge.txt"]
    wait_until(lambda: indexed.call("status")["pending"] == 0, what="nothing pending")
