"""Checks every promise of the exchange after any history, on its tables and on what was acknowledged.

Invariant: the file is read with its own SQL, not with the code that wrote it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw

SAME_S = 0.005  # two processes read the wall clock


class Log:
    """The tables of an exchange, read once."""

    def __init__(self, path: Path) -> None:
        with closing(apsw.Connection(str(path))) as db:
            assert list(db.execute("PRAGMA integrity_check")) == [("ok",)]
            self.topics = {row[0]: row[1:] for row in db.execute("SELECT * FROM topics")}
            columns = "id, topic_id, body, parent_id, idempotency_key"
            self.messages = {row[0]: row for row in db.execute(f"SELECT {columns} FROM messages ORDER BY id")}
            self.waiting = {row[1]: row[0] for row in db.execute("SELECT * FROM waiting")}
            columns = "id, message_id, claimed_at, lease_until, status, completed_at, attempt, token, follow_up_id"
            self.claims: dict[int, list[Any]] = defaultdict(list)
            for row in db.execute(f"SELECT {columns} FROM claims ORDER BY id"):
                self.claims[row[1]].append(row)

    def name(self, message_id: int) -> str:
        return str(self.topics[self.messages[message_id][1]][0])

    def of_topics(self, names: Iterable[str]) -> list[int]:
        wanted = set(names)
        return [number for number in self.messages if self.name(number) in wanted]


def check_counts(log: Log) -> None:
    """`stats` agrees with the tables."""
    dead = Counter(
        log.messages[message[3]][1] for number, message in log.messages.items() if _is_dead_letter(log, number)
    )
    active = Counter(log.messages[number][1] for number, claims in log.claims.items() if claims[-1][4] == "active")
    for topic, (_name, *counts) in log.topics.items():
        messages = sum(message[1] == topic for message in log.messages.values())
        waiting = sum(where == topic for where in log.waiting.values())
        assert counts == [messages, waiting, active[topic], dead[topic]], log.topics[topic]


def _is_dead_letter(log: Log, number: int) -> bool:
    return log.name(number).endswith(".dead")


def check_leases(log: Log) -> None:
    """A message never has two valid leases at once, and its attempts have no gap."""
    for claims in log.claims.values():
        assert [claim[6] for claim in claims] == list(range(1, len(claims) + 1))
        for earlier, later in pairwise(claims):
            assert (earlier[4], earlier[5]) == ("timed_out", None)
            assert later[2] >= earlier[3] - SAME_S, (earlier, later)


def check_order(log: Log) -> None:
    """The first claims of a topic's messages are in the order of its log."""
    firsts = sorted((claims[0][0], number) for number, claims in log.claims.items())
    by_topic = defaultdict(list)
    for _claim, number in firsts:
        by_topic[log.messages[number][1]].append(number)
    for numbers in by_topic.values():
        assert numbers == sorted(numbers)


def check_outcomes(log: Log, topics: Iterable[str]) -> Counter[str]:
    """Each message of the topics was completed once, by a token, or has a dead letter. Return the number of each."""
    letters = Counter(message[3] for number, message in log.messages.items() if _is_dead_letter(log, number))
    follow_ups = {message[3]: message for number, message in log.messages.items() if log.name(number) == "done"}
    found: Counter[str] = Counter()
    for number in log.of_topics(topics):
        done = [claim for claim in log.claims[number] if claim[5] is not None]
        assert len(done) + letters[number] == 1, (number, log.claims[number], letters[number])
        if done:
            assert log.claims[number][-1] == done[0], "no claim after the one that completed it"
            assert follow_ups[number][2] == f"{number} {done[0][7]}"
            assert follow_ups[number][0] == done[0][8]
        found["completed" if done else "dead"] += 1
    assert len(follow_ups) == sum(log.name(number) == "done" for number in log.messages)
    return found


def check_acknowledged(log: Log, notes: Iterable[dict[str, Any]]) -> None:
    """Every acknowledged message is there, and each key once."""
    keys = Counter((message[1], message[4]) for message in log.messages.values() if message[4] is not None)
    assert not [key for key, times in keys.items() if times > 1]
    for note in notes:
        if "published" in note:
            assert log.messages[note["published"]][4] == f"k{note['key']}", note
        else:
            assert [claim[7] for claim in log.claims[note["completed"]] if claim[5] is not None] == [note["token"]], (
                note
            )
