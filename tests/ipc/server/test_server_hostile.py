"""What no client can do to the daemon or to another client: every limit, and every kind of malformed input."""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from helpers.support import wait_until
from helpers.threaded_server import Raw, Serving, code_of, request, serving
from livedex_ipc.limits import Limits
from livedex_ipc.server import connection

QUICK = Limits(frame_s=0.3, write_s=0.5, stalled_s=0.1, linger_s=0.3, output_bytes=1024 * 1024)


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving(QUICK) as made:
        yield made


@pytest.fixture
def bystander(server: Serving) -> Iterator[Raw]:
    """Another client, which must not be affected."""
    with server.connect() as raw:
        yield raw
        assert raw.ask("server/ping", None, "bystander")["result"] == {}


def refused(server: Serving, data: bytes, *, framed: bool = False) -> int | None:
    """Return the code of the error that ends the connection."""
    with server.connect() as raw:
        raw.send(data)
        answer = raw.read_framed() if framed else raw.read()
        assert answer["id"] is None
        assert raw.ended()
    return code_of(answer)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"nonsense", -32700),
        (b'{"jsonrpc": "2.0", "method"', -32700),
        (b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"server/ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":NaN,"method":"server/ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":1e999,"method":"server/ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"server/ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":9223372036854775808,"method":"server/ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"text":"\\ud800"}}', -32602),
        (b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"text":"\xff"}}', -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"test/big","params":{"bytes":1e2}}', -32602),
        (b"\x00\x01\x02", -32700),
        (b"\xef\xbb\xbf{}", -32700),
    ],
)
def test_a_bad_line_is_refused_and_the_connection_lives_on(server: Serving, line: bytes, code: int) -> None:
    with server.connect() as raw:
        raw.send(line + b"\n")
        assert code_of(raw.read()) == code
        assert raw.ask("server/ping")["result"] == {}


def test_a_bad_body_is_refused_and_the_connection_lives_on(server: Serving) -> None:
    with server.connect() as raw:
        raw.send(b"Content-Length: 3\r\n\r\n{,}")
        assert code_of(raw.read_framed()) == -32700
        raw.framed(request("server/ping"))
        assert raw.read_framed()["result"] == {}


@pytest.mark.parametrize("length", [b"-1", b"0", b"10abc", b"1e3", b"1073741824", b"", b"2\r\nContent-Length: 2"])
def test_a_bad_length_is_refused(server: Serving, bystander: Raw, length: bytes) -> None:
    code = refused(server, b"Content-Length: " + length + b"\r\n\r\n{}", framed=True)
    assert code in (-32700, -32600)


def test_headers_without_a_length_or_without_an_end_are_refused(server: Serving, bystander: Raw) -> None:
    assert refused(server, b"Content-Type: text/plain\r\n\r\n{}", framed=True) == -32700
    assert refused(server, b"X: " + b"y" * 65536, framed=True) == -32600
    assert refused(server, b"X: y\r\n" * 10_000, framed=True) == -32600


def test_a_request_over_the_limit_is_refused_however_it_comes() -> None:
    body = json.dumps(request("test/echo", {"text": "x" * 4 * 1024 * 1024})).encode()
    with serving(Limits()) as server:  # a busy machine may need longer than `QUICK` to send it
        assert refused(server, body + b"\n") == -32600
        assert refused(server, b"Content-Length: %d\r\n\r\n%b" % (len(body), body), framed=True) == -32600


def test_a_request_just_under_the_limit_is_answered() -> None:
    text = "x" * (4 * 1024 * 1024 - 100)
    with serving(Limits()) as server, server.connect() as raw:
        assert raw.ask("test/echo", {"text": text})["result"]["text"] == text


def test_an_endless_line_is_cut_off(server: Serving, bystander: Raw) -> None:
    with server.connect() as raw:
        with pytest.raises(OSError):
            while True:
                raw.sock.sendall(b"x" * 65536)
        wait_until(lambda: server.server.connections == 1)


@pytest.mark.parametrize(
    ("start", "framed"), [(b'{"jsonrpc"', False), (b"Content-Length: 9\r\n\r\n{", True), (b"Conte", False)]
)
def test_a_frame_must_be_finished_in_time(server: Serving, bystander: Raw, start: bytes, framed: bool) -> None:
    assert refused(server, start, framed=framed) == 3


def test_what_comes_before_a_broken_frame_is_answered(server: Serving) -> None:
    with server.connect() as raw:
        raw.line(request("server/ping"))
        raw.send(b"Content-Length: 2\r\n\r\n{}")
        assert sorted(str(code_of(raw.read())) for _ in range(2)) == ["-32600", "None"]
        assert raw.ended()


def test_an_idle_connection_may_stay(server: Serving) -> None:
    with server.connect() as idle, server.connect() as slow:
        slow.send(b"{")
        assert code_of(slow.read()) == 3
        assert idle.ask("server/ping")["result"] == {}


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b'POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"server/shutdown"}\n',
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500),
    ],
)
def test_other_protocols_are_refused(server: Serving, bystander: Raw, data: bytes) -> None:
    assert refused(server, data) in (-32600, -32700)


def test_random_bytes_leave_nothing_behind(server: Serving, bystander: Raw) -> None:
    noise = random.Random(1)
    for size in (1, 2, 10, 100, 1000, 100_000):
        with server.connect() as raw:
            raw.send(noise.randbytes(size))
            raw.sock.shutdown(socket.SHUT_WR)
            assert raw.ended()
    wait_until(lambda: server.server.connections == 1)


def test_descriptors_that_are_passed_are_not_kept(server: Serving, bystander: Raw) -> None:
    read, write = os.pipe()
    with server.connect() as raw:
        message = json.dumps(request("server/ping")).encode() + b"\n"
        socket.send_fds(raw.sock, [message], [write])
        os.close(write)
        assert raw.read()["result"] == {}
        assert os.read(read, 1) == b""  # the other end is closed
    os.close(read)


def test_a_client_that_stops_reading_is_dropped_and_others_are_served(server: Serving, bystander: Raw) -> None:
    with server.connect() as deaf:
        for number in range(8):
            deaf.line(request("test/big", {"bytes": 500_000}, number))
        server.accept_all()
        assert bystander.ask("test/echo", {"text": "x"})["result"] == {"text": "x"}
        wait_until(lambda: server.server.connections == 1)


def test_a_client_that_is_a_little_behind_is_dropped_too(server: Serving, bystander: Raw) -> None:
    with serving(QUICK._replace(output_bytes=64 * 1024 * 1024)) as patient, patient.connect() as deaf:
        deaf.line(request("test/big", {"bytes": 3_000_000}))
        patient.accept_all()
        wait_until(lambda: patient.server.connections == 0)


def test_an_answer_larger_than_the_cap_reaches_a_client_that_reads(server: Serving) -> None:
    with server.connect() as raw:
        assert len(raw.ask("test/big", {"bytes": 20_000_000})["result"]["text"]) == 20_000_000


def test_a_client_that_floods_with_nonsense_and_does_not_read_is_held_back(server: Serving, bystander: Raw) -> None:
    with server.connect() as raw:
        with pytest.raises(OSError):
            while True:
                raw.sock.sendall(b"!\n" * 100_000)
        wait_until(lambda: server.server.connections == 1)


def test_only_so_many_requests_of_a_connection_run_at_once() -> None:
    with serving(Limits(in_flight=5, queued=10)) as server, server.connect() as raw, server.connect() as other:
        # At once: a system's buffer takes few messages that come one by one, and those past the queue stay in it.
        lines = [json.dumps(request("test/job", {"name": str(number)}, number)) + "\n" for number in range(100)]
        raw.send("".join(lines))
        wait_until(lambda: server.running == 5)
        assert other.ask("server/ping")["result"] == {}
        server.open_gate()
        assert sorted(raw.read()["id"] for _ in range(100)) == list(range(100))
        assert server.most == 5


def test_a_full_queue_holds_the_client_back() -> None:
    with serving(Limits(in_flight=2, queued=2)) as server, server.connect() as raw, server.connect() as other:
        raw.sock.settimeout(1.0)
        with pytest.raises(TimeoutError):
            for number in range(16 * 1024):
                raw.sock.sendall(json.dumps(request("test/job", {"name": "x" * 1000}, number)).encode() + b"\n")
        assert other.ask("server/ping")["result"] == {}


def test_a_client_with_a_full_queue_that_goes_is_noticed() -> None:
    with serving(Limits(in_flight=2, queued=2)) as server, server.connect() as raw:
        for number in range(50):
            raw.line(request("test/wait", None, number))
        wait_until(lambda: server.running == 2)


def test_ten_thousand_requests_in_a_row_are_all_answered(server: Serving, bystander: Raw) -> None:
    with server.connect() as raw:
        raw.send("".join(json.dumps(request("server/ping", None, number)) + "\n" for number in range(10_000)))
        assert bystander.ask("server/ping")["result"] == {}
        assert sorted(raw.read()["id"] for _ in range(10_000)) == list(range(10_000))


def test_five_hundred_slow_senders_disturb_nobody(bystander: Raw, server: Serving) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(500)]
        for byte in b'{"json':
            for raw in slow:
                raw.send(bytes([byte]))
            assert bystander.ask("server/ping")["result"] == {}
        for raw in slow:
            assert code_of(raw.read()) == 3
            assert raw.ended()


def test_connections_past_the_limit_are_refused_politely() -> None:
    with serving(Limits(connections=10, linger_s=0.3)) as server, ExitStack() as stack:
        inside = [stack.enter_context(server.connect()) for _ in range(10)]
        for raw in inside:
            assert raw.ask("server/ping")["result"] == {}
        for _ in range(100):
            with server.connect() as outside:
                answer = outside.ask("server/ping")
                assert (code_of(answer), answer["id"]) == (4, None)
                assert outside.ended()
        for raw in inside:
            assert raw.ask("server/ping")["result"] == {}
        inside[0].close()
        wait_until(lambda: server.server.connections == 9)
        with server.connect() as again:
            assert again.ask("server/ping")["result"] == {}


def test_a_client_that_has_gone_takes_no_place_though_nothing_was_read_since(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PEER_S", 60.0)
    with serving(Limits(connections=1, in_flight=1, queued=1)) as server:
        with server.connect() as gone:
            gone.send("".join(json.dumps(request("test/job", None, number)) + "\n" for number in range(3)))
            wait_until(lambda: server.running == 1)
        with server.connect() as next_one:
            assert next_one.ask("server/ping")["result"] == {}
        server.open_gate()


def test_more_refused_than_may_linger_are_closed_at_once() -> None:
    with serving(Limits(connections=1, linger_s=30.0)) as server, server.connect() as first, ExitStack() as stack:
        assert first.ask("server/ping")["result"] == {}
        outside = [stack.enter_context(server.connect()) for _ in range(100)]
        assert [code_of(raw.read()) for raw in outside] == [4] * 100
        wait_until(lambda: server.server.refused <= 65)
        for raw in outside:
            raw.close()
        wait_until(lambda: server.server.refused == 0)


STRANGER = """
import os, socket, sys
if sys.argv[2:]:
    os.setuid(int(sys.argv[2]))
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.settimeout(20)
try:
    s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"server/ping"}\\n')
    answer = s.recv(1000)
except (BrokenPipeError, ConnectionResetError):
    answer = b""
sys.stdout.buffer.write(answer)
"""


def ask_as(uid: int | None, server: Serving) -> bytes:
    """Return what a process of another user reads from the server."""
    command = [sys.executable, "-S", "-E", "-c", STRANGER, str(server.path), *([str(uid)] if uid else [])]
    return subprocess.run(command, capture_output=True, check=True).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_another_user_is_not_answered() -> None:
    with serving(mode=0o666) as server:
        assert ask_as(65534, server) == b""
        assert b"result" in ask_as(None, server)


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming another user needs root")
def test_root_is_answered_by_a_users_daemon() -> None:
    with serving(uid=65534, mode=0o666) as server:
        assert b"result" in ask_as(65534, server)
        assert b"result" in ask_as(None, server)
        assert ask_as(65533, server) == b""


@pytest.mark.skipif(os.geteuid() == 0, reason="root is heard by every daemon")
def test_a_daemon_of_another_uid_is_sent_nothing() -> None:
    with serving(uid=os.geteuid() + 1) as server, server.connect() as raw:
        raw.line(request("server/ping"))
        assert raw.ended()


def test_unfinished_requests_of_many_clients_share_a_budget() -> None:
    with serving(Limits(unfinished_bytes=1 << 20)) as server, server.connect() as bystander, ExitStack() as others:
        part = b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"text":"' + b"a" * (300 << 10)
        clients = [others.enter_context(server.connect()) for _ in range(8)]
        for client in clients:
            client.send(part)
        for client in clients[:5]:
            answer = client.read()
            assert code_of(answer) == 4 and "unfinished" in answer["error"]["message"]
            assert client.ended()
        assert server.server.unfinished.total <= 1 << 20
        for client in clients[5:]:
            client.send(b'"}}\n')
            assert "result" in client.read()
        assert bystander.ask("server/ping", None, "bystander")["result"] == {}
        wait_until(lambda: server.server.unfinished.total == 0, what="all memory back")
