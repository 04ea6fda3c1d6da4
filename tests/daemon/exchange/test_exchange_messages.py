"""The log: ids, conversations, keys, chains and limits; what may be published and how it is read."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from helpers.exchange_file import Queue, checked
from livedex_ipc.errors import InvalidParams, NotFound, Unavailable


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "exchange.db", max_waiting=20, max_hops=4, max_body=1024)) as opened:
        yield opened


def test_a_message_is_read_as_it_was_published(queue: Queue) -> None:
    body = 'line 1\nżółw "\\ \0 \u2028 𝄞'
    queue.publish("a.b-c_D", body, producer="me", metadata={"k": [1, {"n": None}]}, conversation_id="talk")
    (message,) = queue.read("a.b-c_D")
    assert {name: value for name, value in message.items() if name != "created_at"} == {
        "id": 1,
        "topic": "a.b-c_D",
        "body": body,
        "parent_id": None,
        "conversation_id": "talk",
        "producer": "me",
        "metadata": {"k": [1, {"n": None}]},
    }
    assert message["created_at"].endswith("Z")


def test_follow_ups_keep_parent_and_conversation(queue: Queue) -> None:
    first = queue.publish("a", "")
    assert first == {"id": 1, "conversation_id": "1", "created": True}
    second = queue.publish("b", "", parent_id=1)
    third = queue.publish("c", "", parent_id=second["id"], conversation_id="1")
    assert second["conversation_id"] == third["conversation_id"] == "1"
    assert [message["parent_id"] for message in queue.read(conversation_id="1")] == [None, 1, 2]
    with pytest.raises(InvalidParams) as caught:
        queue.publish("c", "", parent_id=1, conversation_id="another")
    assert caught.value.data == {"field": "conversation_id"}
    with pytest.raises(NotFound):
        queue.publish("c", "", parent_id=99)


def test_a_number_is_no_conversation_of_ones_own(queue: Queue) -> None:
    with pytest.raises(InvalidParams):
        queue.publish("a", "", conversation_id="1")
    queue.publish("a", "")
    assert queue.publish("a", "", conversation_id="1")["conversation_id"] == "1"


def test_a_key_is_published_once_in_a_topic(queue: Queue) -> None:
    first = queue.publish("a", "one", idempotency_key="k")
    assert queue.publish("a", "another", idempotency_key="k") == {**first, "created": False}
    assert queue.publish("b", "one", idempotency_key="k")["created"]
    assert [message["body"] for message in queue.read("a")] == ["one"]


def test_of_many_publishers_of_one_key_one_publishes(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"

    def publish(number: int) -> Any:
        with closing(Queue(path)) as own:
            return own.publish("a", str(number), idempotency_key="k")

    with ThreadPoolExecutor(10) as threads:
        found = list(threads.map(publish, range(50)))
    assert sum(result["created"] for result in found) == 1
    assert {result["id"] for result in found} == {1}


@pytest.mark.parametrize("topic", ["", "a b", "a/b", "ä", "x" * 201, "a\n"])
def test_other_topics_are_refused(queue: Queue, topic: str) -> None:
    with pytest.raises(InvalidParams) as caught:
        queue.publish(topic, "")
    assert caught.value.data == {"field": "topic"}


def test_limits(queue: Queue) -> None:
    queue.publish("a", "ä" * 512)
    with pytest.raises(InvalidParams, match="1024 bytes"):
        queue.publish("a", "ä" * 512 + "b")
    with pytest.raises(InvalidParams) as caught:
        queue.publish("a", "", metadata={"k": "v" * 65_536})
    assert caught.value.data == {"field": "metadata"}
    with pytest.raises(InvalidParams):
        checked("publish", topic="a", body="", metadata=[])


def test_a_chain_has_an_end(queue: Queue) -> None:
    parent = queue.publish("loop", "")["id"]
    for _ in range(4):
        parent = queue.publish("loop", "", parent_id=parent)["id"]
    with pytest.raises(InvalidParams, match="max_hops"):
        queue.publish("loop", "", parent_id=parent)


def test_a_plugin_that_publishes_to_itself_comes_to_an_end(queue: Queue) -> None:
    queue.publish("loop", "")
    with pytest.raises(InvalidParams, match="max_hops"):
        for _ in range(100):
            queue.complete(queue.claim("loop"), follow_up={"topic": "loop", "body": ""})
    assert len(queue.read("loop")) == 5


def test_a_full_topic_refuses_publishers_and_takes_follow_ups(queue: Queue) -> None:
    for _ in range(20):
        queue.publish("work", "")
    with pytest.raises(Unavailable) as caught:
        queue.publish("work", "")
    assert caught.value.data is not None and caught.value.data["retry_after_ms"] > 0
    assert queue.publish("other", "")["created"]
    claimed = queue.claim("work")
    queue.publish("work", "")
    queue.complete(claimed, follow_up={"topic": "work", "body": ""})
    assert queue.stats("work")["waiting"] == 21


def test_pages(queue: Queue) -> None:
    ids = [queue.publish("a" if number % 2 else "b", "x" * 1000)["id"] for number in range(20)]
    found: list[int] = []
    while page := queue.read(after_id=found[-1] if found else 0, limit=3):
        found += [message["id"] for message in page]
    assert found == ids
    assert [message["id"] for message in queue.read("a", after_id=10)] == [12, 14, 16, 18, 20]
    assert queue.read("unknown") == []


def test_an_answer_is_bounded(tmp_path: Path) -> None:
    with closing(Queue(tmp_path / "exchange.db", max_body=8 << 20)) as queue:
        for size in (5 << 20, 2 << 20, 1 << 20, 2 << 20):
            queue.publish("a", "x" * size)
        assert [len(queue.read(after_id=after)) for after in (0, 1, 2, 3)] == [1, 2, 2, 1]


def test_large_bodies_leave_out_the_oldest_of_what_is_inspected(tmp_path: Path) -> None:
    with closing(Queue(tmp_path / "exchange.db", max_body=8 << 20)) as queue:
        for topic, size in (("a", 2 << 20), ("b", 1), ("a", 3 << 20), ("a", 1 << 20), ("b", 5 << 20)):
            queue.publish(topic, "x" * size)
        assert [message["id"] for message in queue.inspect(topic="a")["messages"]] == [3, 4]
        assert [message["id"] for message in queue.inspect()["messages"]] == [5]


def test_what_is_newest_is_inspected(queue: Queue) -> None:
    for number in range(3):
        queue.publish("a", str(number))
    queue.complete(queue.claim("a"))
    found = queue.inspect(topic="a")
    assert [message["body"] for message in found["messages"]] == ["0", "1", "2"]
    assert [claim["message_id"] for claim in found["claims"]] == [1]
    assert queue.inspect(id=2)["messages"][0]["body"] == "1"
    assert queue.inspect(id=2, topic="unknown", conversation_id="9")["messages"][0]["body"] == "1"
    assert queue.inspect(conversation_id="1", topic="unknown") == queue.inspect(conversation_id="9")
    assert queue.inspect(id=99) == {"messages": [], "claims": []}
    assert queue.inspect(topic="unknown") == {"messages": [], "claims": []}
