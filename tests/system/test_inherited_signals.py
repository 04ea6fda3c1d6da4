"""A daemon whose starter blocks or ignores signals, as the thread of an editor may."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.fault_injection import KILLED_BY_A_FILE, with_code
from helpers.support import Daemon, Tree, add_root, codes, found, wait_until

BLOCKED = "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())"
IGNORED = "[signal.signal(each, signal.SIG_IGN) for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)]"


@pytest.mark.parametrize("inherited", [BLOCKED, IGNORED], ids=["blocked", "ignored"])
def test_it_is_told_and_ended_as_any_other(
    tree: Tree, tmp_path: Path, start_daemon: Callable[..., Daemon], inherited: str
) -> None:
    starter = f"import os, signal, sys; {inherited}; os.execv(sys.argv[1], sys.argv[1:])"
    seam = with_code(tmp_path / "seam", KILLED_BY_A_FILE)
    daemon = start_daemon(wrap=[sys.executable, "-c", starter], **seam, DEATHS=str(tmp_path / "deaths"))
    with daemon.client() as client:
        tree.write("a.txt", "zebra\n")
        tree.write("b.txt", "killerword\n")
        add_root(client, tree)
        assert found(client, "zebra") == ["a.txt"]
        (failed,) = client.call("files/list", {"status": "failed"})["files"]
        assert f"killed by signal {int(signal.SIGSEGV)}" in failed["reason"], "how a child ended is known"
        daemon.home.config.write_text("[[roots]\n")
        os.kill(daemon.pid, signal.SIGHUP)
        wait_until(lambda: len(codes(client)) == 2, what="the warning of a broken configuration")
    daemon.stop()
