"""A disk on which every commit is slow: no client learns of a change before it is stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from helpers.fault_injection import with_code
from helpers.support import Daemon, Tree, add_root, found

# Longer than a search takes, so that a search that did not wait would end before the commit.
SLOW = """
import sys, time

if "livedex_daemon" in sys.orig_argv:
    from livedex_daemon.write.commit import Committer

    apply = Committer.apply

    def slowly(*what):
        time.sleep(0.1)
        return apply(*what)

    Committer.apply = slowly
"""


def test_a_search_waits_for_the_commit(start_daemon: Callable[..., Daemon], tree: Tree, tmp_path: Path) -> None:
    tree.write("a.txt", "firstword\n")
    daemon = start_daemon(**with_code(tmp_path / "seam", SLOW))
    with daemon.client() as client:
        add_root(client, tree)
        for number in range(5):
            tree.write("a.txt", f"word{number}x\n")
            assert found(client, f"word{number}x") == ["a.txt"]
            assert found(client, f"word{number - 1}x") == []
        tree.rename("a.txt", "b.txt")
        assert found(client, "word4x") == ["b.txt"]
        tree.remove("b.txt")
        assert found(client, "word4x") == []
