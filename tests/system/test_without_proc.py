"""A sandbox in which /proc is not mounted, as some make it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable

from helpers.fault_injection import in_namespaces, needs_namespaces
from helpers.support import LIVEDEX, Daemon, Home, Tree, add_root, found

pytestmark = needs_namespaces
SANDBOX = in_namespaces("mount -t tmpfs tmpfs /proc")


def test_a_root_is_added_indexed_and_watched(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    tree.write("a.py", "def firstword():\n    pass\n")
    daemon = start_daemon(wrap=SANDBOX)
    with daemon.client() as client:
        add_root(client, tree)
        assert found(client, "firstword") == ["a.py"]
        tree.write("b.txt", "secondword\n")
        assert found(client, "secondword") == ["b.txt"]
        (tree / "a.py").unlink()
        assert found(client, "firstword") == []
    assert daemon.stop() == 0


def test_doctor_says_what_is_missing(home: Home) -> None:
    words = [*SANDBOX, str(LIVEDEX), "doctor"]
    done = subprocess.run(words, env={**os.environ, **home.env}, capture_output=True, text=True, check=False)
    assert "mount /proc" in done.stdout and "bug" not in done.stdout, done.stdout
