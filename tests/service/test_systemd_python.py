"""The extra ``systemd``: what is reported through systemd-python itself is what the datagram protocol tells."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.support import Home

FOLDER = Path(sys.prefix) / "systemd"  # `make set-up` builds the library into it

NOTIFY = """
import sys
from livedex_service import supervisor
assert supervisor.ready("serving")
with supervisor.reloading():
    pass
assert supervisor.watchdog() and supervisor.stopping()
print("systemd.daemon" in sys.modules)
"""
# With /run/systemd of its own: the library knows only the journal's real address.
JOURNAL = """
import logging, os, socket, sys
from livedex_service import journal
os.mkdir("/run/systemd/journal")
listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listening.bind(journal.JOURNAL_SOCKET)
handler = journal.JournalHandler()
handler.emit(logging.LogRecord("livedex.test", logging.WARNING, "p", 1, "root_lost", (), None))
sys.stdout.buffer.write(listening.recv(99_999))
listening.close()
os.unlink(journal.JOURNAL_SOCKET)
handler.emit(logging.LogRecord("livedex.test", logging.WARNING, "p", 1, "gone", (), None))
print("systemd.journal" in sys.modules)
"""


@pytest.fixture
def env() -> dict[str, str]:
    if not (FOLDER / "systemd").is_dir():
        pytest.skip("systemd-python is not built: `make set-up` does it where a compiler and libsystemd-dev are")
    paths = [os.environ.get("PYTHONPATH", ""), str(FOLDER)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def test_it_sends_the_supervisor_the_same(env: dict[str, str], home: Home) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(home.path / "notify"))
        env["NOTIFY_SOCKET"] = str(home.path / "notify")
        done = subprocess.run([sys.executable, "-c", NOTIFY], env=env, capture_output=True, text=True, check=True)
        assert done.stdout == "True\n", "the library was used"
        reported = [manager.recv(999) for _ in range(5)]
    assert reported[0] == b"READY=1\nSTATUS=serving"
    assert reported[1].startswith(b"RELOADING=1\nMONOTONIC_USEC=")
    assert reported[2:] == [b"READY=1", b"WATCHDOG=1", b"STOPPING=1"]


@pytest.mark.needs("unshare")
def test_it_gives_the_journal_the_same(env: dict[str, str]) -> None:
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a journal of the test's own needs a mount namespace, and that needs root")
    script = 'mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && exec "$0" -c "$1"'
    words = ["unshare", "--mount", "sh", "-c", script, sys.executable, JOURNAL]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=True)
    assert "MESSAGE=livedex.test root_lost\n" in done.stdout
    assert "PRIORITY=4\n" in done.stdout and "LIVEDEX_EVENT=root_lost\n" in done.stdout
    assert done.stdout.endswith("True\n"), "the library was used"
    assert done.stderr == "<4>livedex.test gone\n", "without a journal the line goes to stderr"
