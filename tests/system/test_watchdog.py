"""The supervisor gets pings only while the daemon is alive: its loop turns and its worker works."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.daemon_health import healthy_to_the_end
from helpers.fault_injection import TICKS_OFTEN, with_code
from helpers.support import Daemon, Tree, add_root, wait_until

EVERY_S = 0.1
SILENCE_S = 10 * EVERY_S

# SIGUSR1 blocks the daemon's main thread, and so its loop, until the file is gone; SIGUSR2 ends the worker's thread
# silently, as a fault inside it would.
SEAM = """
import os, signal, sys, time

if "livedex_daemon" in sys.orig_argv:
    def hold(*_):
        open(os.environ["HELD"], "w").close()
        while os.path.exists(os.environ["HELD"]):
            time.sleep(0.01)

    def end_worker(*_):
        from livedex_daemon.watch.backlog import Backlog
        Backlog.take = lambda *_: sys.exit()

    signal.signal(signal.SIGUSR1, hold)
    signal.signal(signal.SIGUSR2, end_worker)
"""

# In the daemon: the first calls of connect fail, all of which are to the supervisor.
CONNECT_FAILS = """
import errno, os, socket, sys

if "livedex_daemon" in sys.orig_argv:
    real, left = socket.socket.connect, [None] * 3

    def connect(self, address):
        if left:
            left.pop()
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return real(self, address)

    socket.socket.connect = connect
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        yield listening


@pytest.fixture
def held(tmp_path: Path) -> Path:
    return tmp_path / "held"


@pytest.fixture
def daemon(start_daemon: Callable[..., Daemon], tmp_path: Path, supervisor: socket.socket, held: Path) -> Daemon:
    seam = with_code(tmp_path / "seam", SEAM)
    usec = str(int(2 * EVERY_S * 1_000_000))
    return start_daemon(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC=usec, HELD=str(held), **seam)


def wait_for_pings(supervisor: socket.socket, number: int = 3) -> None:
    supervisor.settimeout(20)
    while number:
        number -= supervisor.recv(4096) == b"WATCHDOG=1"


def assert_silent(supervisor: socket.socket) -> None:
    """Read what was sent until now; then no ping comes, for ten times as long as it would take."""
    supervisor.setblocking(False)
    with suppress(BlockingIOError):
        while supervisor.recv(4096):
            pass
    ends = time.monotonic() + SILENCE_S
    with suppress(TimeoutError):
        while (left := ends - time.monotonic()) > 0:
            supervisor.settimeout(left)
            assert supervisor.recv(4096) != b"WATCHDOG=1"


@pytest.mark.parametrize("watchdog", [{}, {"WATCHDOG_USEC": str(int(2 * EVERY_S * 1_000_000))}], ids=["none", "one"])
def test_what_could_not_be_sent_is_sent_again(
    start_daemon: Callable[..., Daemon], tmp_path: Path, supervisor: socket.socket, watchdog: dict[str, str]
) -> None:
    seam = with_code(tmp_path / "seam", CONNECT_FAILS + TICKS_OFTEN)
    start_daemon(NOTIFY_SOCKET=str(tmp_path / "notify"), **watchdog, **seam)
    supervisor.settimeout(20)
    while not supervisor.recv(4096).startswith(b"READY=1\nSTATUS=serving"):
        pass


def test_a_loop_that_hangs_is_not_called_alive(daemon: Daemon, supervisor: socket.socket, held: Path) -> None:
    wait_for_pings(supervisor)
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGUSR1)
    wait_until(held.exists, what="the loop being held")
    assert_silent(supervisor)
    held.unlink()
    wait_for_pings(supervisor)


def test_a_supervisor_that_does_not_read_delays_no_client(daemon: Daemon, supervisor: socket.socket) -> None:
    wait_for_pings(supervisor)
    with daemon.client() as client:
        end = time.monotonic() + 3 * SILENCE_S  # the queue has room for some ten datagrams
        while time.monotonic() < end:
            client.call("server/ping", timeout_s=20)  # a loop that waits for the supervisor waits for ever


@pytest.mark.breaks_daemon
def test_a_worker_that_died_is_not_called_alive(daemon: Daemon, supervisor: socket.socket, tree: Tree) -> None:
    tree.write("a.txt", "firstword\n")
    with daemon.client() as client:
        add_root(client, tree)
        wait_for_pings(supervisor)
        assert daemon.process is not None
        daemon.process.send_signal(signal.SIGUSR2)

        def is_told() -> bool:
            tree.write("b.txt", "secondword\n")
            answer = client.call("search", {"query": "secondword", "timeout_ms": 50})
            assert not answer["fresh"] or answer["hits"], "never said to be fresh when it is not"
            return "worker_dead" in {warning["code"] for warning in client.call("status")["warnings"]}

        wait_until(is_told, what="the warning")
        assert client.call("status")["state"] == "degraded"
        assert_silent(supervisor)
    with pytest.raises(AssertionError, match="was not healthy"), healthy_to_the_end(daemon):
        daemon.stop()


def test_a_reload_is_reported_from_its_begin_to_its_end(daemon: Daemon, supervisor: socket.socket) -> None:
    wait_for_pings(supervisor)
    with daemon.client() as client:
        client.call("server/reload")
    reported: list[bytes] = []
    while len(reported) < 2:
        reported += [state for state in [supervisor.recv(4096)] if b"WATCHDOG" not in state]
    assert reported[0].startswith(b"RELOADING=1\nMONOTONIC_USEC=")
    assert reported[1] == b"READY=1"
