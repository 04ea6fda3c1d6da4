"""The guard of plugins, with a worker that is killed while it starts one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.support import is_alive, wait_until

WORKER = """
import os, signal, subprocess, sys
from livedex_daemon.worker_host.group_guard import GroupGuard
from livedex_daemon.worker_host.orphans import MARK, mark_of

def start():
    command = ["sh", "-c", sys.argv[1], "sh", sys.argv[2], f"{MARK}={mark_of(7)}"]
    process = subprocess.Popen(command, start_new_session=True, env={**os.environ, MARK: sys.argv[3] or mark_of(7)})
    while not os.path.exists(sys.argv[2]):
        continue
    os.kill(os.getpid(), signal.SIGKILL)

GroupGuard().start(mark_of(7), start)
"""
RUNS = 'echo $$ >"$1.new"; mv "$1.new" "$1"; sleep 60 & wait'
COMES_LATE = 'echo $$ >"$1.new"; mv "$1.new" "$1"; sleep 0.3; exec env "$2" sleep 60'


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
@pytest.mark.parametrize(("plugin", "mark"), [(RUNS, ""), (COMES_LATE, "of another run")])
def test_a_plugin_ends_whose_worker_is_killed_while_it_starts(tmp_path: Path, plugin: str, mark: str) -> None:
    pid = tmp_path / "pid"
    assert subprocess.run([sys.executable, "-c", WORKER, plugin, str(pid), mark], check=False).returncode == -9
    leader = int(pid.read_text())
    wait_until(lambda: not is_alive(leader), what="the end of the plugin")
