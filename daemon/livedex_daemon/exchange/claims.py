"""The work queue: claim the oldest message that waits, renew the lease, complete it; give lost messages back.

Invariant: a message has at most one live claim, and only its token changes it. A completion and its follow-up are one
transaction. A message whose workers were lost ``max_attempts`` times is in its topic's dead letters.
"""

from __future__ import annotations

import secrets
import time
from typing import Any, Final, Literal, NamedTuple

import apsw

from livedex_daemon.config.settings import ExchangeConfig
from livedex_daemon.exchange.lease_clock import LeaseClock
from livedex_daemon.exchange.messages import Draft, publish_dead, publish_follow_up
from livedex_daemon.exchange.topics import add, topic_id
from livedex_daemon.precious.precious_database import first_row, rows
from livedex_indexing.hits.answer_json import rfc3339_of_seconds
from livedex_ipc.errors import Conflict
from livedex_ipc.exchange_results import ClaimFields, ClaimState, CompleteResult

Outcome = Literal["completed", "failed", "timed_out"]
MOST_REAPED: Final = 500  # expired claims of one transaction: the next ones are for the next transaction

_COLUMNS: Final = (
    "id, message_id, worker_group, worker_instance_id, claimed_at, lease_until, status, completed_at, attempt"
)
_EXPIRED: Final = "status = 'active' AND (boot_id <> ? OR lease_ends_ns <= ?)"
_INSERT: Final = (
    "INSERT INTO claims (message_id, topic_id, worker_group, worker_instance_id, claimed_at, lease_until, boot_id,"
    " lease_ends_ns, status, attempt, token) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'active', ?, ?)"
)


class Worker(NamedTuple):
    """Who claims; both are labels."""

    group: str | None
    instance_id: str | None


def can_claim(db: apsw.Connection, topic: str, clock: LeaseClock) -> bool:
    """Whether a message of the topic waits, or its claim has expired. Only reads."""
    number = topic_id(db, topic)
    if number is None:
        return False
    expired = f"SELECT 1 FROM claims WHERE topic_id = ? AND {_EXPIRED}"
    waiting = "SELECT 1 FROM waiting WHERE topic_id = ?"
    values = (number, number, clock.boot_id, clock.now_ns())
    return first_row(db, f"SELECT 1 WHERE EXISTS ({waiting}) OR EXISTS ({expired})", values) is not None


def next_expiry_s(db: apsw.Connection, topic: str, clock: LeaseClock) -> float | None:
    """Return in how many seconds the next lease in the topic ends; None if no message of it is claimed."""
    sql = "SELECT min(lease_ends_ns) FROM claims WHERE topic_id = ? AND status = 'active' AND boot_id = ?"
    found = db.execute(sql, (topic_id(db, topic), clock.boot_id)).get
    return None if found is None else max(0.0, (found - clock.now_ns()) / 1e9)


def has_expired(db: apsw.Connection, clock: LeaseClock) -> bool:
    """Whether a claim of any topic has expired and is still active. Only reads."""
    sql = f"SELECT 1 FROM claims INDEXED BY claims_active WHERE {_EXPIRED} LIMIT 1"
    return first_row(db, sql, (clock.boot_id, clock.now_ns())) is not None


def reap(db: apsw.Connection, clock: LeaseClock, limits: ExchangeConfig) -> None:
    """Set expired claims to ``timed_out``: their messages wait again, or become dead letters."""
    expired = rows(
        db,
        f"SELECT id, message_id, topic_id, attempt FROM claims INDEXED BY claims_active WHERE {_EXPIRED}"
        f" ORDER BY message_id LIMIT {MOST_REAPED}",
        (clock.boot_id, clock.now_ns()),
    )
    for claim_id, message_id, topic, attempt in expired:
        db.execute("UPDATE claims SET status = 'timed_out' WHERE id = ?", (claim_id,))
        if attempt < limits.max_attempts:
            db.execute("INSERT INTO waiting VALUES (?, ?)", (topic, message_id))
            add(db, topic, active=-1, waiting=1)
        else:
            publish_dead(db, message_id, attempt, "each of its workers was lost, or gave it back")
            add(db, topic, active=-1, dead=1)
            finish_tracked(db, message_id)


def claim(
    db: apsw.Connection, topic: str, worker: Worker, lease_s: float, clock: LeaseClock
) -> tuple[ClaimFields, int] | None:
    """Claim the oldest message that waits; the claim and the message's id, None if none waits. Call ``reap`` first."""
    number = topic_id(db, topic)
    row = first_row(db, "SELECT message_id FROM waiting WHERE topic_id = ? ORDER BY message_id LIMIT 1", (number,))
    if row is None or number is None:
        return None
    message_id = int(row[0])
    attempt = 1 + int(db.execute("SELECT count(*) FROM claims WHERE message_id = ?", (message_id,)).get)
    now = time.time()
    lease_ends_ns = clock.now_ns() + int(lease_s * 1e9)
    values = (message_id, number, worker.group, worker.instance_id, now, now + lease_s)
    db.execute("DELETE FROM waiting WHERE topic_id = ? AND message_id = ?", (number, message_id))
    db.execute(_INSERT, (*values, clock.boot_id, lease_ends_ns, attempt, secrets.token_hex(16)))
    claim_id = db.last_insert_rowid()
    add(db, number, waiting=-1, active=1)
    row = first_row(db, f"SELECT {_COLUMNS}, token FROM claims WHERE id = ?", (claim_id,))
    return {**_state(row[:-1]), "token": row[-1]}, message_id


def renew(db: apsw.Connection, claim_id: int, token: str, lease_s: float, clock: LeaseClock) -> str:
    """Begin a live claim's lease again and return its end. 0 seconds give the message back. Raises Conflict."""
    _live(db, claim_id, token, clock)
    until = time.time() + lease_s
    values = (clock.now_ns() + int(lease_s * 1e9), until, claim_id)
    db.execute("UPDATE claims SET lease_ends_ns = ?, lease_until = ? WHERE id = ?", values)
    return rfc3339_of_seconds(until)


def withdraw(db: apsw.Connection, claim_id: int, token: str, clock: LeaseClock) -> None:
    """Undo a live claim, as if it had never been: it is no attempt. Raises Conflict."""
    message_id, topic = _live(db, claim_id, token, clock)
    db.execute("DELETE FROM claims WHERE id = ?", (claim_id,))
    db.execute("INSERT INTO waiting VALUES (?, ?)", (topic, message_id))
    add(db, topic, active=-1, waiting=1)


class Completion(NamedTuple):
    claim_id: int
    token: str
    status: Outcome
    follow_up: Draft | None  # without its parent, which is the claimed message


def complete(db: apsw.Connection, completion: Completion, clock: LeaseClock, limits: ExchangeConfig) -> CompleteResult:
    """End a live claim, with its follow-up. The same call again gets the same answer.

    Raises Conflict if the claim is no longer the caller's or was completed otherwise, and InvalidParams for the
    follow-up.
    """
    claim_id, token, status, draft = completion
    done = first_row(
        db,
        "SELECT status, follow_up_id FROM claims WHERE id = ? AND token = ? AND completed_at IS NOT NULL",
        (claim_id, token),
    )
    if done is not None:
        if done[0] != status:
            raise Conflict(f"the claim {claim_id} was already completed as {done[0]}", {"status": done[0]})
        return {"status": done[0], "message_id": done[1]}
    message_id, topic = _live(db, claim_id, token, clock)
    follow_up = None
    if draft is not None:
        follow_up = publish_follow_up(db, draft._replace(parent_id=message_id), limits)
    sql = "UPDATE claims SET status = ?, completed_at = ?, follow_up_id = ? WHERE id = ?"
    db.execute(sql, (status, time.time(), follow_up, claim_id))
    add(db, topic, active=-1)
    finish_tracked(db, message_id)
    return {"status": status, "message_id": follow_up}


def _live(db: apsw.Connection, claim_id: int, token: str, clock: LeaseClock) -> tuple[int, int]:
    """Return message and topic of a live claim. Raises Conflict."""
    sql = (
        f"SELECT message_id, topic_id FROM claims WHERE id = ? AND token = ? AND status = 'active' AND NOT ({_EXPIRED})"
    )
    row = first_row(db, sql, (claim_id, token, clock.boot_id, clock.now_ns()))
    if row is None:
        raise Conflict(f"the claim {claim_id} is no longer yours: its lease ran out, or the token is wrong")
    return row[0], row[1]


def finish_tracked(db: apsw.Connection, message_id: int) -> None:
    """Let ``notify`` report the conversation that begins with this message, if it is tracked."""
    db.execute("UPDATE tracked SET is_finished = 1 WHERE message_id = ?", (message_id,))


State = Literal["pending", "claimed", "completed", "failed", "timed_out", "dead"]


def state_of(db: apsw.Connection, message_id: int, clock: LeaseClock) -> State:
    """Return what became of a message. Call ``reap`` first."""
    if first_row(db, "SELECT 1 FROM waiting w JOIN messages m ON m.id = ?1 WHERE w.topic_id = m.topic_id"
                     " AND w.message_id = ?1", (message_id,)):  # fmt: skip
        return "pending"
    sql = f"SELECT status, completed_at, {_EXPIRED} FROM claims WHERE message_id = ? ORDER BY id DESC LIMIT 1"
    status, completed_at, is_expired = first_row(db, sql, (clock.boot_id, clock.now_ns(), message_id))
    if status == "active":
        return "pending" if is_expired else "claimed"
    state: State = "dead" if completed_at is None else status
    return state


def claims_of(db: apsw.Connection, message_ids: list[int], limit: int) -> list[ClaimState]:
    """Return the claims of messages, in the order of the claims, without their tokens."""
    marks = ",".join("?" * len(message_ids))
    sql = f"SELECT {_COLUMNS} FROM claims WHERE message_id IN ({marks}) ORDER BY id LIMIT ?"
    return [_state(row) for row in rows(db, sql, (*message_ids, limit))]


def _state(row: tuple[Any, ...]) -> ClaimState:
    number, message_id, group, instance_id, claimed_at, lease_until, status, completed_at, attempt = row
    return {
        "id": number,
        "message_id": message_id,
        "worker_group": group,
        "worker_instance_id": instance_id,
        "claimed_at": rfc3339_of_seconds(claimed_at),
        "lease_until": rfc3339_of_seconds(lease_until),
        "status": status,
        "completed_at": None if completed_at is None else rfc3339_of_seconds(completed_at),
        "attempt": attempt,
    }
