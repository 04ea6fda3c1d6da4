"""Removes finished conversations after the time that the configuration says, in small steps.

Invariant: what is removed has been there for that long by time that passed: a wall clock that is set ahead removes
nothing. A conversation is removed as a whole, and only when its first message is finished and none is claimed.
"""

from __future__ import annotations

import time
from typing import Any, Final

import apsw

from livedex_daemon.exchange.exchange_database import first_row, rows
from livedex_daemon.exchange.lease_clock import LeaseClock
from livedex_daemon.exchange.topics import add

MARK_EVERY_S: Final = 3_600.0
STEP: Final = 100  # conversations of one transaction
MOST_OFF_S: Final = 86_400.0  # a machine that was off counts as off for no longer: its clock may be wrong at the start

_ROW: Final = "SELECT passed_s, last_message_id, last_claim_id, boot_id, boot_ns, wall_s FROM ages"
_MARK: Final = (
    "INSERT INTO ages SELECT ?, (SELECT coalesce(max(id), 0) FROM messages),"
    " (SELECT coalesce(max(id), 0) FROM claims), ?, ?, ?"
)
# Conversations by their first message, up to an id: no younger message, no younger or live claim, nothing unfinished.
_OLD: Final = """
SELECT m.id, m.conversation_id FROM messages m
WHERE m.id > ?1 AND m.id <= ?2 AND m.parent_id IS NULL
  AND NOT EXISTS (SELECT 1 FROM waiting w WHERE w.topic_id = m.topic_id AND w.message_id = m.id)
  AND NOT EXISTS (SELECT 1 FROM messages o WHERE o.conversation_id = m.conversation_id AND o.id > ?2)
  AND NOT EXISTS (SELECT 1 FROM messages o JOIN claims c ON c.message_id = o.id
                  WHERE o.conversation_id = m.conversation_id AND (c.id > ?3 OR c.status = 'active'))
ORDER BY m.id LIMIT ?4
"""


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


def mark(db: apsw.Connection, clock: LeaseClock, retention_s: float) -> tuple[int, int] | None:
    """Note how far the log has come. Return the last message and claim that are old; None if none is."""
    newest = first_row(db, f"{_ROW} ORDER BY rowid DESC LIMIT 1")
    now = 0.0 if newest is None else passed_s(newest, clock)
    db.execute(_MARK, (now, clock.boot_id, clock.now_ns(), time.time()))
    old = first_row(db, f"{_ROW} WHERE passed_s <= ? ORDER BY passed_s DESC LIMIT 1", (now - retention_s,))
    if old is None:
        return None
    db.execute("DELETE FROM ages WHERE passed_s < ?", (old[0],))
    return old[1], old[2]


def remove_old(db: apsw.Connection, last_message_id: int, last_claim_id: int, after: int) -> int | None:
    """Remove finished conversations that begin after the message ``after`` and are old.

    Return the id to go on from, None when all were looked at.
    """
    found = rows(db, _OLD, (after, last_message_id, last_claim_id, STEP))
    for _first, conversation_id in found:
        _remove(db, conversation_id)
    return found[-1][0] if len(found) == STEP else None


def _remove(db: apsw.Connection, conversation_id: str) -> None:
    for number, topic in rows(db, "SELECT id, topic_id FROM messages WHERE conversation_id = ?", (conversation_id,)):
        db.execute("DELETE FROM waiting WHERE topic_id = ? AND message_id = ?", (topic, number))
        was_waiting = db.changes()
        is_dead = _is_dead(db, number, bool(was_waiting))
        add(db, topic, messages=-1, waiting=-was_waiting, dead=-int(is_dead))
        db.execute("DELETE FROM claims WHERE message_id = ?", (number,))
        db.execute("DELETE FROM tracked WHERE message_id = ?", (number,))
        db.execute("DELETE FROM messages WHERE id = ?", (number,))


def _is_dead(db: apsw.Connection, message_id: int, was_waiting: bool) -> bool:
    sql = "SELECT completed_at FROM claims WHERE message_id = ? ORDER BY id DESC LIMIT 1"
    last = first_row(db, sql, (message_id,))
    return not was_waiting and last is not None and last[0] is None
