"""Claims: one winner, leases by a monotonic clock, tokens that fence off late workers, dead letters."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from helpers.exchange_file import Claimed, Queue, SteppedClock
from livedex_ipc.errors import Conflict, InvalidParams


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "exchange.db")) as opened:
        yield opened


def test_the_oldest_comes_first_and_each_once(queue: Queue) -> None:
    ids = [queue.publish("work", f"body {number}")["id"] for number in range(5)]
    claimed = [queue.claim("work") for _ in range(5)]
    assert [each.message["id"] for each in claimed] == ids == sorted(ids)
    assert queue.try_claim("work") is None
    assert queue.try_claim("other") is None


def test_of_many_workers_one_wins(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path)) as queue:
        ids = [queue.publish("work", "")["id"] for _ in range(40)]

    def work(_number: int) -> list[int]:
        found: list[int] = []
        with closing(Queue(path)) as own:
            while len(found) <= 40 and (claimed := own.try_claim("work")) is not None:
                found.append(claimed.message["id"])
        return found

    with ThreadPoolExecutor(8) as threads:
        won = [number for numbers in threads.map(work, range(8)) for number in numbers]
    assert sorted(won) == ids


def test_an_expired_claim_is_claimed_again_and_counted(queue: Queue) -> None:
    queue.publish("work", "body")
    first = queue.claim("work", lease_s=60)
    queue.clock.pass_s(59.9)
    assert queue.try_claim("work") is None
    queue.clock.pass_s(0.2)
    second = queue.claim("work", lease_s=60)
    assert (first.claim["attempt"], second.claim["attempt"]) == (1, 2)
    assert second.message == first.message
    states = [claim["status"] for claim in queue.inspect(id=first.message["id"])["claims"]]
    assert states == ["timed_out", "active"]


def test_a_late_worker_is_refused(queue: Queue) -> None:
    queue.publish("work", "body")
    late = queue.claim("work", lease_s=10)
    queue.clock.pass_s(10)
    for change in (queue.complete, queue.renew):
        with pytest.raises(Conflict):
            change(late)
    winner = queue.claim("work")
    for change in (queue.complete, queue.renew):
        with pytest.raises(Conflict):
            change(late)
    assert queue.complete(winner, follow_up={"topic": "done", "body": "of the winner"})["message_id"] is not None
    assert [message["body"] for message in queue.read("done")] == ["of the winner"]


def test_another_token_is_refused(queue: Queue) -> None:
    queue.publish("work", "body")
    claimed = queue.claim("work")
    forged = Claimed({**claimed.claim, "token": "0" * 32}, claimed.message)
    for action in (queue.complete, queue.renew):
        with pytest.raises(Conflict):
            action(forged)
    assert queue.complete(claimed)["status"] == "completed"


def test_only_the_worker_gets_the_token(queue: Queue) -> None:
    queue.publish("work", "body")
    token = queue.claim("work").claim["token"]
    for shown in (queue.inspect(), queue.inspect(id=1), queue.inspect(conversation_id="1")):
        assert shown["claims"][0]["status"] == "active"
        assert token not in str(shown)


def test_a_renewed_lease_goes_on(queue: Queue) -> None:
    queue.publish("work", "body")
    claimed = queue.claim("work", lease_s=10)
    for _ in range(10):
        queue.clock.pass_s(9)
        queue.renew(claimed, lease_s=10)
    assert queue.complete(claimed)["status"] == "completed"


def test_a_wall_clock_that_jumps_ends_no_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Queue(tmp_path / "exchange.db", real=True)) as queue:
        queue.publish("work", "body")
        claimed = queue.claim("work", lease_s=3600)
        real = time.time()
        for jump in (365 * 86_400.0, -365 * 86_400.0):
            with monkeypatch.context() as patch:
                patch.setattr(time, "time", lambda jump=jump: real + jump)
                assert queue.try_claim("work") is None
                queue.renew(claimed, lease_s=3600)
        assert queue.complete(claimed)["status"] == "completed"


def test_a_lease_of_an_earlier_start_of_the_machine_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "exchange.db"
    with closing(Queue(path, SteppedClock("before", now_s=1_000_000.0))) as queue:
        queue.publish("work", "body")
        late = queue.claim("work", lease_s=60)
    with closing(Queue(path, SteppedClock("after", now_s=1.0))) as queue:
        assert queue.claim("work").claim["attempt"] == 2
        with pytest.raises(Conflict):
            queue.complete(late)


def test_a_completion_is_repeated_alike_and_not_otherwise(queue: Queue) -> None:
    queue.publish("work", "body")
    claimed = queue.claim("work")
    follow_up = {"topic": "done", "body": "result", "metadata": {"a": [1]}}
    first = queue.complete(claimed, follow_up=follow_up)
    assert queue.complete(claimed, follow_up=follow_up) == first
    with pytest.raises(Conflict):
        queue.complete(claimed, status="failed")
    (message,) = queue.read("done")
    assert (message["id"], message["metadata"]) == (first["message_id"], {"a": [1]})
    assert (message["parent_id"], message["conversation_id"]) == (claimed.message["id"], "1")


def test_a_refused_follow_up_completes_nothing(queue: Queue) -> None:
    queue.publish("work", "body")
    claimed = queue.claim("work")
    with pytest.raises(InvalidParams) as caught:
        queue.complete(claimed, follow_up={"topic": "no topic", "body": ""})
    assert caught.value.data == {"field": "follow_up.topic"}
    assert queue.check("1")["state"] == "claimed"
    assert queue.complete(claimed)["status"] == "completed"


def test_a_message_that_loses_its_workers_is_a_dead_letter(queue: Queue) -> None:
    queue.publish("work", "poison")
    after = queue.publish("work", "harmless")["id"]
    for attempt in range(1, 6):
        claimed = queue.claim("work", lease_s=1)
        assert (claimed.message["id"], claimed.claim["attempt"]) == (1, attempt)
        queue.clock.pass_s(1)
    assert queue.claim("work").message["id"] == after
    (dead,) = queue.read("work.dead")
    assert (dead["body"], dead["parent_id"], dead["conversation_id"]) == ("poison", 1, "1")
    assert dead["metadata"] == {"attempts": 5, "reason": "each of its workers was lost, or gave it back"}
    assert queue.check("1")["state"] == "dead"
    assert queue.stats("work") == {"topic": "work", "messages": 2, "waiting": 0, "active": 1, "dead": 1}


def test_zero_seconds_give_a_message_back(queue: Queue) -> None:
    queue.publish("work", "body")
    queue.renew(queue.claim("work"), lease_s=0)
    assert queue.claim("work").claim["attempt"] == 2


def test_what_is_given_back_keeps_its_place(queue: Queue) -> None:
    for _ in range(3):
        queue.publish("work", "body")
    first = queue.claim("work")
    queue.claim("work")
    queue.renew(first, lease_s=0)
    assert [queue.claim("work").message["id"] for _ in range(2)] == [1, 3]
