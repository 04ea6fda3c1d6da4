"""A daemon on a supervisor's socket: clients connect before it starts and while it restarts, and lose nothing."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from helpers.support import LIVEDEX, Home, Tree, end_process, wait_until
from livedex_ipc.client import connect
from livedex_ipc.errors import LivedexError, NoDaemon, Unavailable

RESTARTS = int(os.environ.get("LIVEDEX_RESTARTS", "6"))
CLIENTS = 8
# As systemd does it: the socket as descriptor 3, the pid known only after the fork.
ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="livedex")
os.execv(sys.executable, [sys.executable, "-P", "-m", "livedex_daemon", "daemon"])
"""


class Supervisor:
    """Keeps the socket of a home, and starts a daemon on it on demand."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.bind(str(home.socket))
        self.sock.listen(128)
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(str(home.path / "notify"))
        self.notify.settimeout(30)
        self.daemon: subprocess.Popen[bytes] | None = None

    def start(self) -> int:
        """Start a daemon and return its pid, without waiting for it."""
        high = fcntl.fcntl(self.sock, fcntl.F_DUPFD, 60)  # a free one, far from the daemon's own
        env = {**self.home.env, "NOTIFY_SOCKET": str(self.home.path / "notify")}
        try:
            self.daemon = subprocess.Popen(
                [sys.executable, "-c", ACTIVATE, str(high)], env=env, pass_fds=[high], stderr=subprocess.DEVNULL
            )
        finally:
            os.close(high)
        return self.daemon.pid

    def next_state(self) -> bytes:
        """Return the next datagram of the daemon that is more than a status line."""
        while (state := self.notify.recv(4096)).startswith(b"STATUS="):
            pass
        return state

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        assert self.daemon is not None
        self.daemon.send_signal(number)
        return self.daemon.wait(30)

    def close(self) -> None:
        if self.daemon is not None and self.daemon.poll() is None:
            self.end()
        self.sock.close()
        self.notify.close()


@pytest.fixture
def supervisor(home: Home) -> Iterator[Supervisor]:
    made = Supervisor(home)
    yield made
    made.close()


def grown(counts: list[int], before: int) -> bool:
    return sum(counts) > before


def search(home: Home, query: str) -> list[str]:
    with connect(spawn=False, path=str(home.socket)) as client:
        return [hit["relative_path"] for hit in client.call("search", {"query": query}, timeout_s=60)["hits"]]


def test_what_a_supervisor_receives_from_the_start_to_the_end(supervisor: Supervisor) -> None:
    pid = supervisor.start()
    first = supervisor.next_state()
    assert first.startswith(b"READY=1\nSTATUS=serving")
    with connect(spawn=False, path=str(supervisor.home.socket)) as client:
        assert client.call("server/info")["pid"] == pid, "ready means that it answers"
    os.kill(pid, signal.SIGHUP)
    assert supervisor.next_state().startswith(b"RELOADING=1\nMONOTONIC_USEC=")
    assert supervisor.next_state() == b"READY=1"
    supervisor.home.config.write_text("[lgo]\n")
    assert supervisor.next_state().startswith(b"RELOADING=1\n"), "an edit is a reload too"
    assert supervisor.next_state() == b"READY=1", "also when the configuration is refused"
    assert supervisor.end() == 0
    heard = [supervisor.next_state()]
    while heard[-1] != b"STOPPING=1":
        heard.append(supervisor.next_state())
    assert supervisor.home.socket.exists(), "the socket is the supervisor's"


def test_the_status_line_follows_the_work(supervisor: Supervisor, tree: Tree) -> None:
    tree.write_all({f"{number}.txt": "word " * 50_000 for number in range(40)})
    supervisor.home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    supervisor.start()
    heard: list[bytes] = []
    while not any(line.endswith(b"STATUS=serving") for line in heard):
        heard.append(supervisor.notify.recv(4096))
    assert heard[0].startswith(b"READY=1\nSTATUS=serving")


def test_a_client_before_the_daemon_is_answered_by_it(
    supervisor: Supervisor, tree: Tree, start_thread: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    tree.write("a.txt", "zither\n")
    supervisor.home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    waiting = start_thread(lambda: search(supervisor.home, "zither"))
    supervisor.start()
    waiting.join(60)
    assert not waiting.is_alive(), "it was answered, as far as the first index had come"
    wait_until(lambda: search(supervisor.home, "zither") == ["a.txt"], what="the hit")


def test_restarts_under_clients_lose_no_request_in_silence(supervisor: Supervisor, tree: Tree) -> None:
    tree.write("a.txt", "zither\n")
    supervisor.home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    supervisor.start()
    wait_until(lambda: search(supervisor.home, "zither"), what="the first answer")
    over = threading.Event()
    answered, reported, wrong = [0] * CLIENTS, [0] * CLIENTS, list[object]()

    def ask(number: int) -> None:
        while not over.is_set():
            try:
                hits = search(supervisor.home, "zither")
            except (Unavailable, NoDaemon):
                reported[number] += 1
            except (LivedexError, OSError) as error:
                wrong.append(error)
            else:
                answered[number] += bool(hits)

    clients = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    try:
        for restart in range(RESTARTS):
            before = sum(answered)
            supervisor.end(signal.SIGTERM if restart % 2 else signal.SIGKILL)
            supervisor.start()
            wait_until(partial(grown, answered, before), 60, what="an answer of the next daemon")
    finally:
        over.set()
        for client in clients:
            client.join(90)
    print(f"{RESTARTS} restarts, {sum(answered)} requests answered, {sum(reported)} reported as lost")
    assert not wrong and not any(client.is_alive() for client in clients)
    assert all(answered)


@pytest.mark.needs("systemd-socket-activate")
def test_under_systemds_own_activation(home: Home, tree: Tree, tmp_path: Path) -> None:
    tree.write("a.txt", "zither\n")
    home.config.write_text(f'[[roots]]\npath = "{tree}"\n')
    names = [f"--setenv={name}" for name in ("LIVEDEX_HOME", "HOME", "PATH")]
    command = ["systemd-socket-activate", "-l", str(home.socket), "--fdname=livedex", *names, str(LIVEDEX), "daemon"]
    with (tmp_path / "stderr").open("wb") as stderr:
        activating = subprocess.Popen(command, env=home.env, stderr=stderr)
    try:
        wait_until(home.socket.exists, what="the socket")
        wait_until(lambda: search(home, "zither") == ["a.txt"], 60, what="an answer with the hit")
        assert home.server_pid() is not None
        home.run_json("status")
    finally:
        with suppress(ProcessLookupError):
            end_process(activating.pid)
        activating.wait()


def test_a_command_on_a_kept_socket_starts_no_daemon_of_its_own(
    supervisor: Supervisor, start_thread: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    started = start_thread(lambda: supervisor.home.run("--json", "status"))
    pid = supervisor.start()
    started.join(60)
    with connect(spawn=False, path=str(supervisor.home.socket)) as client:
        assert client.call("server/info")["pid"] == pid


@pytest.fixture
def start_thread() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    threads: list[threading.Thread] = []

    def start(action: Callable[[], object]) -> threading.Thread:
        threads.append(threading.Thread(target=action))
        threads[-1].start()
        return threads[-1]

    yield start
    for thread in threads:
        thread.join(60)
