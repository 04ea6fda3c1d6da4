"""Conversations: their states, which reply counts, and that each is reported once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helpers.exchange_file import Queue, checked
from livedex_daemon.exchange import waiting
from livedex_ipc.errors import NotFound, TimedOut


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "exchange.db")) as opened:
        yield opened


def notified(queue: Queue) -> list[tuple[str, str, str | None]]:
    found = queue.exchange.notify()["conversations"]
    return [
        (each["conversation_id"], each["state"], each["reply"]["body"] if each["reply"] is not None else None)
        for each in found
    ]


def requested(queue: Queue, topic: str, **params: Any) -> Any:
    return waiting.request(queue.exchange, checked("request", topic=topic, body="", timeout_ms=0, **params))


def test_the_state_of_a_conversation_is_that_of_its_first_message(queue: Queue) -> None:
    with pytest.raises(NotFound):
        queue.check("1")
    queue.publish("work", "")
    assert queue.check("1") == {"conversation_id": "1", "state": "pending", "terminal": False, "reply": None}
    claimed = queue.claim("work")
    assert queue.check("1")["state"] == "claimed"
    queue.complete(claimed, "failed", follow_up={"topic": "work.failed", "body": "why"})
    found = queue.check("1")
    assert (found["state"], found["terminal"], found["reply"]["body"]) == ("failed", True, "why")


def test_a_lost_worker_is_noticed_without_another_claim(queue: Queue) -> None:
    queue.publish("work", "")
    for _ in range(5):
        queue.claim("work", lease_s=1)
        queue.clock.pass_s(2)
    assert queue.check("1")["state"] == "dead"


def test_large_replies_are_reported_by_several_calls(tmp_path: Path) -> None:
    with closing(Queue(tmp_path / "exchange.db", max_body=8 << 20)) as queue:
        for size in (5 << 20, 2 << 20, 1 << 20, 2 << 20):
            queue.publish("work.request", "")
            queue.complete(queue.claim("work.request"), follow_up={"topic": "done", "body": "x" * size})
        reported = [[each["conversation_id"] for each in queue.exchange.notify()["conversations"]] for _ in range(4)]
        assert reported == [["1"], ["3", "5"], ["7"], []]


def test_each_request_is_reported_once_when_it_is_finished(queue: Queue) -> None:
    for topic in ("work.request", "work", "work.request"):
        queue.publish(topic, "")
    assert notified(queue) == []
    for topic in ("work.request", "work"):
        queue.complete(queue.claim(topic), follow_up={"topic": "done", "body": topic})
    assert notified(queue) == [("1", "completed", "work.request")]
    assert notified(queue) == []
    queue.complete(queue.claim("work.request"), "timed_out")
    assert notified(queue) == [("3", "timed_out", None)]


def test_a_follow_up_in_a_topic_of_requests_is_no_new_conversation(queue: Queue) -> None:
    queue.publish("talk", "")
    queue.publish("work.request", "", parent_id=1)
    queue.complete(queue.claim("work.request"))
    assert notified(queue) == []


def test_a_dead_request_is_reported(queue: Queue) -> None:
    queue.publish("work.request", "body")
    for _ in range(5):
        queue.renew(queue.claim("work.request"), lease_s=0)
    assert notified(queue) == [("1", "dead", "body")]


def test_a_request_without_a_reply_is_reported_later(queue: Queue) -> None:
    with pytest.raises(TimedOut) as caught:
        requested(queue, "work")
    assert caught.value.data is not None and caught.value.data["conversation_id"] == "1"
    assert notified(queue) == []
    queue.complete(queue.claim("work"), follow_up={"topic": "done", "body": "late"})
    assert notified(queue) == [("1", "completed", "late")]


def test_a_request_with_a_reply_is_not_reported(queue: Queue) -> None:
    with pytest.raises(TimedOut):
        requested(queue, "work", idempotency_key="k")
    queue.complete(queue.claim("work"), follow_up={"topic": "done", "body": "now"})
    found = requested(queue, "work", idempotency_key="k")
    assert (found["id"], found["conversation_id"], found["reply"]["body"]) == (1, "1", "now")
    assert notified(queue) == []


def test_no_notification_is_sent_while_a_request_waits(queue: Queue) -> None:
    """A request that was killed while it waited is reported once its time is over."""
    queue.exchange.begin_request(checked("request", topic="work", body="", timeout_ms=60_000))
    queue.complete(queue.claim("work"))
    assert notified(queue) == []
    queue.clock.pass_s(66)
    assert notified(queue) == [("1", "completed", None)]


def test_only_replies_in_the_named_topics_count(queue: Queue) -> None:
    names = {"success_topic": "good", "failure_topic": "bad", "idempotency_key": "k"}
    with pytest.raises(TimedOut):
        requested(queue, "work", **names)
    queue.publish("progress", "half", parent_id=1)
    with pytest.raises(TimedOut):
        requested(queue, "work", **names)
    queue.publish("bad", "reason", parent_id=1)
    assert requested(queue, "work", **names)["reply"]["body"] == "reason"


def test_a_dead_letter_ends_a_request(queue: Queue) -> None:
    names = {"success_topic": "good", "idempotency_key": "k"}
    with pytest.raises(TimedOut):
        requested(queue, "work", **names)
    for _ in range(5):
        queue.renew(queue.claim("work"), lease_s=0)
    assert requested(queue, "work", **names)["reply"]["topic"] == "work.dead"
