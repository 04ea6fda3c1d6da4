"""Retention: finished conversations are removed after their time, measured as elapsed time; nothing else is removed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from helpers.exchange_file import Queue, SteppedClock
from livedex_daemon.exchange import retention

DAY_S = 86_400.0


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "exchange.db", retention_s=30 * DAY_S)) as opened:
        yield opened


def tidy_daily(queue: Queue, days: int) -> None:
    for _ in range(days):
        queue.exchange.remove_old()
        queue.clock.pass_s(DAY_S)
    queue.exchange.remove_old()


def finish(queue: Queue, topic: str = "work") -> None:
    queue.complete(queue.claim(topic), follow_up={"topic": "done", "body": ""})


def test_what_is_finished_and_old_is_removed(queue: Queue) -> None:
    for _ in range(250):
        queue.publish("work", "")
        finish(queue)
    tidy_daily(queue, 29)
    assert queue.stats("work")["messages"] == 250
    tidy_daily(queue, 2)
    assert queue.read() == []
    assert queue.exchange.stats()["topics"] == []
    assert queue.publish("work", "")["id"] == 501, "an id is never used again"


def test_what_waits_or_is_claimed_is_kept(queue: Queue) -> None:
    queue.publish("work", "claimed")
    queue.publish("work", "waits")
    claimed = queue.claim("work", lease_s=3600)
    for _ in range(62):
        queue.exchange.remove_old()
        for _hour in range(24):
            queue.clock.pass_s(3599)
            queue.renew(claimed, lease_s=3600)
    assert [message["body"] for message in queue.read("work")] == ["claimed", "waits"]


def test_what_waits_keeps_its_conversation(queue: Queue) -> None:
    for _ in range(2):
        queue.publish("work", "", conversation_id="talk")
    finish(queue)
    tidy_daily(queue, 62)
    assert len(queue.read()) == 3
    finish(queue)
    tidy_daily(queue, 32)
    assert queue.read() == []


def test_a_conversation_that_goes_on_is_kept_whole(queue: Queue) -> None:
    queue.publish("work", "")
    finish(queue)
    tidy_daily(queue, 20)
    queue.publish("talk", "still here", parent_id=1)
    tidy_daily(queue, 20)
    assert len(queue.read()) == 3
    tidy_daily(queue, 20)
    assert queue.read() == []


def test_dead_letters_go_with_their_conversation(queue: Queue) -> None:
    queue.publish("work", "")
    for _ in range(5):
        queue.renew(queue.claim("work"), lease_s=0)
    tidy_daily(queue, 32)
    assert queue.exchange.stats()["topics"] == []


def test_a_clock_set_ahead_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path, retention_s=30 * DAY_S)) as queue:
        queue.publish("work", "")
        finish(queue)
        tidy_daily(queue, 1)
        real = time.time()
        monkeypatch.setattr(time, "time", lambda: real + 365 * DAY_S)
        tidy_daily(queue, 1)
        assert len(queue.read()) == 2
    with closing(Queue(path, SteppedClock("another start"), retention_s=30 * DAY_S)) as queue:
        tidy_daily(queue, 1)
        assert len(queue.read()) == 2, "the clock may be wrong when the machine starts"
        tidy_daily(queue, 30)
        assert queue.read() == []


def test_a_long_conversation_is_looked_at_once(queue: Queue) -> None:
    """Not once for each of its messages: who publishes would wait for a minute."""

    def steps(messages: int) -> int:
        while len(queue.read(limit=1000)) < messages:
            queue.publish("work", "", conversation_id="talk")
        taken = 0

        def count() -> bool:
            nonlocal taken
            taken += 1
            return False

        with closing(apsw.Connection(queue.exchange.path)) as db:
            db.execute("DELETE FROM waiting")
            db.set_progress_handler(count, 10)
            assert retention.has_old(db, retention.Old(messages, 0), 0, messages)
        return taken

    few, many = steps(100), steps(400)
    assert many < 6 * few


def test_a_long_conversation_is_removed_in_as_few_statements_as_a_short_one(queue: Queue) -> None:
    """One by one, a hundred thousand messages keep who publishes waiting for seconds."""

    def statements(messages: int) -> int:
        ran = 0

        def count(*_statement: object) -> bool:
            nonlocal ran
            ran += 1
            return True

        conversation = f"of {messages}"
        for number in range(messages):
            queue.publish("work", str(number), conversation_id=conversation)
        with closing(apsw.Connection(queue.exchange.path)) as db:
            db.execute("DELETE FROM waiting")
            last = int(db.execute("SELECT max(id) FROM messages").get)
            db.exec_trace = count
            retention.remove_old(db, retention.Old(last, 0), last - messages, last)
        assert queue.read(conversation_id=conversation) == []
        return ran

    assert statements(50) == statements(5)
