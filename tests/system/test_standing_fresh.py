"""Standing queries whose first answer is not fresh: the client is told when it is, after all that was missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from helpers.fault_injection import with_code
from helpers.subscription_client import Following
from helpers.support import Daemon, Tree, add_root

if TYPE_CHECKING:
    from livedex_ipc.client import Client

NAMES = {f"f{number}.txt" for number in range(12)}
A_FILE_A_MESSAGE = """
import sys
if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.subscriptions import answer_diff
    answer_diff.MESSAGE_CHARS = 1
"""


def write_all(tree: Tree) -> None:
    tree.write_all({name: f"zither {name}\n" for name in NAMES})


def test_an_answer_without_time_is_completed(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path) -> None:
    tree.write("old.txt", "an old zither\n")
    daemon = start_daemon(**with_code(tmp_path / "seam", A_FILE_A_MESSAGE))
    with daemon.client() as client:
        add_root(client, tree)
        with daemon.paused():
            write_all(tree)
            tree.remove("old.txt")
        zither = Following(client, "zither", timeout_ms=0)
        assert (zither.answer["fresh"], zither.fresh) == (False, False)
        zither.until_fresh()
        assert zither.names == NAMES, "each write before the query was told before that"
        tree.write("new.txt", "a new zither\n")
        zither.until({*NAMES, "new.txt"})
        assert [change["fresh"] for change in zither.changes if "fresh" in change] == [True], "once"


def test_nothing_was_missing(client: Client, daemon: Daemon, tree: Tree) -> None:
    add_root(client, tree)
    with daemon.client() as own:
        zither = Following(own, "zither", timeout_ms=0)
        assert not zither.fresh
        change = zither.next()
        assert (change["added"], change["removed"], change["fresh"]) == ([], [], True)


def test_the_first_index_of_a_root_is_told(client: Client, daemon: Daemon, tree: Tree) -> None:
    write_all(tree)
    client.call("roots/add", {"path": str(tree)})
    with daemon.client() as own:
        zither = Following(own, "zither", timeout_ms=0)
        zither.until_fresh()
        assert zither.names == NAMES


@pytest.mark.breaks_daemon
def test_what_is_saved_while_no_daemon_runs(tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    daemon = start_daemon()
    with daemon.client() as client:
        add_root(client, tree)
    daemon.kill()
    write_all(tree)
    daemon.start()
    with daemon.client() as client:
        zither = Following(client, "zither", timeout_ms=0)
        assert not zither.fresh
        zither.until_fresh()
        assert zither.names == NAMES
