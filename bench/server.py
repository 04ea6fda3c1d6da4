"""A daemon to measure, in a temporary home, and what its processes cost.

Invariant: the daemon and its home are gone at the end of the ``with`` block, whatever happened in it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from livedex_ipc.client import Client, connect
from livedex_ipc.errors import LivedexError

POLL_S = 0.002
LIMIT_S = 1800.0  # for the index of a corpus
START_S = 30.0


class Server:
    """One home, and the daemon in it between ``start`` and ``stop``."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.env = {**os.environ, "LIVEDEX_HOME": str(home)}
        self.socket = str(home / "livedex.sock")
        self.database = home / "data" / "index.db"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Client:
        """Starts the daemon; returns as soon as its socket answers."""
        with (self.home / "stderr").open("ab") as stderr:
            command = [sys.executable, "-m", "livedex_daemon", "daemon"]
            self.process = subprocess.Popen(command, env=self.env, stdin=subprocess.DEVNULL, stderr=stderr)
        deadline = time.monotonic() + START_S
        while True:
            try:
                client = connect(spawn=False, path=self.socket)
                client.call("server/ping")
                return client
            except LivedexError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self.home / "stderr").read_text()) from None
                time.sleep(POLL_S)

    def stop(self) -> float:
        """Stops the daemon; the CPU seconds of it and of all processes it started, its start and end among them."""
        assert self.process is not None
        self.process.terminate()
        _pid, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return usage.ru_utime + usage.ru_stime

    def pids(self) -> list[int]:
        """The daemon and all processes below it, on Linux."""
        assert self.process is not None
        found = [self.process.pid]
        for pid in found:
            for task in Path(f"/proc/{pid}/task").iterdir():
                found.extend(int(child) for child in (task / "children").read_text().split())
        return found

    def pss_mib(self) -> float:
        """Memory of the daemon and its children, shared pages divided among those who share them."""
        total = 0
        for pid in self.pids():
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        return total / 1024

    def cpu_s(self) -> float:
        """CPU seconds of the daemon and of the children that run now, to the nanosecond. Linux only."""
        # The clock of another process (clock_getcpuclockid(3)): /proc counts in hundredths, too coarse for an idle one.
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self.pids())


@contextmanager
def server() -> Iterator[Server]:
    """A fresh home at a short path, in a folder of its own: the daemon also watches what the home lies in."""
    folder = Path(tempfile.mkdtemp(prefix="ldx-", dir=os.path.realpath("/tmp")))
    home = folder / "home"
    home.mkdir(mode=0o700)
    made = Server(home)
    try:
        yield made
    finally:
        if made.process is not None and made.process.poll() is None:
            made.process.kill()
            made.process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def wait_indexed(client: Client) -> dict[str, Any]:
    """The first status with a complete index, not asked for before: to count what is indexed costs milliseconds."""
    client.call("sync", {"timeout_ms": round(LIMIT_S * 1000)})
    return wait_ready(client)


def wait_ready(client: Client) -> dict[str, Any]:
    """The first status with a complete index; RuntimeError after half an hour."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        status: dict[str, Any] = client.call("status")
        if status["state"] in {"ready", "degraded"} and status["pending"] == 0:
            return status
        time.sleep(POLL_S)
    raise RuntimeError(f"no complete index in {LIMIT_S} s: {status}")
