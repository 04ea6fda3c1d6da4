"""Removes finished conversations after the time that the configuration says, in small steps.

Invariant: what is removed has been there for that long by time that passed: a wall clock that is set ahead removes
nothing. A conversation is removed as a whole, and only when none of its messages is claimed, or waits without a parent.
"""

from __future__ import annotations

import time
from typing import Any, Final, NamedTuple

import apsw

from livedex_daemon.exchange.lease_clock import LeaseClock
from livedex_daemon.exchange.topics import add
from livedex_daemon.precious.precious_database import first_row, rows

MARK_EVERY_S: Final = 3_600.0
STEP: Final = 500  # messages that one transaction looks at
MOST_OFF_S: Final = 86_400.0  # a machine that was off counts as off for no longer: its clock may be wrong at the start

_ROW: Final = "SELECT passed_s, last_message_id, last_claim_id, boot_id, boot_ns, wall_s FROM ages"
_MARK: Final = (
    "INSERT INTO ages SELECT ?, (SELECT coalesce(max(id), 0) FROM messages),"
    " (SELECT coalesce(max(id), 0) FROM claims), ?, ?, ?"
)
_STEP_END: Final = "SELECT max(id) FROM (SELECT id FROM messages WHERE id > ? AND id <= ? ORDER BY id LIMIT ?)"
# Conversations that begin in a range of ids: no younger message, no younger or live claim, and only follow-ups wait.
# Each is asked about at its first message alone: it may have a hundred thousand others.
_OLD: Final = """
SELECT m.conversation_id FROM messages m
WHERE m.id > ?1 AND m.id <= ?2
  AND NOT EXISTS (SELECT 1 FROM messages o WHERE o.conversation_id = m.conversation_id AND o.id < m.id)
  AND NOT EXISTS (SELECT 1 FROM messages o WHERE o.conversation_id = m.conversation_id AND o.id > ?3)
  AND NOT EXISTS (SELECT 1 FROM messages o JOIN waiting w ON w.topic_id = o.topic_id AND w.message_id = o.id
                  WHERE o.conversation_id = m.conversation_id AND o.parent_id IS NULL)
  AND NOT EXISTS (SELECT 1 FROM messages o JOIN claims c ON c.message_id = o.id
                  WHERE o.conversation_id = m.conversation_id AND (c.id > ?4 OR c.status = 'active'))
"""
# What a conversation adds to the counts of its topics. A message whose last claim was not completed is dead.
_COUNTS: Final = """
SELECT topic_id, count(*), sum(waits), sum(NOT waits AND unfinished) FROM (
  SELECT m.topic_id,
    EXISTS (SELECT 1 FROM waiting w WHERE w.topic_id = m.topic_id AND w.message_id = m.id) AS waits,
    ifnull((SELECT c.completed_at IS NULL FROM claims c WHERE c.message_id = m.id ORDER BY c.id DESC LIMIT 1), 0)
      AS unfinished
  FROM messages m WHERE m.conversation_id = ?
) GROUP BY topic_id
"""
# For all messages at once: one by one, a hundred thousand of them keep everybody waiting for seconds.
_REMOVE: Final = (
    "DELETE FROM waiting WHERE (topic_id, message_id) IN (SELECT topic_id, id FROM messages WHERE conversation_id = ?)",
    "DELETE FROM claims WHERE message_id IN (SELECT id FROM messages WHERE conversation_id = ?)",
    "DELETE FROM tracked WHERE message_id IN (SELECT id FROM messages WHERE conversation_id = ?)",
    "DELETE FROM messages WHERE conversation_id = ?",
)


class Old(NamedTuple):
    """The last message and the last claim that are old."""

    message_id: int
    claim_id: int


def passed_s(row: tuple[Any, ...], clock: LeaseClock) -> float:
    """Return the present time on the scale of ``ages``, seen from its newest row."""
    passed, _message, _claim, boot_id, boot_ns, wall_s = row
    if boot_id == clock.boot_id:
        return float(passed + max(0.0, (clock.now_ns() - boot_ns) / 1e9))
    return float(passed + min(max(0.0, time.time() - wall_s), MOST_OFF_S))


def is_due(db: apsw.Connection, clock: LeaseClock) -> bool:
    """Whether ``mark`` and ``remove_old`` should run. Only reads."""
    newest = first_row(db, f"{_ROW} ORDER BY rowid DESC LIMIT 1")
    return newest is None or newest[3] != clock.boot_id or passed_s(newest, clock) - newest[0] >= MARK_EVERY_S


def mark(db: apsw.Connection, clock: LeaseClock, retention_s: float) -> Old | None:
    """Note how far the log has come. Return what is old; None if nothing is."""
    newest = first_row(db, f"{_ROW} ORDER BY rowid DESC LIMIT 1")
    now = 0.0 if newest is None else passed_s(newest, clock)
    db.execute(_MARK, (now, clock.boot_id, clock.now_ns(), time.time()))
    old = first_row(db, f"{_ROW} WHERE passed_s <= ? ORDER BY passed_s DESC LIMIT 1", (now - retention_s,))
    if old is None:
        return None
    db.execute("DELETE FROM ages WHERE passed_s < ?", (old[0],))
    return Old(old[1], old[2])


def step_end(db: apsw.Connection, old: Old, after: int) -> int | None:
    """Return the last message of the step that begins after the message ``after``; None if there is no further one."""
    found: int | None = db.execute(_STEP_END, (after, old.message_id, STEP)).get
    return found


def has_old(db: apsw.Connection, old: Old, after: int, end: int) -> bool:
    """Whether a conversation that begins in a step is to be removed. Only reads."""
    return bool(_conversations(db, old, after, end))


def remove_old(db: apsw.Connection, old: Old, after: int, end: int) -> None:
    """Remove the finished conversations that begin in a step and are old."""
    for conversation_id in _conversations(db, old, after, end):
        _remove(db, conversation_id)


def _conversations(db: apsw.Connection, old: Old, after: int, end: int) -> list[str]:
    return [conversation for (conversation,) in rows(db, _OLD, (after, end, old.message_id, old.claim_id))]


def _remove(db: apsw.Connection, conversation_id: str) -> None:
    for topic, count, waiting, dead in rows(db, _COUNTS, (conversation_id,)):
        add(db, topic, messages=-count, waiting=-waiting, dead=-dead)
    for sql in _REMOVE:
        db.execute(sql, (conversation_id,))
