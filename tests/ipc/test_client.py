"""The blocking client against a real server: answers, errors, progress, time limits, and a daemon that goes away."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helpers.support import wait_until
from helpers.threaded_server import Serving, serving
from livedex_ipc import client as client_module
from livedex_ipc.client import Client, connect
from livedex_ipc.errors import InvalidParams, MethodNotFound, NoDaemon, NotFound, TimedOut, Unavailable
from livedex_ipc.limits import Limits
from livedex_ipc.paths import SOCKET_PATH_LIMIT


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as made:
        yield made


@pytest.fixture
def client(server: Serving) -> Iterator[Client]:
    with connect(spawn=False, path=str(server.path)) as connected:
        yield connected


def test_a_call_gives_the_result(client: Client) -> None:
    assert client.call("server/ping") == {}
    assert client.call("test/echo", {"text": "ä\n\u2028"}) == {"text": "ä\n\u2028"}
    assert len(client.call("test/big", {"bytes": 9_000_000})["text"]) == 9_000_000


def test_an_error_is_raised_as_its_class(client: Client) -> None:
    with pytest.raises(NotFound, match="no such thing") as caught:
        client.call("test/fail", {"how": "known"})
    assert caught.value.data == {"thing": "x"}
    with pytest.raises(MethodNotFound):
        client.call("no/such")
    with pytest.raises(InvalidParams, match="pair"):
        client.call("test/echo", {"text": "\udcff"})


def test_progress_is_sent_before_the_result(client: Client) -> None:
    reported: list[Any] = []
    answer = client.call("test/progress", on_progress=reported.append)
    assert [value["kind"] for value in reported] == ["begin", "report", "end"]
    assert answer["asked"] is not None


@pytest.mark.parametrize("kind", [KeyError, BrokenPipeError, TimeoutError])
def test_what_a_report_raises_is_not_blamed_on_the_daemon(client: Client, kind: type[Exception]) -> None:
    def report(value: object) -> None:
        raise kind("of the caller's own")

    with pytest.raises(kind, match="of the caller's own"):
        client.call("test/progress", on_progress=report)
    assert client.call("test/echo", {"text": "on it goes"}) == {"text": "on it goes"}


def test_past_its_time_a_call_is_cancelled_and_the_connection_stays(client: Client, server: Serving) -> None:
    with pytest.raises(TimedOut, match=r"test/wait was not answered in 0\.05 s"):
        client.call("test/wait", timeout_s=0.05)
    wait_until(lambda: server.running == 0)
    assert client.call("test/echo", {"text": "x"}, timeout_s=20) == {"text": "x"}


def test_a_call_without_time_sends_nothing_and_the_connection_stays(client: Client) -> None:
    for timeout_s in (0, -1):
        with pytest.raises(TimedOut, match="server/ping was not answered in"):
            client.call("server/ping", timeout_s=timeout_s)
    assert client.call("server/ping") == {}


def test_a_closed_client_says_so(client: Client) -> None:
    client.close()
    with pytest.raises(Unavailable, match="this connection was closed: connect again"):
        client.call("server/ping")


class HalfASocket(socket.socket):
    """Its peer takes the first half of what is sent in time."""

    def sendall(self, data: Any, flags: int = 0) -> None:
        super().sendall(data[: len(data) // 2], flags)
        raise TimeoutError


def test_nothing_follows_half_a_request() -> None:
    ours, theirs = socket.socketpair()
    with Client(HalfASocket(fileno=ours.detach())) as connected, theirs:
        with pytest.raises(TimedOut):
            connected.call("test/echo", {"text": "x" * 1000}, timeout_s=60)
        with pytest.raises(Unavailable, match="closed: connect again"):
            connected.call("server/ping", timeout_s=60)
        connected.close()
        received = theirs.makefile("rb").read()
    assert received.rstrip(b"x").endswith(b'"text":"')


def refused(waiting: Client) -> None:
    with pytest.raises(Unavailable):
        waiting.call("test/wait")


def test_closing_ends_what_it_waits_for(server: Serving) -> None:
    with connect(spawn=False, path=str(server.path)) as waiting:
        thread = threading.Thread(target=refused, args=(waiting,))
        thread.start()
        wait_until(lambda: server.running == 1)
        with socket.socket(fileno=os.dup(waiting.fileno())) as same:
            same.shutdown(socket.SHUT_RDWR)
        thread.join()
    wait_until(lambda: server.running == 0)
    waiting.close()


def test_an_interrupted_call_does_not_blame_the_daemon(server: Serving) -> None:
    with connect(spawn=False, path=str(server.path)) as waiting:

        def interrupt() -> None:
            wait_until(lambda: server.running == 1)
            waiting.interrupt()

        thread = threading.Thread(target=interrupt)
        thread.start()
        for call in (lambda: waiting.call("test/wait"), lambda: waiting.call("server/ping"), waiting.notification):
            with pytest.raises(Unavailable, match="this client was interrupted: connect again"):
                call()
        thread.join()


def test_a_daemon_that_goes_is_reported(server: Serving) -> None:
    """Also for a client that was not yet accepted when it went away."""
    with connect(spawn=False, path=str(server.path)) as waiting:
        server.run(server.server.close(0))
        with pytest.raises(Unavailable, match="closed the connection"):
            waiting.call("server/ping")


def test_one_connection_too_many_says_so() -> None:
    with serving(Limits(connections=1)) as server, connect(spawn=False, path=str(server.path)) as first:
        assert first.call("server/ping") == {}
        with connect(spawn=False, path=str(server.path)) as second, pytest.raises(Unavailable, match="1 connections"):
            second.call("server/ping")


@pytest.mark.parametrize("kind", ["nothing", "file", "folder", "dead socket", "below a file"])
def test_a_missing_daemon_is_reported_with_the_remedy(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "s"
    if kind == "file":
        path.touch()
    elif kind == "folder":
        path.mkdir()
    elif kind == "dead socket":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(path))
    elif kind == "below a file":
        path.touch()
        path /= "s"
    with pytest.raises(NoDaemon, match="livedex up") as caught:
        connect(spawn=False, path=str(path))
    assert caught.value.exit_code == 3
    assert str(path) in caught.value.message


def test_the_environment_can_forbid_to_start_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDEX_NO_SPAWN", "1")
    with pytest.raises(NoDaemon):
        connect(path=str(tmp_path / "s"), command=["/nonexistent"])


def test_the_environment_names_the_socket(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIVEDEX_SOCKET", str(server.path))
    with connect(spawn=False) as connected:
        assert connected.call("server/ping") == {}


def test_a_path_that_is_too_long_names_the_limit() -> None:
    path = "/tmp/" + "x" * (SOCKET_PATH_LIMIT - 5)
    with pytest.raises(InvalidParams, match=str(SOCKET_PATH_LIMIT)):
        connect(path=path)
    with pytest.raises(NoDaemon):
        connect(spawn=False, path=path[:-1])


def test_a_stranger_at_the_other_end_is_sent_nothing(server: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "peer_uid", lambda sock: 4_000_000)
    with pytest.raises(Unavailable, match="belongs to uid 4000000"):
        connect(spawn=False, path=str(server.path))


def test_a_daemon_whose_queue_is_full_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as busy:
        busy.bind(path)
        busy.listen(0)
        held = []
        with pytest.raises(NoDaemon, match="no connection"):
            while True:
                held.append(client_module.attempt(path, wait_s=0.05))
        for taken in held:
            assert taken is not None
            taken.close()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request",
        b"[" * 30_000,
        b"null",
        b'{"jsonrpc": "2.0", "method": 5}',
        b'{"jsonrpc": "2.0", "id": 1}',
        b'{"jsonrpc": "2.0", "id": 1, "error": "no"}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 1, "result": null}',
        b'{"jsonrpc": "2.0", "id": 1, "result": {"name": "another"}}',
    ],
)
def test_another_program_at_the_socket_is_named(tmp_path: Path, answer: bytes) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        with connect(spawn=False, path=path) as client, other.accept()[0] as theirs:
            theirs.sendall(answer + b"\n")
            with pytest.raises(Unavailable, match=f"what answers on {path} is no livedex daemon"):
                client.who(5)


@pytest.mark.parametrize("ends", [2, 1000])
def test_a_daemon_that_ends_as_we_connect_is_followed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: int
) -> None:
    """A daemon that is killed accepts connections until the kernel has closed its socket."""
    path = str(tmp_path / "s")
    monkeypatch.setenv("LIVEDEX_SOCKET", path)
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"name": "livedex", "pid": 7}}
    with socket.socket(socket.AF_UNIX) as ending, ThreadPoolExecutor(1) as pool:
        ending.bind(path)
        ending.listen()
        ended = threading.Event()

        def accept() -> None:
            for _ in range(ends):
                ending.accept()[0].close()
                if ended.is_set():
                    return
            with ending.accept()[0] as last:
                last.recv(1000)
                last.sendall(json.dumps(answer).encode() + b"\n")

        accepting = pool.submit(accept)
        if ends == 2:
            client_module.connect_known(spawn=False).close()
        else:
            with pytest.raises(Unavailable, match="closed the connection before it answered server/info"):
                client_module.connect_known(spawn=False)
            ended.set()
            connect(spawn=False, path=path).close()
        accepting.result(10)


@pytest.mark.parametrize("first", [True, False])
def test_another_program_that_sends_without_end_is_named(monkeypatch: pytest.MonkeyPatch, first: bool) -> None:
    monkeypatch.setattr(client_module, "MAX_FIRST" if first else "MAX_MESSAGE", 1000)
    ours, theirs = socket.socketpair()
    with client_module.Client(ours) as connected, theirs:
        theirs.sendall(b"x" * 1001)
        with pytest.raises(Unavailable, match="is no livedex daemon"):
            if first:
                connected.who(5)
            else:
                connected.call("server/ping", timeout_s=5)


def test_notifications_are_kept_in_their_order_also_during_a_call() -> None:
    ours, theirs = socket.socketpair()
    with client_module.Client(ours) as connected, theirs:
        reported = [{"jsonrpc": "2.0", "method": "search/changed", "params": {"number": number}} for number in range(3)]
        late = {"jsonrpc": "2.0", "method": "$/progress", "params": {"token": 7, "value": {}}}
        answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
        theirs.sendall(
            b"".join(
                json.dumps(each).encode() + b"\n" for each in (reported[0], late, answer, reported[1], reported[2])
            )
        )
        assert connected.call("server/ping") == {}
        assert connected.has_buffered and connected.fileno() == ours.fileno()
        assert [connected.notification(5) for _ in range(3)] == [
            ("search/changed", {"number": number}) for number in range(3)
        ]
        assert not connected.has_buffered
        with pytest.raises(TimedOut):
            connected.notification(0.01)
        theirs.close()
        with pytest.raises(Unavailable, match="closed the connection"):
            connected.notification(5)


@pytest.mark.parametrize(("code", "remedy"), [(errno.EMFILE, "ulimit -n"), (errno.EPERM, "the sandbox")])
def test_a_process_that_can_make_no_socket_says_so(monkeypatch: pytest.MonkeyPatch, code: int, remedy: str) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket, "socket", refuse)
    with pytest.raises(Unavailable, match=remedy):
        client_module.attempt("/nowhere")
