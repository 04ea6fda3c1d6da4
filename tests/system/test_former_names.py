"""A file that is written on by the descriptor of a name that it no longer has."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from helpers.fault_injection import SETTLES_AT_ONCE, cutting_slowly, with_code
from helpers.support import Daemon, Tree, add_root, found, wait_until


@pytest.mark.parametrize("within", ["the root", "its folder", "the file"])
@pytest.mark.parametrize("change", ["removed", "replaced", "replaced by a folder"])
def test_what_is_written_is_found_by_the_name_that_is_left(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], change: str, within: str
) -> None:
    """The kernel reports each write under the name by which the file was opened, for good."""
    scope = {"the root": ".", "its folder": "two", "the file": "two/kept.log"}[within]
    limit = {"path": str(tree / scope), "timeout_ms": 20_000}
    tree.mkdir("two")
    log = tree.write("app.log", "first\n")
    with start_daemon(**with_code(tmp_path / "seam", SETTLES_AT_ONCE)).client() as client, log.open("a") as file:
        add_root(client, tree)
        os.link(log, tree / "two/kept.log")
        assert found(client, "first", path=str(tree / "two")) == ["two/kept.log"]
        if change == "replaced":
            tree.save("app.log", "another\n")
        else:
            log.unlink()
        if change == "replaced by a folder":
            tree.write("app.log/another.txt", "another\n")
        assert found(client, "first") == ["two/kept.log"]
        assert len(found(client, "another")) == (change != "removed")
        for word in ("second", "third", "fourth"):
            file.write(f"{word}\n")
            file.flush()
            assert found(client, word, **limit) == ["two/kept.log"]


def test_what_is_written_is_found_though_the_folder_of_the_name_is_deleted_too(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon]
) -> None:
    """Also while another folder, and another file in it, have these names."""
    tree.mkdir("two")
    log = tree.write("one/logs/app.log", "first\n")
    with start_daemon(**with_code(tmp_path / "seam", SETTLES_AT_ONCE)).client() as client, log.open("a") as file:
        add_root(client, tree)
        os.link(log, tree / "two/kept.log")
        assert found(client, "first", path=str(tree / "two")) == ["two/kept.log"]
        tree.remove("one")
        assert found(client, "first") == ["two/kept.log"]
        print("second", file=file, flush=True)
        assert found(client, "second") == ["two/kept.log"]
        tree.write("one/logs/app.log", "another\n")
        assert found(client, "another") == ["one/logs/app.log"]
        for word in ("third", "fourth"):
            print(word, file=file, flush=True)
            assert found(client, word, path=str(tree / "two")) == ["two/kept.log"]
        tree.write("one/logs/app.log", "another one\n")
        assert found(client, "one", mode="keyword") == ["one/logs/app.log"]


# For `with_code`: that ``app.log`` is gone is looked at only once a search waits for it.
STILL_THERE = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.watch.backlog import Backlog
    Backlog.is_quiet = lambda backlog, entry: entry.key[1] != b"app.log"
"""


@pytest.mark.parametrize("code", ["", STILL_THERE], ids=["seen to go", "not looked at yet"])
def test_a_file_that_is_being_read_for_the_first_time_is_read_again(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], code: str
) -> None:
    """No row says yet that it is the file that had the other name."""
    slow, environment = cutting_slowly(tmp_path, code)
    tree.mkdir("two")
    log = tree.write("app.log", "first\n")
    daemon = start_daemon(**environment)
    with daemon.client() as client, daemon.client() as asking, log.open("a") as file, ThreadPoolExecutor(1) as threads:
        add_root(client, tree)
        with daemon.paused():
            os.link(log, tree / "two/slow.log")
            log.unlink()
            print("second", file=file, flush=True)  # else the content is known, and is not cut
        wait_until((slow / "begun-slow.log").exists, what="the slow file")
        with daemon.paused():
            print("third", file=file, flush=True)
            search = threads.submit(found, asking, "third", path=str(tree / "two"), mode="keyword")
        began = time.monotonic()
        wait_until(lambda: time.monotonic() > began + 0.5, what="the time in which the search looks for other names")
        (slow / "slow.log").touch()
        assert search.result() == ["two/slow.log"]
        file.close()
        assert found(client, "third", mode="keyword") == ["two/slow.log"]
