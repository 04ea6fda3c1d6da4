"""Ctrl-C while a command loads or exits ends the process by the signal, without a traceback."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from helpers.fault_injection import with_code
from helpers.support import LIVEDEX, Home

WHILE_LOADING = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if "livedex_ipc.__main__" in sys.modules and not fired:
            fired.append(name)
            os.kill(os.getpid(), signal.SIGINT)
fired = []
sys.meta_path.insert(0, Finder())
"""
WHILE_EXITING = """
import atexit, os, signal
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
"""
IGNORED = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


@pytest.mark.parametrize(("code", "printed"), [(WHILE_LOADING, b""), (WHILE_EXITING, b"livedex 0.1.0\n")])
def test_it_ends_by_the_signal(home: Home, tmp_path: Path, code: str, printed: bytes) -> None:
    env = {**home.env, **with_code(tmp_path / "seam", code)}
    done = subprocess.run([LIVEDEX, "--version"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, printed, b"")


@pytest.mark.parametrize("code", [WHILE_LOADING, WHILE_EXITING])
def test_it_goes_on_where_the_signal_is_ignored(home: Home, tmp_path: Path, code: str) -> None:
    """As a shell without job control starts what runs in the background."""
    env = {**home.env, **with_code(tmp_path / "seam", IGNORED + code)}
    done = subprocess.run([LIVEDEX, "--version"], env=env, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"livedex 0.1.0\n", b"")
