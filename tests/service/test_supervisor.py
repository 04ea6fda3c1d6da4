"""Messages to systemd and the descriptors from it, with real datagram sockets and real descriptors."""

from __future__ import annotations

import fcntl
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from helpers.support import Home
from livedex_service import supervisor

VARIABLES = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "systemd", None)  # the datagram protocol, on any system


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """The supervisor's end of the socket."""
    if request.param == "abstract" and sys.platform != "linux":
        pytest.skip("abstract sockets are Linux's")
    address = f"@{home.path}" if request.param == "abstract" else str(home.path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.settimeout(10)
        sock.bind(address.replace("@", "\0", 1))
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        yield sock


def test_states_are_sent_in_one_datagram_each(manager: socket.socket) -> None:
    assert supervisor.ready("1 of\n2") and manager.recv(999) == b"READY=1\nSTATUS=1 of 2"
    assert supervisor.ready() and manager.recv(999) == b"READY=1"
    assert supervisor.stopping("bye") and manager.recv(999) == b"STOPPING=1\nSTATUS=bye"
    assert supervisor.watchdog() and manager.recv(999) == b"WATCHDOG=1"
    assert supervisor.status("2 of 3") and manager.recv(999) == b"STATUS=2 of 3"


def test_a_reload_begins_with_its_time_and_ends_ready(manager: socket.socket) -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    with supervisor.reloading():
        first, second = manager.recv(999).split(b"\n")
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        assert first == b"RELOADING=1" and second.startswith(b"MONOTONIC_USEC=")
        assert before <= int(second[15:]) <= after
        assert not select.select([manager], [], [], 0)[0], "not ready before the end"
    assert manager.recv(999) == b"READY=1"


def test_a_reload_that_fails_ends_ready_too(manager: socket.socket) -> None:
    with pytest.raises(KeyError), supervisor.reloading():
        raise KeyError
    assert manager.recv(999).startswith(b"RELOADING=1\n")
    assert manager.recv(999) == b"READY=1"


def test_a_reload_keeps_the_line_that_was_not_taken_before(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(home.path / "late")
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    assert not supervisor.ready("serving")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as late:
        late.bind(address)
        with supervisor.reloading():
            assert late.recv(999).startswith(b"RELOADING=1\n")
        assert late.recv(999) == b"READY=1\nSTATUS=serving"


def test_without_a_supervisor_nothing_is_sent() -> None:
    assert not supervisor.ready("x")


def test_a_supervisor_that_is_gone_is_no_error(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in (home.path / "missing", home.path, "/" + "x" * 200):
        monkeypatch.setenv("NOTIFY_SOCKET", str(address))
        assert not supervisor.ready()


def test_a_supervisor_that_does_not_read_does_not_hold_us(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    address = str(home.path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as deaf:
        deaf.bind(address)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        while supervisor.ready():
            pass
        held = threading.Event()
        blocking, daemon = ModuleType("systemd"), ModuleType("systemd.daemon")
        daemon.notify = lambda _state: held.wait(20)  # type: ignore[attr-defined]
        blocking.daemon = daemon  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "systemd", blocking)
        monkeypatch.setitem(sys.modules, "systemd.daemon", daemon)
        assert not supervisor.ready(), "systemd-python, which would wait, is not asked"


def test_systemd_python_is_used_where_it_is_installed(manager: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[str] = []
    package, daemon = ModuleType("systemd"), ModuleType("systemd.daemon")
    daemon.notify = lambda state: reported.append(state) or True  # type: ignore[attr-defined, func-returns-value]
    package.daemon = daemon  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "systemd", package)
    monkeypatch.setitem(sys.modules, "systemd.daemon", daemon)
    assert supervisor.ready()
    assert reported == ["READY=1"]


@pytest.mark.parametrize(
    ("usec", "pid", "seconds"),
    [
        ("3000000", None, 1.5),
        ("3000000", "ours", 1.5),
        ("3000000", 1, None),
        (None, None, None),
        ("", None, None),
        ("0", None, None),
        ("abc", None, None),
        ("9" * 5000, None, None),
    ],
)
def test_the_watchdogs_interval(
    monkeypatch: pytest.MonkeyPatch, usec: str | None, pid: int | str | None, seconds: float | None
) -> None:
    named = os.getpid() if pid == "ours" else pid
    for name, value in (("WATCHDOG_USEC", usec), ("WATCHDOG_PID", named)):
        if value is not None:
            monkeypatch.setenv(name, str(value))
    assert supervisor.watchdog_interval_s() == seconds


# As a supervisor starts a daemon: descriptors from 3 on, the pid known only after the fork.
INHERIT = """
import os, socket, sys
from livedex_service.supervisor import inherited_socket
for target, source in enumerate(map(int, sys.argv[2:]), 3):
    os.dup2(source, target)
os.environ["LISTEN_PID"] = sys.argv[1] if sys.argv[1] else str(os.getpid())
found = None
try:
    found = inherited_socket("livedex")
except ValueError as error:
    print("ValueError", error)
else:
    print(found and (found.fileno(), found.family.name, found.get_inheritable()))
print([name for name in os.environ if name.startswith("LISTEN_")], inherited_socket("livedex"))
if isinstance(found, socket.socket):
    print([number for number in (3, 4) if os.path.exists(f"/dev/fd/{number}")])
"""


def inherit(count: str, descriptors: list[int], pid: str = "", names: str = "x") -> list[str]:
    # High numbers first, so that placing one from 3 on does not overwrite another.
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 50) for descriptor in descriptors]
    try:
        done = subprocess.run(
            [sys.executable, "-c", INHERIT, pid, *map(str, high)],
            env={**os.environ, "LISTEN_FDS": count, "LISTEN_FDNAMES": names},
            pass_fds=high,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        for descriptor in high:
            os.close(descriptor)
    return done.stdout.splitlines()


@pytest.fixture
def listening(home: Home) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(home.socket))
        sock.listen()
        yield sock


def test_a_socket_is_taken_over_once(listening: socket.socket) -> None:
    assert inherit("1", [listening.fileno()])[:2] == ["(3, 'AF_UNIX', False)", "[] None"]
    assert inherit("0", [])[0] == "None"


def test_of_several_the_named_one_is_taken_and_the_others_are_closed(listening: socket.socket) -> None:
    two = [listening.fileno()] * 2
    assert inherit("2", two, names="other:livedex") == ["(4, 'AF_UNIX', False)", "[] None", "[4]"]
    assert inherit("2", two, names="livedex:other") == ["(3, 'AF_UNIX', False)", "[] None", "[3]"]
    assert inherit("2", two, names="")[0] == "(3, 'AF_UNIX', False)"
    assert inherit("1", two[:1], names="other:livedex")[0] == "(3, 'AF_UNIX', False)"


def test_sockets_for_another_process_are_left_alone(listening: socket.socket) -> None:
    assert inherit("1", [listening.fileno()], pid="1")[0] == "None"


def test_what_was_promised_and_is_not_right_is_an_error(listening: socket.socket, tmp_path: Path) -> None:
    assert inherit("abc", [])[0].startswith("ValueError LISTEN_FDS is 'abc'")
    assert inherit("-1", [])[0].startswith("ValueError")
    assert "was not passed on" in inherit("999999999", [listening.fileno()])[0]
    with (tmp_path / "f").open("w") as file:
        assert "descriptor 3 is not a socket" in inherit("1", [file.fileno()])[0]
    with socket.socket(socket.AF_UNIX) as idle, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        for sock in (idle, datagrams):
            assert "not a listening Unix stream socket" in inherit("1", [sock.fileno()])[0]
