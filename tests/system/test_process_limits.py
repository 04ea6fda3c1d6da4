"""Limits of the shell that happens to start the daemon, meant for one command."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable

import pytest

from helpers.support import Daemon, Home, Tree, add_root, codes, found

pytestmark = [
    pytest.mark.needs("prlimit"),
    pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's"),
]


@pytest.mark.parametrize(("limit", "which"), [("cpu=1", resource.RLIMIT_CPU), ("fsize=8192", resource.RLIMIT_FSIZE)])
def test_a_soft_limit_does_not_end_the_daemon(
    tree: Tree, start_daemon: Callable[..., Daemon], limit: str, which: int
) -> None:
    for number in range(50):
        tree.write(f"f{number}.txt", f"zebra {number}\n" + "words " * 500)
    daemon = start_daemon(wrap=["prlimit", f"--{limit}:unlimited"])
    with daemon.client() as client:
        add_root(client, tree)
        assert len(found(client, "zebra")) == 50
        assert codes(client) == set()
    assert resource.prlimit(daemon.pid, which) == (resource.RLIM_INFINITY,) * 2


def test_a_hard_limit_is_named(home: Home) -> None:
    command = ["prlimit", "--cpu=900:900", "--fsize=900000000:900000000", sys.executable, "-m", "livedex_daemon"]
    done = subprocess.run([*command, "doctor"], env=home.env, capture_output=True, text=True, check=False)
    assert "ends a process after 900 s of processor time" in done.stdout and "ulimit -Ht" in done.stdout
    assert "grow beyond 900 MB" in done.stdout and "ulimit -Hf" in done.stdout
