"""What a well-behaved client can rely on: both framings, ids, batches, concurrency, cancelling, progress."""

from __future__ import annotations

import asyncio
import json
import select
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.support import wait_until
from helpers.threaded_server import WAIT_S, Raw, Serving, code_of, note, request, serving
from livedex_ipc.limits import Limits


@pytest.fixture
def server() -> Iterator[Serving]:
    with serving() as made:
        yield made


@pytest.fixture
def raw(server: Serving) -> Iterator[Raw]:
    with server.connect() as client:
        yield client


def test_both_framings_are_answered_in_kind(server: Serving) -> None:
    with server.connect() as lines, server.connect() as headers:
        lines.line(request("test/echo", {"text": "ä\n\u2028"}, "a"))
        headers.framed(request("test/echo", {"text": "ä\n"}, 7))
        assert lines.read() == {"jsonrpc": "2.0", "id": "a", "result": {"text": "ä\n\u2028"}}
        assert headers.read_framed() == {"jsonrpc": "2.0", "id": 7, "result": {"text": "ä\n"}}


@pytest.mark.parametrize("request_id", [0, 1, -5, 2**63 - 1, -(2**63), "a", "", "ä", None])
def test_ids_are_echoed(raw: Raw, request_id: Any) -> None:
    assert raw.ask("server/ping", None, request_id) == {"jsonrpc": "2.0", "id": request_id, "result": {}}


@pytest.mark.parametrize("request_id", [1.5, 1.0, True, False, {}, [], 2**63, -(2**63) - 1, "\ud800"])
def test_other_ids_are_refused(raw: Raw, request_id: Any) -> None:
    answer = raw.ask("server/ping", None, request_id)
    assert (code_of(answer), answer["id"]) == (-32600, None)
    assert code_of(raw.ask("server/ping")) is None


def test_an_id_is_refused_while_it_is_in_use(raw: Raw) -> None:
    raw.line(request("test/wait", None, 1))
    assert code_of(raw.ask("server/ping", None, 1)) == -32600
    raw.line(note("$/cancelRequest", {"id": 1}))
    assert code_of(raw.read()) == -32800
    assert code_of(raw.ask("server/ping", None, 1)) is None


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": 1}, -32600),
        ({"jsonrpc": "2.0", "method": 1}, -32600),
        ({"jsonrpc": "1.0", "id": 1, "method": "server/ping"}, -32600),
        ({"id": 1, "method": "server/ping"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, -32600),
        (1, -32600),
        ("x", -32600),
        (None, -32600),
        ([], -32600),
        (request("server/pong"), -32601),
        (request("\ud800"), -32601),
        (request("$/unknown"), -32601),
        (request("server/ping", [1]), -32602),
        (request("server/ping", "x"), -32602),
        (request("test/echo", {"tex": "x"}), -32602),
        (request("test/echo", {"text": "\ud800"}), -32602),
        (request("test/echo", {"text": 1}), -32602),
    ],
)
def test_what_is_wrong_has_its_code_and_the_connection_lives_on(raw: Raw, message: Any, code: int) -> None:
    raw.line(message)
    assert code_of(raw.read()) == code
    assert raw.ask("server/ping")["result"] == {}


def test_no_params_may_be_null(raw: Raw) -> None:
    raw.send('{"jsonrpc": "2.0", "id": 1, "method": "server/ping", "params": null}\n')
    assert raw.read()["result"] == {}


def test_the_message_names_the_param_and_its_nearest(raw: Raw) -> None:
    error = raw.ask("test/echo", {"tex": "x"})["error"]
    assert error["data"] == {"field": "tex", "nearest": "text"}
    assert "'text'" in error["message"]


def test_errors_of_handlers_keep_their_code_and_internal_ones_quote_no_text(
    raw: Raw, caplog: pytest.LogCaptureFixture
) -> None:
    known = raw.ask("test/fail", {"how": "known"})["error"]
    assert known == {"code": 1, "message": "no such thing", "data": {"thing": "x"}}
    assert caplog.records == []
    internal = raw.ask("test/fail", {"how": "unknown"})
    assert code_of(internal) == -32603
    assert "text of a file" not in json.dumps(internal)
    assert [record.message for record in caplog.records] == ["request_failed"]
    assert code_of(raw.ask("test/result")) == -32603


def test_a_lack_of_memory_is_no_fault_of_livedex(raw: Raw, caplog: pytest.LogCaptureFixture) -> None:
    error = raw.ask("test/fail", {"how": "memory"})["error"]
    assert error["code"] == 4 and "memory" in error["message"]
    assert [record.message for record in caplog.records] == ["request_without_memory"]


def test_notifications_are_never_answered(raw: Raw) -> None:
    for message in (
        note("test/echo", {"text": "x"}),
        note("test/echo", {"wrong": 1}),
        note("test/fail", {"how": "known"}),
        note("server/pong"),
        note("$/unknown", {"a": 1}),
        note("$/cancelRequest", {"id": 99}),
        note("$/cancelRequest", {"id": [1]}),
        note("$/cancelRequest"),
        note("$/cancelRequest", [1]),
    ):
        raw.line(message)
    assert raw.ask("server/ping", None, "last")["id"] == "last"


def test_requests_run_side_by_side(raw: Raw, server: Serving) -> None:
    raw.line(request("test/job", {"name": "slow"}, 1))
    assert raw.ask("server/ping", None, 2)["id"] == 2
    server.open_gate()
    assert raw.read()["id"] == 1


def test_a_batch_is_answered_as_one_line(raw: Raw) -> None:
    raw.line(
        [
            request("server/ping", None, 1),
            note("server/ping"),
            request("server/pong", None, 2),
            7,
            request("test/echo", {"text": "x"}, "3"),
            request("server/ping", None, 1.5),
        ]
    )
    answers = {str(answer["id"]): answer for answer in raw.read()}
    assert answers.keys() == {"1", "2", "3", "None"}
    assert code_of(answers["2"]) == -32601
    assert answers["3"]["result"] == {"text": "x"}


def test_a_batch_of_notifications_has_no_answer(raw: Raw) -> None:
    raw.line([note("server/ping"), note("$/unknown"), note("server/pong")])
    assert raw.ask("server/ping", None, "next")["id"] == "next"


def test_a_batch_has_at_most_a_thousand_requests(raw: Raw) -> None:
    raw.line([request("server/ping", None, number) for number in range(1000)])
    assert sorted(answer["id"] for answer in raw.read()) == list(range(1000))
    raw.line([request("server/ping", None, number) for number in range(1001)])
    answer = raw.read()
    assert (code_of(answer), answer["id"]) == (-32600, None)


def test_headers_allow_no_batches(server: Serving) -> None:
    with server.connect() as raw:
        raw.framed([request("server/ping")])
        assert code_of(raw.read_framed()) == -32600
        raw.framed(request("server/ping"))
        assert raw.read_framed()["result"] == {}


def test_requests_of_a_batch_can_be_cancelled(raw: Raw) -> None:
    raw.line([request("test/wait", None, 1), request("server/ping", None, 2)])
    raw.line(note("$/cancelRequest", {"id": 1}))
    assert {answer["id"]: code_of(answer) for answer in raw.read()} == {1: -32800, 2: None}


def test_cancelling_ends_the_handler(raw: Raw, server: Serving) -> None:
    raw.line(request("test/wait", None, "w"))
    wait_until(lambda: server.running == 1)
    for _ in range(2):
        raw.line(note("$/cancelRequest", {"id": "w"}))
    answer = raw.read()
    assert (code_of(answer), answer["id"]) == (-32800, "w")
    wait_until(lambda: server.running == 0)
    assert raw.ask("server/ping", None, "w")["result"] == {}


def test_a_handler_that_is_slow_to_clean_up_does_not_delay_the_answer(server: Serving) -> None:
    with server.connect() as raw:
        raw.line(request("test/wait", None, 1))
        raw.line(note("$/cancelRequest", {"id": 1}))
        assert code_of(raw.read()) == -32800


def test_what_waits_for_its_turn_can_be_cancelled() -> None:
    with serving(Limits(in_flight=2)) as server, server.connect() as raw:
        for number in range(4):
            raw.line(request("test/job", {"name": str(number)}, number))
        raw.line(note("$/cancelRequest", {"id": 3}))
        answer = raw.read()
        assert (code_of(answer), answer["id"]) == (-32800, 3)
        server.open_gate()
        assert sorted(raw.read()["id"] for _ in range(3)) == [0, 1, 2]
        assert sorted(server.done) == ["0", "1", "2"]


def test_a_large_request_keeps_its_place_in_the_order(raw: Raw, server: Serving) -> None:
    large = {**request("test/wait", None, "w"), "ignored": "x" * 1_000_000}
    raw.line(large)
    raw.line(note("$/cancelRequest", {"id": "w"}))
    assert code_of(raw.read()) == -32800
    raw.send(json.dumps(large)[:-1] + "\n")
    assert code_of(raw.read()) == -32700
    raw.line({**request("test/job", {"name": "x"}), "ignored": "x" * 1_000_000})
    raw.sock.shutdown(1)
    server.open_gate()
    assert raw.read()["result"] == {"name": "x"}


def test_a_newer_request_with_the_same_key_takes_the_place(raw: Raw, server: Serving) -> None:
    with server.connect() as other:
        other.line(request("test/wait", {"key": "k"}, 1))
        raw.line(request("test/wait", {"key": "k"}, 1))
        raw.line(request("test/wait", {"key": "other"}, 2))
        raw.line(request("test/wait", {"key": "k"}, 3))
        answer = raw.read()
        assert (code_of(answer), answer["id"]) == (-32800, 1)
        wait_until(lambda: server.running == 3)  # the other connection's key is its own


def test_progress_comes_under_the_callers_token_before_the_answer(raw: Raw) -> None:
    raw.line(request("test/progress", {"progress_token": "t"}))
    reported = [raw.read()["params"] for _ in range(3)]
    assert [(each["token"], each["value"]["kind"]) for each in reported] == [
        ("t", "begin"),
        ("t", "report"),
        ("t", "end"),
    ]
    assert raw.read()["result"] == {"asked": "t"}
    assert raw.ask("test/progress")["result"] == {"asked": None}


def test_a_closed_connection_ends_its_waits_but_not_its_jobs(server: Serving) -> None:
    with server.connect() as raw:
        raw.line(request("test/wait", None, 1))
        raw.line(request("test/job", {"name": "goes on"}, 2))
        wait_until(lambda: server.running == 2)
    wait_until(lambda: server.running == 1)
    wait_until(lambda: server.server.connections == 0)
    server.open_gate()
    wait_until(lambda: server.done == ["goes on"])


def test_a_client_that_only_ended_its_side_is_answered(server: Serving) -> None:
    with server.connect() as raw:
        raw.line(request("test/job", {"name": "x"}))
        raw.sock.shutdown(1)
        wait_until(lambda: server.running == 1)
        server.open_gate()
        assert raw.read()["result"] == {"name": "x"}
        assert raw.read() is None


def test_a_client_that_ended_its_side_and_went_is_noticed(server: Serving) -> None:
    with server.connect() as raw:
        raw.line(request("test/wait"))
        raw.sock.shutdown(1)
        wait_until(lambda: server.running == 1)
    wait_until(lambda: server.running == 0)


def test_closing_the_server_gives_time_then_ends_what_runs() -> None:
    with serving() as server, server.connect() as raw, server.connect() as idle:
        raw.line(request("test/wait", None, 1))
        wait_until(lambda: server.running == 1)
        server.run(server.server.close(0.05))
        assert code_of(raw.read()) == 4
        assert raw.read() is None and idle.read() is None


def test_closing_the_server_lets_what_runs_finish() -> None:
    with serving() as server, server.connect() as raw:
        raw.line(request("test/job", {"name": "x"}, 1))
        wait_until(lambda: server.running == 1)
        server.open_gate()
        server.run(server.server.close(10.0))
        assert raw.read()["result"] == {"name": "x"}


def test_a_client_that_has_read_all_does_not_delay_the_end() -> None:
    with serving(Limits(linger_s=10 * WAIT_S)) as server, server.connect() as idle, server.connect() as asked:
        assert asked.ask("server/ping")["result"] == {}
        server.run(server.server.close(0.05))
        assert asked.read() is None and idle.read() is None


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the end of a stream before its data is read")
def test_a_client_that_has_not_read_all_is_given_the_time() -> None:
    with serving(Limits(linger_s=10 * WAIT_S)) as server, server.connect() as raw:
        raw.line(request("server/ping"))
        wait_until(lambda: select.select([raw.sock], [], [], 0)[0], what="the answer")
        closing = asyncio.run_coroutine_threadsafe(server.server.close(0.05), server.loop)
        end = select.poll()
        end.register(raw.sock, select.POLLRDHUP)
        wait_until(lambda: end.poll(0), what="the end of the stream")
        raw.sock.sendall(b"what nobody reads")  # an error on a connection that is closed
        assert raw.read()["result"] == {}
        assert raw.read() is None
        raw.close()
        closing.result(WAIT_S)
