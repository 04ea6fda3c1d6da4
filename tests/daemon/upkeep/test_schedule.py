"""The daemon's start, which waits for nothing that only times jobs."""

from __future__ import annotations

import subprocess
import sys


def test_the_daemon_starts_without_what_times_its_jobs() -> None:
    program = "import sys, livedex_daemon.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "livedex_daemon.upkeep.schedule" in loaded
    assert not {"apscheduler", "importlib.metadata", "multiprocessing"} & set(loaded)
