"""The exchange over the socket: its methods, the wake-ups, and other processes that use the file at the same time."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import apsw
import pytest

from helpers.exchange_file import Queue
from helpers.support import Daemon, Home, codes, temporary_home, wait_until
from livedex_ipc.client import Client
from livedex_ipc.errors import Conflict, InvalidParams, NotFound, TimedOut, Unavailable


@pytest.fixture
def second(daemon: Daemon) -> Iterator[Client]:
    with daemon.client() as connected:
        yield connected


@pytest.fixture(scope="module")
def asked() -> Iterator[Client]:
    """A connection to one daemon for all that is refused."""
    with temporary_home() as home:
        daemon = Daemon(home).start()
        with daemon.client() as connected:
            yield connected
        daemon.stop()


def waited(client: Client, **params: Any) -> bool:
    ready: bool = client.call("exchange/wait", params)["ready"]
    return ready


def test_a_message_goes_all_the_way(client: Client) -> None:
    published = client.call("exchange/publish", {"topic": "work.request", "body": "do", "metadata": {"a": 1}})
    assert published == {"id": 1, "conversation_id": "1", "created": True}
    found = client.call("exchange/claim", {"topic": "work.request", "worker_group": "g", "worker_instance_id": "i"})
    assert (found["message"]["body"], found["claim"]["worker_group"]) == ("do", "g")
    own = {"claim_id": found["claim"]["id"], "token": found["claim"]["token"]}
    assert client.call("exchange/renew", own)["lease_until"] >= found["claim"]["lease_until"]
    follow_up = {"topic": "work.completed", "body": "done"}
    assert client.call("exchange/complete", {**own, "status": "completed", "follow_up": follow_up})["message_id"] == 2
    checked = client.call("exchange/check", {"conversation_id": "1"})
    assert (checked["state"], checked["terminal"], checked["reply"]["body"]) == ("completed", True, "done")
    (reported,) = client.call("exchange/notify")["conversations"]
    assert reported["conversation_id"] == "1"
    assert [len(client.call("exchange/inspect", {"id": 1})[name]) for name in ("messages", "claims")] == [1, 1]
    topics = {each["topic"]: each["waiting"] for each in client.call("exchange/stats")["topics"]}
    assert topics == {"work.request": 0, "work.completed": 1}


@pytest.mark.parametrize(
    ("method", "params", "error"),
    [
        ("publish", {"topic": "a b", "body": ""}, InvalidParams),
        ("publish", {"topic": "a", "body": "", "parent_id": 7}, NotFound),
        ("publish", {"topic": "a", "body": "", "metadata": {"k": "\udc80"}}, InvalidParams),
        ("claim", {"topic": "a", "lease_s": 0}, InvalidParams),
        ("claim", {"topic": "a", "lease_s": -1}, InvalidParams),
        ("complete", {"claim_id": 1, "token": "x", "status": "done"}, InvalidParams),
        ("complete", {"claim_id": 1, "token": "x", "status": "failed"}, Conflict),
        ("complete", {"claim_id": 1, "token": "x", "status": "failed", "follow_up": {"topic": "a"}}, InvalidParams),
        ("wait", {}, InvalidParams),
        ("check", {"conversation_id": "none"}, NotFound),
        ("request", {"topic": "a", "body": "", "timeout_ms": 1}, TimedOut),
    ],
)
def test_what_is_refused(asked: Client, method: str, params: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        asked.call(f"exchange/{method}", params)


def test_who_waits_is_woken_by_a_publish(client: Client, second: Client) -> None:
    assert not waited(client, topic="work", timeout_ms=1)
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(waited, client, topic="work", timeout_ms=60_000)
        second.call("exchange/publish", {"topic": "work", "body": ""})
        assert waiting.result(30)
    assert waited(second, topic="work", after_id=0)
    assert not waited(second, topic="work", after_id=1, timeout_ms=1)
    assert waited(second, conversation_id="1")


def test_who_waits_is_woken_by_another_process(client: Client, home: Home) -> None:
    with ThreadPoolExecutor(1) as thread, closing(Queue(home.data / "exchange.db", real=True)) as queue:
        for number in range(5):  # the daemon may check for the first time only after the commit
            waiting = thread.submit(waited, client, topic="work", after_id=number, timeout_ms=20_000)
            queue.publish("work", "")
            assert waiting.result(30)


def test_who_waits_is_woken_when_a_lease_ends(client: Client) -> None:
    client.call("exchange/publish", {"topic": "work", "body": ""})
    client.call("exchange/claim", {"topic": "work", "lease_s": 1})
    assert waited(client, topic="work", timeout_ms=60_000)
    assert client.call("exchange/claim", {"topic": "work"})["claim"]["attempt"] == 2


def test_a_request_waits_for_its_reply(client: Client, second: Client) -> None:
    with ThreadPoolExecutor(1) as thread:
        params = {"topic": "work", "body": "do", "timeout_ms": 60_000}
        waiting = thread.submit(client.call, "exchange/request", params)
        assert waited(second, topic="work", timeout_ms=60_000)
        found = second.call("exchange/claim", {"topic": "work"})
        own = {"claim_id": found["claim"]["id"], "token": found["claim"]["token"]}
        follow_up = {"topic": "work.completed", "body": "done"}
        second.call("exchange/complete", {**own, "status": "completed", "follow_up": follow_up})
        assert waiting.result(30)["reply"]["body"] == "done"
    assert second.call("exchange/notify") == {"conversations": []}


def test_a_request_whose_client_went_away_is_reported(daemon: Daemon, second: Client) -> None:
    with ThreadPoolExecutor(1) as thread:
        with daemon.client() as gone:
            params = {"topic": "work", "body": "do", "timeout_ms": 600_000}
            waiting = thread.submit(gone.call, "exchange/request", params)
            assert waited(second, topic="work", timeout_ms=60_000)
            with socket.socket(fileno=os.dup(gone.fileno())) as peer:
                peer.shutdown(socket.SHUT_RDWR)
        assert waiting.exception(30) is not None
    found = second.call("exchange/claim", {"topic": "work"})
    own = {"claim_id": found["claim"]["id"], "token": found["claim"]["token"]}
    second.call("exchange/complete", {**own, "status": "failed"})
    wait_until(lambda: second.call("exchange/notify")["conversations"], what="the report")


def test_claims_and_messages_outlive_a_killed_daemon(start_daemon: Callable[..., Daemon]) -> None:
    daemon = start_daemon()
    with daemon.client() as client:
        for body in ("first", "second"):
            client.call("exchange/publish", {"topic": "work", "body": body})
        found = client.call("exchange/claim", {"topic": "work"})
    daemon.kill()
    with daemon.start().client() as client:
        own = {"claim_id": found["claim"]["id"], "token": found["claim"]["token"]}
        assert client.call("exchange/claim", {"topic": "work"})["message"]["body"] == "second"
        assert client.call("exchange/complete", {**own, "status": "completed"})["status"] == "completed"


def test_a_damaged_file_is_named_and_the_rest_works(client: Client, home: Home) -> None:
    path, aside = home.data / "exchange.db", home.data / "aside"
    aside.write_bytes(b"not a database" * 100)
    aside.rename(path)  # at once: the daemon looks for the file now and then, and would make an empty one its own
    with pytest.raises(Unavailable) as caught:
        client.call("exchange/publish", {"topic": "a", "body": ""})
    data = caught.value.data
    assert data is not None and (data["path"], "backup" in data["remedy"]) == (str(path), True)
    status = client.call("status")
    assert (status["state"], [each["code"] for each in status["warnings"]]) == ("degraded", ["exchange_unavailable"])
    path.unlink()
    assert client.call("exchange/publish", {"topic": "a", "body": ""})["id"] == 1
    wait_until(lambda: client.call("status")["warnings"] == [], what="the end of the warning")


@pytest.mark.ticks_often
def test_a_damaged_file_is_named_though_nobody_calls(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    daemon, path, kept = start_daemon(), home.data / "exchange.db", home.data / "kept.db"
    with daemon.client() as client:
        client.call("exchange/publish", {"topic": "a", "body": "kept"})
    daemon.stop()
    path.rename(kept)
    path.write_bytes(b"not a database" * 100)
    with daemon.start().client() as client:
        wait_until(lambda: client.call("status")["state"] == "degraded", what="the damage")
        (told,) = client.call("status")["warnings"]
        assert (told["code"], "backup" in told["remedy"]) == ("exchange_unavailable", True)
        assert str(path) in told["message"] and "backup" not in told["message"]
        kept.rename(path)
        wait_until(lambda: client.call("status")["state"] == "ready", what="the restored file")
        assert client.call("exchange/read", {"topic": "a"})["messages"][0]["body"] == "kept"


@pytest.mark.ticks_often
def test_dead_letters_are_said_until_they_are_handled(client: Client, home: Home) -> None:
    with closing(Queue(home.data / "exchange.db", real=True, max_attempts=1)) as queue:
        queue.publish("work", "poison")
        queue.renew(queue.claim("work"), lease_s=0)
        queue.check("1")
        wait_until(lambda: codes(client) == {"dead_letters"}, what="the warning")
        assert client.call("status")["state"] == "ready"
        queue.complete(queue.claim("work.dead"))
        wait_until(lambda: codes(client) == set(), what="its end")


def test_damage_that_not_every_call_touches_stays_named(client: Client, home: Home) -> None:
    client.call("exchange/publish", {"topic": "a", "body": ""})
    with closing(apsw.Connection(str(home.data / "exchange.db"))) as other:
        other.set_busy_timeout(15_000)
        other.execute("UPDATE messages SET metadata = '{'")
    with pytest.raises(Unavailable, match="damaged"):
        client.call("exchange/read", {"topic": "a"})
    client.call("exchange/stats")
    assert [each["code"] for each in client.call("status")["warnings"]] == ["exchange_unavailable"]


def test_limits_follow_the_configuration(home: Home, start_daemon: Callable[..., Daemon]) -> None:
    daemon = start_daemon(config="[exchange]\nmax_body = 1024\n")
    with daemon.client() as client:
        params = {"topic": "a", "body": "x" * 2000}
        with pytest.raises(InvalidParams, match="max_body"):
            client.call("exchange/publish", params)
        home.config.write_text("[exchange]\nmax_body = 4096\n")
        client.call("server/reload")
        assert client.call("exchange/publish", params)["id"] == 1


def test_a_daemon_with_waiting_workers_counts_as_idle(daemon: Daemon, client: Client, second: Client) -> None:
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(waited, client, topic="work", timeout_ms=600_000)
        wait_until(lambda: second.call("server/restart")["ending"], what="an idle daemon")
        assert waiting.exception(30) is not None
    wait_until(lambda: not daemon.running(), what="its end")


def test_no_file_is_made_until_there_is_a_message(client: Client, home: Home) -> None:
    client.call("status")
    assert not (home.data / "exchange.db").exists()
